import bindings, { type DataChunk, type Vector } from '@duckdb/node-bindings';
import {
  DuckDBArrayType,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalType,
  DuckDBDecimalValue,
  DuckDBEnumType,
  DuckDBListType,
  DuckDBListValue,
  DuckDBArrayValue,
  DuckDBMapType,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTypeId,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import { TableError } from './errors.js';

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

/** Lists of a chunk: row i's are `values[starts[i] … ends[i])`; a null among them is NaN. */
export interface Lists {
  readonly values: Float32Array | Float64Array;
  readonly starts: Int32Array;
  /** Equals the start if the row has no list. */
  readonly ends: Int32Array;
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

function itemsOf(vector: Vector, isFloat: boolean): Lists['values'] {
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

/** The bytes of texts, by row; undefined for null. */
export function textsOf(vector: Vector, rows: number): (row: number) => Uint8Array | undefined {
  const { buffer, byteOffset } = bindings.vector_get_data(vector, rows * TEXT_BYTES);
  const heads = new DataView(buffer, byteOffset, rows * TEXT_BYTES);
  const isNull = isNullIn(validityOf(vector, rows));
  return (row) => {
    if (isNull(row)) return undefined;
    const at = row * TEXT_BYTES;
    const length = heads.getUint32(at, true);
    if (length <= INLINE_MAX) return new Uint8Array(buffer, byteOffset + at + 4, length);
    return bindings.get_data_from_pointer(buffer as ArrayBuffer, byteOffset + at + 8, length);
  };
}

/** Copies a column of any type, with its nulls. @throws TableError for a type that the engine does not lay out so */
export function copyVector(from: Vector, to: Vector, type: DuckDBType, rows: number): void {
  const validity = validityOf(from, rows);
  if (validity !== undefined) {
    bindings.vector_ensure_validity_writable(to);
    copyBytes(validity, (...bytes) => bindings.copy_data_to_vector_validity(to, ...bytes));
  }
  if (type instanceof DuckDBListType || type instanceof DuckDBMapType) {
    const size = bindings.list_vector_get_size(from);
    bindings.list_vector_reserve(to, size);
    bindings.list_vector_set_size(to, size);
    copyPlain(from, to, rows * LIST_ENTRY_BYTES);
    const inner =
      type instanceof DuckDBListType
        ? type.valueType
        : new DuckDBStructType(['key', 'value'], [type.keyType, type.valueType]);
    copyVector(bindings.list_vector_get_child(from), bindings.list_vector_get_child(to), inner, size);
  } else if (type instanceof DuckDBArrayType) {
    const [inner, size] = [type.valueType, rows * type.length];
    copyVector(bindings.array_vector_get_child(from), bindings.array_vector_get_child(to), inner, size);
  } else if (type instanceof DuckDBStructType) {
    for (const [index, inner] of type.entryTypes.entries()) {
      const [source, target] = [from, to].map((vector) => bindings.struct_vector_get_child(vector, index));
      if (source !== undefined && target !== undefined) copyVector(source, target, inner, rows);
    }
  } else if (TEXTS.has(type.typeId)) copyTexts(from, to, rows);
  else copyPlain(from, to, rows * widthOf(type));
}

type CopiedBytes = [targetOffset: number, source: ArrayBuffer, sourceOffset: number, count: number];

function copyBytes(bytes: Uint8Array, copy: (...bytes: CopiedBytes) => void): void {
  if (bytes.byteLength > 0) copy(0, bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
}

function copyPlain(from: Vector, to: Vector, length: number): void {
  const bytes = bindings.vector_get_data(from, length);
  copyBytes(bytes, (...copied) => bindings.copy_data_to_vector(to, ...copied));
}

function copyTexts(from: Vector, to: Vector, rows: number): void {
  const at = textsOf(from, rows);
  for (let row = 0; row < rows; row++) {
    const text = at(row);
    if (text !== undefined) bindings.vector_assign_string_element_len(to, row, text);
  }
}

const { BLOB, BIT, GEOMETRY, BIGNUM, VARCHAR } = DuckDBTypeId;
const TEXTS: ReadonlySet<DuckDBTypeId> = new Set([VARCHAR, BLOB, BIT, BIGNUM, GEOMETRY]);

const WIDTHS: Readonly<Record<number, readonly (keyof typeof DuckDBTypeId)[]>> = {
  1: ['BOOLEAN', 'TINYINT', 'UTINYINT'],
  2: ['SMALLINT', 'USMALLINT'],
  4: ['INTEGER', 'UINTEGER', 'FLOAT', 'DATE', 'SQLNULL'],
  8: ['BIGINT', 'UBIGINT', 'DOUBLE', 'TIME', 'TIME_NS', 'TIME_TZ', 'TIMESTAMP', 'TIMESTAMP_S'],
  16: ['HUGEINT', 'UHUGEINT', 'UUID', 'INTERVAL'],
};
const WIDTH = new Map<DuckDBTypeId, number>([
  ...Object.entries(WIDTHS).flatMap(([width, names]) =>
    names.map((name) => [DuckDBTypeId[name], Number(width)] as const),
  ),
  ...(['TIMESTAMP_MS', 'TIMESTAMP_NS', 'TIMESTAMP_TZ'] as const).map(
    (name) => [DuckDBTypeId[name], 8] as const,
  ),
]);

/** Digits of a decimal that fit 2, 4 and 8 bytes. */
const DECIMAL_WIDTHS = [
  [4, 2],
  [9, 4],
  [18, 8],
] as const;

function widthOf(type: DuckDBType): number {
  if (type instanceof DuckDBDecimalType)
    return DECIMAL_WIDTHS.find(([digits]) => type.width <= digits)?.[1] ?? 16;
  const known = type instanceof DuckDBEnumType ? codeWidth(type.values.length) : WIDTH.get(type.typeId);
  if (known === undefined)
    throw new TableError(`a column of the type ${String(type)} can't be kept: CAST it with --sql`);
  return known;
}

/** Bytes of a code of one of `count` values. */
function codeWidth(count: number): number {
  return count <= 1 << 8 ? 1 : count <= 1 << 16 ? 2 : 4;
}

/** A value as JSON: 64-bit integers keep their digits, times are milliseconds since 1970, bytes hexadecimal. */
export function jsonOf(value: DuckDBValue): string {
  if (value === null) return 'null';
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  if (typeof value !== 'object') return JSON.stringify(value);
  const time = millisecondsOf(value);
  if (time !== undefined) return String(time);
  if (value instanceof DuckDBDecimalValue) return String(value.toDouble());
  if (value instanceof DuckDBBlobValue) return JSON.stringify(Buffer.from(value.bytes).toString('hex'));
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue)
    return `[${value.items.map(jsonOf).join(',')}]`;
  if (value instanceof DuckDBStructValue)
    return `{${Object.entries(value.entries)
      .map(([name, inner]) => `${JSON.stringify(name)}:${jsonOf(inner)}`)
      .join(',')}}`;
  return JSON.stringify(String(value));
}

const DAY_MS = 86_400_000;

function millisecondsOf(value: object): number | bigint | undefined {
  if (value instanceof DuckDBDateValue) return value.days * DAY_MS;
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)
    return Number(value.micros) / 1e3;
  if (value instanceof DuckDBTimestampMillisecondsValue) return value.millis;
  if (value instanceof DuckDBTimestampSecondsValue) return value.seconds * 1000n;
  if (value instanceof DuckDBTimestampNanosecondsValue) return Number(value.nanos) / 1e6;
  return undefined;
}
