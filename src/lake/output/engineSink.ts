import { createReadStream, rmSync } from 'node:fs';
import { DuckDBDataChunk } from '@duckdb/node-api';
import bindings, { type Vector } from '@duckdb/node-bindings';
import { told } from '../input/engine.js';
import type { Job } from '../score/job.js';
import {
  scoreColumns,
  type ScoreColumn,
  type ScoreSink,
  type SinkOptions,
  type WriteBytes,
} from './scoreColumns.js';
import { quoted, textOf } from '../input/sql.js';

/** Scores as Parquet or CSV, by a table of the engine. */

const FORMATS = { parquet: 'FORMAT parquet, COMPRESSION zstd', csv: 'FORMAT csv, HEADER' } as const;
/** Most rows of a chunk. */
const ROWS_MAX = bindings.vector_size();
/** The appender holds rows outside the engine's limit of memory: after so many chunks the table takes them. */
const CHUNKS_HELD = 8;
const FILE_CHUNK_BYTES = 1 << 20;
const WHAT = 'the output';

let tables = 0;

/** Collects scored rows in a table, column by column, which is written as a file at the end, and that as bytes. */
export async function openEngineSink(
  write: WriteBytes,
  options: SinkOptions & { readonly format: keyof typeof FORMATS },
): Promise<ScoreSink> {
  const { keep, keptTypes, format, isStream } = options;
  const engine = await options.engine();
  const table = `scores_${tables++}`;
  const columns = [...keep.map(keptColumn), ...scoreColumns(options)];
  // The others are the same in all rows, and no columns of the table.
  const varying = columns.filter(({ always }) => always === undefined);
  const types = varying.map(({ type }, place) => `c${place} ${HELD_AS[type]}`);
  await engine.run(`CREATE TABLE ${table} (${types.join(', ')})`, WHAT);
  const appender = await engine.appender(table);
  const chunk = DuckDBDataChunk.create(varying.map((_, place) => appender.columnType(place)));
  let chunks = 0;
  const append = async (job: Job, rows: readonly number[]): Promise<void> => {
    chunk.reset();
    chunk.rowCount = rows.length;
    for (const [place, { type, at }] of varying.entries())
      writeVector(
        bindings.data_chunk_get_vector(chunk.chunk, place),
        type,
        rows.map((row) => at(job, row)),
      );
    await told(WHAT, () => {
      appender.appendDataChunk(chunk);
      if (++chunks % CHUNKS_HELD === 0) appender.flushSync();
    });
  };
  const selected = columns.map((column, place) => {
    const type = place < keep.length ? (keptTypes?.[place] ?? 'VARCHAR') : column.type;
    const { always } = column;
    const cell = always === undefined ? `c${varying.indexOf(column)}` : textOf(always);
    const value = type === 'LABEL' ? LABEL.replace('cell', cell) : `CAST(${cell} AS ${type})`;
    return `${value} AS ${quoted(column.name)}`;
  });
  return {
    async write(job) {
      const all = Array.from({ length: job.page.rows }, (_, row) => row);
      const rows = isStream ? all : all.filter((row) => !job.problems.has(row));
      for (let first = 0; first < rows.length; first += ROWS_MAX)
        await append(job, rows.slice(first, first + ROWS_MAX));
    },
    async end() {
      await told(WHAT, () => appender.closeSync());
      const path = `${engine.folder}/${table}.${format}`;
      const select = `SELECT ${selected.join(', ')} FROM ${table}`;
      await engine.run(`COPY (${select}) TO ${textOf(path)} (${FORMATS[format]})`, WHAT);
      await engine.run(`DROP TABLE ${table}`, WHAT);
      for await (const bytes of createReadStream(path, { highWaterMark: FILE_CHUNK_BYTES }))
        await write(bytes as Buffer);
      rmSync(path);
    },
  };
}

/** A kept value as text, which the engine casts to its type: numbers keep their digits. */
function keptColumn(name: string): ScoreColumn {
  return {
    name,
    type: 'VARCHAR',
    at({ page }, row) {
      const json = page.kept(name, row);
      if (json === undefined || json === 'null') return undefined;
      if (!json.startsWith('"')) return json;
      return json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1);
    },
  };
}

/** The types of columns in the table. A label is true or false there, for texts cost more. */
const HELD_AS = { BIGINT: 'DOUBLE', DOUBLE: 'DOUBLE', LABEL: 'BOOLEAN', VARCHAR: 'VARCHAR' } as const;
const LABEL = "CASE cell WHEN true THEN 'High' WHEN false THEN 'Low' END";

type Cell = ReturnType<ScoreColumn['at']>;

const TEXT_BYTES = 16;
const BYTES = { BIGINT: 8, DOUBLE: 8, LABEL: 1, VARCHAR: TEXT_BYTES } as const;
/** A text of at most so many bytes stands in the column itself, after its length. */
const INLINE_MAX = 12;
const memory = new ArrayBuffer(ROWS_MAX * TEXT_BYTES);
const doubles = new Float64Array(memory);
const lengths = new Uint32Array(memory);
const bytes = new Uint8Array(memory);

/** Writes a column of a chunk at once: cell by cell, as the bindings do it, takes three times as long. */
function writeVector(vector: Vector, type: ScoreColumn['type'], cells: readonly Cell[]): void {
  const valid = new Uint8Array(Math.ceil(cells.length / 64) * 8);
  const others = new Map<number, string>();
  let count = 0;
  bytes.fill(0, 0, cells.length * BYTES[type]);
  for (let row = 0; row < cells.length; row++) {
    const cell = cells[row];
    if (cell === undefined) continue;
    count++;
    valid[row >> 3] = (valid[row >> 3] ?? 0) | (1 << (row & 7));
    if (type === 'LABEL') bytes[row] = cell === 'High' ? 1 : 0;
    else if (type !== 'VARCHAR') doubles[row] = Number(cell);
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
