import { DuckDBDataChunk, type DuckDBAppender, type DuckDBValue } from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import { told, type Engine } from './engine.js';
import type { Job } from './job.js';
import { scoreColumns, type ScoreColumn, type SinkOptions } from './scoreColumns.js';
import { quoted, textOf } from './sql.js';

const FORMATS = { parquet: 'FORMAT parquet, COMPRESSION zstd', csv: 'FORMAT csv, HEADER' } as const;
/** Most rows of a chunk. */
const ROWS_MAX = bindings.vector_size();
/** The appender holds rows outside the engine's limit of memory: after so many chunks the table takes them. */
const CHUNKS_HELD = 8;
const WHAT = 'the output';

interface EngineSinkOptions extends SinkOptions {
  readonly format: keyof typeof FORMATS;
}

/** Collects scored rows in a table of the engine, column by column, and writes that as a file at the end. */
export class EngineSink {
  private static count = 0;
  private readonly chunk: DuckDBDataChunk;
  private chunks = 0;

  private constructor(
    private readonly engine: Engine,
    private readonly options: EngineSinkOptions,
    private readonly name: string,
    private readonly columns: readonly ScoreColumn[],
    /** Those that the table has: the others are the same in all rows. */
    private readonly varying: readonly ScoreColumn[],
    private readonly appender: DuckDBAppender,
  ) {
    this.chunk = DuckDBDataChunk.create(varying.map((_, place) => appender.columnType(place)));
  }

  static async open(engine: Engine, options: EngineSinkOptions): Promise<EngineSink> {
    const name = `scores_${EngineSink.count++}`;
    const columns = [...options.keep.map(keptColumn), ...scoreColumns(options)];
    const varying = columns.filter(({ always }) => always === undefined);
    const types = varying.map(({ type }, place) => `c${place} ${HELD_AS[type]}`);
    await engine.run(`CREATE TABLE ${name} (${types.join(', ')})`, WHAT);
    return new EngineSink(engine, options, name, columns, varying, await engine.appender(name));
  }

  async write(job: Job): Promise<void> {
    const rows: number[] = [];
    for (let row = 0; row < job.page.rows; row++)
      if (this.options.isStream || !job.problems.has(row)) rows.push(row);
    for (let first = 0; first < rows.length; first += ROWS_MAX)
      await this.append(job, rows.slice(first, first + ROWS_MAX));
  }

  /** Writes all rows. @returns the path of the file, in the engine's folder */
  async end(): Promise<string> {
    const { engine, appender, columns, varying, name } = this;
    const { keep, keptTypes, format } = this.options;
    await told(WHAT, () => appender.closeSync());
    const selected = columns.map((column, place) => {
      const type = place < keep.length ? (keptTypes?.[place] ?? 'VARCHAR') : column.type;
      const { always } = column;
      const cell = always === undefined ? `c${varying.indexOf(column)}` : textOf(always);
      const value = type === 'LABEL' ? LABEL.replace('cell', cell) : `CAST(${cell} AS ${type})`;
      return `${value} AS ${quoted(column.name)}`;
    });
    const path = `${engine.folder}/${name}.${format}`;
    const select = `SELECT ${selected.join(', ')} FROM ${name}`;
    await engine.run(`COPY (${select}) TO ${textOf(path)} (${FORMATS[format]})`, WHAT);
    await engine.run(`DROP TABLE ${name}`, WHAT);
    return path;
  }

  private async append(job: Job, rows: readonly number[]): Promise<void> {
    const { chunk, varying, appender } = this;
    chunk.reset();
    chunk.rowCount = rows.length;
    for (const [place, { type, at }] of varying.entries())
      chunk.setColumnValues(
        place,
        rows.map((row) => held(type, at(job, row))),
      );
    await told(WHAT, () => {
      appender.appendDataChunk(chunk);
      if (++this.chunks % CHUNKS_HELD === 0) appender.flushSync();
    });
  }
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

function held(type: ScoreColumn['type'], cell: ReturnType<ScoreColumn['at']>): DuckDBValue {
  if (cell === undefined) return null;
  if (type === 'LABEL') return cell === 'High';
  return type === 'VARCHAR' ? String(cell) : cell;
}
