/** A table of the engine that is filled column by column. */
import { DuckDBDataChunk, type DuckDBAppender } from '@duckdb/node-api';
import bindings, { type Vector } from '@duckdb/node-bindings';

export type HeldType = keyof typeof BYTES;
type Cell = number | string | undefined;

/** Most rows of a chunk. */
const ROWS_MAX = bindings.vector_size();
/** The appender holds rows outside the engine's limit of memory: after so many chunks the table takes them. */
const CHUNKS_HELD = 8;

interface TableOptions {
  readonly types: readonly HeldType[];
  readonly appender: DuckDBAppender;
  /** Words the engine's errors. */
  readonly told: (work: () => void) => Promise<void>;
}

export class EngineTable {
  private readonly chunk: DuckDBDataChunk;
  private chunks = 0;

  constructor(
    readonly name: string,
    private readonly options: TableOptions,
  ) {
    const { types, appender } = options;
    this.chunk = DuckDBDataChunk.create(types.map((_, place) => appender.columnType(place)));
  }

  /** Appends rows: `cellsOf` has the cells of column `place` of some of them. @throws TableError */
  async append(
    rows: readonly number[],
    cellsOf: (place: number, some: readonly number[]) => readonly Cell[],
  ): Promise<void> {
    const { chunk } = this;
    const { types, appender, told } = this.options;
    for (let first = 0; first < rows.length; first += ROWS_MAX) {
      const some = rows.slice(first, first + ROWS_MAX);
      chunk.reset();
      chunk.rowCount = some.length;
      for (const [place, type] of types.entries())
        writeVector(bindings.data_chunk_get_vector(chunk.chunk, place), type, cellsOf(place, some));
      await told(() => {
        appender.appendDataChunk(chunk);
        if (++this.chunks % CHUNKS_HELD === 0) appender.flushSync();
      });
    }
  }

  /** Ends the appending. @throws TableError */
  close(): Promise<void> {
    return this.options.told(() => this.options.appender.closeSync());
  }
}

const TEXT_BYTES = 16;
const BYTES = { DOUBLE: 8, VARCHAR: TEXT_BYTES } as const;
/** A text of at most so many bytes stands in the column itself, after its length. */
const INLINE_MAX = 12;
const memory = new ArrayBuffer(ROWS_MAX * TEXT_BYTES);
const doubles = new Float64Array(memory);
const lengths = new Uint32Array(memory);
const bytes = new Uint8Array(memory);

/** Writes a column of a chunk at once: cell by cell, as the bindings do it, takes three times as long. */
function writeVector(vector: Vector, type: HeldType, cells: readonly Cell[]): void {
  const valid = new Uint8Array(Math.ceil(cells.length / 64) * 8);
  const others = new Map<number, string>();
  let count = 0;
  bytes.fill(0, 0, cells.length * BYTES[type]);
  for (let row = 0; row < cells.length; row++) {
    const cell = cells[row];
    if (cell === undefined) continue;
    count++;
    valid[row >> 3] = (valid[row >> 3] ?? 0) | (1 << (row & 7));
    if (type === 'DOUBLE') doubles[row] = Number(cell);
    else if (!writeInline(row, String(cell))) others.set(row, String(cell));
  }
  bindings.copy_data_to_vector(vector, 0, memory, 0, cells.length * BYTES[type]);
  for (const [row, text] of others) bindings.vector_assign_string_element_len(vector, row, Buffer.from(text));
  if (count === cells.length) return;
  bindings.vector_ensure_validity_writable(vector);
  bindings.copy_data_to_vector_validity(vector, 0, valid.buffer, 0, valid.length);
}

/** Writes a short text of ASCII; false if it is another one. */
function writeInline(row: number, text: string): boolean {
  if (text.length > INLINE_MAX) return false;
  const first = row * TEXT_BYTES;
  lengths[first / 4] = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) return false;
    bytes[first + 4 + at] = code;
  }
  return true;
}
