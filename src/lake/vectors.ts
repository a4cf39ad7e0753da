import bindings, { type DataChunk, type Vector } from '@duckdb/node-bindings';
import type { Lists } from './tableColumns.js';

/** The engine's columns in memory. A chunk, and every view of it, is valid until the next one is fetched. */

export function columnOf(chunk: { readonly chunk: DataChunk }, index: number): Vector {
  return bindings.data_chunk_get_vector(chunk.chunk, index);
}

const LIST_ENTRY_BYTES = 16;
/** A text's length, then its bytes if there are at most twelve, else their address. */
const TEXT_BYTES = 16;
const INLINE_MAX = 12;

/** One bit for each row, 0 for null; undefined if there is no null. */
export function validityOf(vector: Vector, rows: number): Uint8Array | undefined {
  return (bindings.vector_get_validity(vector, Math.ceil(rows / 64) * 8) as Uint8Array | null) ?? undefined;
}

export function isNullIn(validity: Uint8Array | undefined): (row: number) => boolean {
  if (validity === undefined) return () => false;
  return (row) => (((validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 0;
}

export function doublesOf(vector: Vector, rows: number): Float64Array {
  const { buffer, byteOffset } = bindings.vector_get_data(vector, rows * 8);
  return new Float64Array(buffer, byteOffset, rows);
}

export function listsOf(vector: Vector, rows: number, isFloat: boolean): Lists {
  const { buffer, byteOffset } = bindings.vector_get_data(vector, rows * LIST_ENTRY_BYTES);
  // Lengths and places are below 2^32: the low word of each.
  const entries = new Uint32Array(buffer, byteOffset, rows * 4);
  const isNull = isNullIn(validityOf(vector, rows));
  const starts = new Int32Array(rows);
  const ends = new Int32Array(rows);
  let last = 0;
  for (let row = 0; row < rows; row++) {
    if (!isNull(row)) {
      starts[row] = entries[4 * row] ?? 0;
      last = ends[row] = (starts[row] ?? 0) + (entries[4 * row + 2] ?? 0);
    } else starts[row] = ends[row] = last;
  }
  return { values: itemsOf(vector, isFloat), starts, ends };
}

function itemsOf(vector: Vector, isFloat: boolean): Float32Array | Float64Array {
  const size = bindings.list_vector_get_size(vector);
  if (size === 0) return new Float64Array();
  const child = bindings.list_vector_get_child(vector);
  const { buffer, byteOffset } = bindings.vector_get_data(child, size * (isFloat ? 4 : 8));
  const own = isFloat
    ? new Float32Array(buffer, byteOffset, size)
    : new Float64Array(buffer, byteOffset, size);
  const validity = validityOf(child, size);
  if (validity === undefined) return own;
  const isNull = isNullIn(validity);
  const copy = own.slice();
  for (let item = 0; item < size; item++) if (isNull(item)) copy[item] = NaN;
  return copy;
}

/** The bytes of texts as Latin-1, by row; undefined for null. */
export function textsOf(vector: Vector, rows: number): (row: number) => string | undefined {
  const { buffer, byteOffset } = bindings.vector_get_data(vector, rows * TEXT_BYTES);
  const heads = new DataView(buffer, byteOffset, rows * TEXT_BYTES);
  const inline = Buffer.from(buffer, byteOffset, rows * TEXT_BYTES);
  const isNull = isNullIn(validityOf(vector, rows));
  return (row) => {
    if (isNull(row)) return undefined;
    const at = row * TEXT_BYTES;
    const length = heads.getUint32(at, true);
    if (length <= INLINE_MAX) return inline.toString('latin1', at + 4, at + 4 + length);
    const own = bindings.get_data_from_pointer(buffer as ArrayBuffer, byteOffset + at + 8, length);
    return Buffer.from(own.buffer, own.byteOffset, length).toString('latin1');
  };
}
