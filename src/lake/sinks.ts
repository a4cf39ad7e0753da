import { createReadStream, rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { NEW_FILE, OWNER_ONLY } from '../files/atomicFile.js';
import { linesSql, quoted, textOf, type Engine } from './engine.js';
import type { Job } from './job.js';
import { LineWriter } from './lineWriter.js';
import {
  scoreColumns,
  type ScoreColumn,
  type ScoreSink,
  type SinkOptions,
  type WriteBytes,
} from './scoreColumns.js';

const CHUNK_BYTES = 1 << 20;

export async function openSink(write: WriteBytes, options: SinkOptions): Promise<ScoreSink> {
  const { format } = options;
  if (format === 'arrow') return (await import('./arrowSink.js')).openArrowSink(write, options);
  if (format === 'ndjson') {
    const lines = new LineWriter(options);
    const writeLines = async (job: Job): Promise<void> => {
      const text = lines.text(job);
      if (text !== '') await write(text);
    };
    return { write: writeLines, end: async () => undefined };
  }
  const table = new TableSink(await options.engine(), { ...options, format });
  return {
    write: (job) => table.write(job),
    async end() {
      for await (const bytes of createReadStream(await table.end(), { highWaterMark: CHUNK_BYTES }))
        await write(bytes as Buffer);
    },
  };
}

const FORMATS = { parquet: 'FORMAT parquet, COMPRESSION zstd', csv: 'FORMAT csv, HEADER' } as const;
/** Between cells: JSON has no such letter. */
const DELIMITER = '\u0001';

interface TableSinkOptions extends SinkOptions {
  readonly format: keyof typeof FORMATS;
}

/** Collects scored rows as lines of cells in the engine's folder, from which the engine makes one table at the end. */
class TableSink {
  private static count = 0;
  private readonly path: string;
  private readonly columns: readonly ScoreColumn[];
  private file: FileHandle | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly options: TableSinkOptions,
  ) {
    this.path = join(engine.folder, `scores-${TableSink.count++}`);
    this.columns = scoreColumns(options);
  }

  async write(job: Job): Promise<void> {
    let text = '';
    for (let row = 0; row < job.page.rows; row++)
      if (this.options.isStream || !job.problems.has(row)) text += `${this.cells(job, row)}\n`;
    this.file ??= await open(this.path, NEW_FILE, OWNER_ONLY);
    await this.file.writeFile(text);
  }

  /** Writes all rows. @returns the path of the table, below the engine's folder */
  async end(): Promise<string> {
    const { keep, keptTypes, format } = this.options;
    this.file ??= await open(this.path, NEW_FILE, OWNER_ONLY);
    await this.file.close();
    const cells = [
      ...keep.map((name, place) => {
        const text = `json_extract_string(c${place}, '$')`;
        return { name, type: 'VARCHAR', sql: `CAST(${text} AS ${keptTypes?.[place] ?? 'VARCHAR'})` };
      }),
      ...this.columns.map(({ name, type }, place) => ({ name, type, sql: `c${keep.length + place}` })),
    ];
    const types = cells.map(({ type }, place) => `'c${place}': '${type}'`);
    const selected = cells.map(({ name, sql }) => `${sql} AS ${quoted(name)}`).join(', ');
    const path = `${this.path}.${format}`;
    const select = `SELECT ${selected} FROM ${linesSql(this.path, types, DELIMITER)}`;
    await this.engine.run(`COPY (${select}) TO ${textOf(path)} (${FORMATS[format]})`, 'the output');
    rmSync(this.path);
    return path;
  }

  private cells(job: Job, row: number): string {
    let text = '';
    for (const name of this.options.keep) text += keptCell(job.page.kept(name, row)) + DELIMITER;
    const own = this.columns.map(({ at }) => at(job, row) ?? '');
    return text + own.join(DELIMITER);
  }
}

/** Half a pair of UTF-16, which the engine refuses. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** A kept value as text in JSON, which the engine casts to its type: numbers keep their digits. */
function keptCell(json: string | undefined): string {
  if (json === undefined || json === 'null') return '';
  if (!json.startsWith('"')) return JSON.stringify(json);
  return SURROGATE.test(json) ? JSON.stringify(Buffer.from(JSON.parse(json) as string).toString()) : json;
}
