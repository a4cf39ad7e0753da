import { createReadStream, mkdirSync, rmSync, statSync } from 'node:fs';
import { devNull, totalmem, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  DuckDBInstance,
  StatementType,
  blobValue,
  version,
  type DuckDBDataChunk,
  type DuckDBConnection,
  type DuckDBValue,
} from '@duckdb/node-api';
import { partialName } from '../../base/files/atomicFile.js';
import { usableCores } from '../../config/cores.js';
import { messageOf, OperatorError } from '../../base/errors.js';
import { TableError } from '../errors.js';
import type { LakeOptions } from '../options.js';
import { EngineTable, type HeldType } from './engineTable.js';
import { patternOf, textOf } from './sql.js';

/** The engine for tables: its life, its errors, its extensions. */

const THREADS_MAX = 4;
const MEBI = 1 << 20;
/** Less, and a row group of long nights does not fit. */
const MEMORY_MIN = 256 * MEBI;

export interface NamedType {
  readonly name: string;
  readonly type: string;
}

/**
 * DuckDB, which reads, sorts and writes tables. This file is loaded when it is first needed. What it spills lies in a folder of this
 * process, readable by its owner only.
 */
export class Engine {
  private tables = 0;
  private readonly threads = Math.min(usableCores(), THREADS_MAX);

  private constructor(
    private readonly instance: DuckDBInstance,
    private readonly connection: DuckDBConnection,
    /** For files that disappear with this process; removed by `close`, or after a crash by the next run. */
    readonly folder: string,
  ) {}

  /** @throws OperatorError if an extension is not there */
  static async open({ memory, extension = [] }: Pick<LakeOptions, 'memory' | 'extension'>): Promise<Engine> {
    const folder = partialName(join(tmpdir(), 'acuity-lake'));
    mkdirSync(folder, { mode: 0o700 });
    const limit = memory ?? Math.max(MEMORY_MIN, Math.floor(machineMemory() / 4));
    const instance = await DuckDBInstance.create(':memory:', {
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      memory_limit: `${Math.floor(limit / MEBI)}MiB`,
      temp_directory: folder,
    });
    const engine = new Engine(instance, await instance.connect(), folder);
    // Else times with a zone would have the dates of the machine's.
    await engine.run("SET GLOBAL TimeZone = 'UTC'", 'the engine');
    process.once('exit', engine.removeFolder);
    for (const one of extension) await engine.load(one);
    return engine;
  }

  /**
   * The rows of a query: `taken` of each chunk, whose memory is freed then (the collector would not know how much it is).
   * The engine reads the next chunk meanwhile. On a connection of its own: the next statement of a connection ends its
   * streams. A stream that the engine gives up ends without an error, so a last row of ours says that all others came.
   * To keep the order costs several threads more.
   * @throws TableError
   */
  async *chunks<Taken>(
    sql: string,
    what: Read,
    taken: (chunk: DuckDBDataChunk) => Taken,
    threads = this.threads,
  ): AsyncGenerator<Taken, void, undefined> {
    const connection = await this.instance.connect();
    let next: Promise<DuckDBDataChunk | null> | undefined;
    try {
      const result = await told(what, async () => {
        // With the engine's own buffer its threads read all rows before the first ones are scored.
        await connection.run(`SET threads = ${threads}; SET streaming_buffer_size = '64KB'`);
        return connection.stream(
          `SELECT *, false AS "end of rows" FROM (${sql}) UNION ALL BY NAME SELECT true AS "end of rows"`,
        );
      });
      for (let isWhole = false; !isWhole;) {
        const chunk = await told(what, () => next ?? result.fetchChunk());
        if (chunk === null || chunk.rowCount === 0) return await this.explainEnd(sql, what);
        isWhole = chunk.getColumnVector(chunk.columnCount - 1).getItem(chunk.rowCount - 1) === true;
        if (isWhole) chunk.rowCount -= 1;
        next = isWhole ? undefined : result.fetchChunk();
        next?.catch(() => undefined); // it may fail before it is awaited
        if (chunk.rowCount > 0) {
          const rows = taken(chunk);
          chunk.reset();
          yield rows;
        }
      }
    } finally {
      await next?.catch(() => undefined);
      connection.closeSync();
    }
  }

  /** Runs a query whose rows did not all come, for the error. @throws TableError */
  private async explainEnd(sql: string, what: Read): Promise<never> {
    await this.run(`COPY (${sql}) TO '${devNull}' (FORMAT csv)`, what);
    throw new TableError(`${nameOf(what)} can't be read to its end`);
  }

  /** Few rows, as text. @throws TableError */
  async texts(sql: string, what: string): Promise<(string | null)[][]> {
    const reader = await told(what, () => this.connection.runAndReadAll(sql));
    return reader.getRows().map((row) => row.map((value) => (value === null ? null : String(value))));
  }

  async run(sql: string, what: Subject, values: DuckDBValue[] = []): Promise<void> {
    await told(what, () => this.connection.run(sql, values));
  }

  /** A new table, with columns c0, c1 … of `types`, to be filled. */
  async table(types: readonly HeldType[], what: Subject): Promise<EngineTable> {
    const name = `table_${this.tables++}`;
    await this.run(
      `CREATE TABLE ${name} (${types.map((type, place) => `c${place} ${type}`).join(', ')})`,
      what,
    );
    const appender = await this.connection.createAppender(name);
    return new EngineTable(name, { types, appender, told: (work) => told(what, work) });
  }

  /** The columns of one SELECT, each under its own name, also where two have the same. @throws OperatorError, TableError */
  async columnsOf(sql: string, what: string): Promise<NamedType[]> {
    return told(what, async () => {
      const statements = await this.connection.extractStatements(sql);
      if (statements.count !== 1) throw new OperatorError(`${what}: give one SELECT`);
      const prepared = await statements.prepare(0);
      if (prepared.statementType !== StatementType.SELECT)
        throw new OperatorError(`${what}: it is no SELECT`);
      const columns = Array.from({ length: prepared.columnCount }, (_, index) => ({
        name: prepared.columnName(index),
        type: String(prepared.columnType(index)),
      }));
      prepared.destroySync();
      return columns;
    });
  }

  /** Copies a finished file into a store, byte by byte: it is there as a whole, or not at all. */
  async upload(path: string, target: string): Promise<void> {
    const what = { written: target };
    await this.run('CREATE OR REPLACE TABLE pieces (bytes BLOB)', what);
    // For no bytes the engine writes no file, and a former one stays: a blank line is no row either.
    const isEmpty = statSync(path).size === 0;
    for await (const piece of isEmpty ? [Buffer.from('\n')] : createReadStream(path, { highWaterMark: MEBI }))
      await this.run('INSERT INTO pieces VALUES ($1)', what, [blobValue(piece as Buffer)]);
    await this.run(`COPY pieces TO ${textOf(target)} (FORMAT blob)`, what);
    await this.run('DROP TABLE pieces', what);
  }

  /**
   * A file of a store as that tells it; nothing of one without a time, which may have been written again.
   * @throws TableError if nothing is there: the engine takes an address that it can't read for one without files
   */
  async markOf(source: string): Promise<{ readonly size?: number; readonly modified?: string }> {
    const values = 'size, epoch_ms(last_modified)';
    const [found] = await this.texts(`SELECT ${values} FROM read_blob(${textOf(patternOf(source))})`, source);
    if (found === undefined)
      throw new TableError(
        `${source} can't be read: nothing is there, or its beginning is none of s3://, gs://, https:// as written here`,
      );
    const [size, ms] = found;
    return Number(ms) > 0 ? { size: Number(size), modified: new Date(Number(ms)).toISOString() } : {};
  }

  /** The other way: copies a file of a store into `folder`; all of it is in memory meanwhile. @throws TableError */
  async download(source: string): Promise<string> {
    await this.markOf(source);
    const path = join(this.folder, basename(source));
    const select = `SELECT content FROM read_blob(${textOf(patternOf(source))})`;
    await this.run(`COPY (${select}) TO ${textOf(path)} (FORMAT blob, COMPRESSION none)`, source);
    return path;
  }

  close(): void {
    this.connection.closeSync();
    this.instance.closeSync();
    process.off('exit', this.removeFolder);
    this.removeFolder();
  }

  private readonly removeFolder = (): void => rmSync(this.folder, { recursive: true, force: true });

  private async load(extension: string): Promise<void> {
    try {
      await this.connection.run(`LOAD ${textOf(extension)}`);
    } catch {
      const own = version().replace(/^v/, '');
      throw new OperatorError(
        `--extension ${extension}: DuckDB ${own} has no such extension here, and this command fetches nothing. Where the internet is, INSTALL ${extension} in DuckDB ${own} puts it into ~/.duckdb; or unpack the wheel of PyPI's duckdb-extension-${extension}==${own} and name the .duckdb_extension file in it`,
      );
    }
    if (/httpfs/.test(extension)) await this.signIn();
  }

  /** Keys of S3 from the environment, as other tools read them. */
  private async signIn(): Promise<void> {
    const { env } = process;
    const endpoint = env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL'];
    const url = endpoint === undefined ? undefined : new URL(endpoint);
    const parts: readonly (readonly [name: string, value: string | undefined])[] = [
      ['KEY_ID', env['AWS_ACCESS_KEY_ID']],
      ['SECRET', env['AWS_SECRET_ACCESS_KEY']],
      ['SESSION_TOKEN', env['AWS_SESSION_TOKEN']],
      ['REGION', env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION']],
      ['ENDPOINT', url?.host],
      ['USE_SSL', url === undefined ? undefined : String(url.protocol === 'https:')],
      ['URL_STYLE', url === undefined ? undefined : 'path'],
    ];
    const given = parts.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${textOf(value)}`]));
    if (given.length === 0) return;
    for (const type of ['s3', 'gcs'])
      try {
        await this.connection.run(`CREATE SECRET (TYPE ${type}, ${given.join(', ')})`);
      } catch {
        throw new OperatorError('the keys of the store in AWS_… are not as DuckDB takes them'); // its message has them
      }
  }
}

/** A table that the engine reads; the rows of a SELECT, about whose errors the engine quotes values. */
type Read = string | { readonly selected: string };
/** The same, or an output that it writes, which is no damaged table if it fails. */
type Subject = Read | { readonly written: string };

function nameOf(what: Read): string {
  return typeof what === 'string' ? what : what.selected;
}

/** @throws OperatorError, TableError, Error: the engine's errors in its own words */
export async function told<T>(what: Subject, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw engineError(error, what);
  }
}

/** The engine's error in one line, without what stands in the data: its messages quote lines and values. */
function engineError(error: unknown, what: Subject): Error {
  if (error instanceof OperatorError) return error;
  const message = messageOf(error);
  // Names and values stand in quotes.
  const plain = message.replaceAll(/"[^"]*"/g, '""');
  const line = /on Line: (\d+)/.exec(message)?.[1];
  const place = line === undefined ? '' : ` in line ${line}`;
  const [words] = KNOWN.flatMap(([isIt, own]) => (isIt.test(plain) ? [own] : []));
  const isDamage = !OF_MACHINE.test(plain);
  const isOfValues = typeof what === 'object' && 'selected' in what && !OF_FILES.test(message);
  const told = words ?? (isOfValues ? OF_VALUES : message.split('\n', 1)[0]?.replace(/^[\w -]+ Error: /, ''));
  if (typeof what === 'object' && 'written' in what)
    return new Error(`${what.written} can't be written: ${told}`);
  const sentence =
    words !== undefined || line === undefined
      ? `${nameOf(what)} can't be read${place}: ${told}`
      : `${nameOf(what)} is no CSV${place}: check its quotes and its delimiter`;
  return isDamage ? new TableError(sentence) : new Error(sentence);
}

/** Errors whose words are about files and addresses. */
const OF_FILES = /^(IO|HTTP|Permission|Out of Memory) Error/;
/** Troubles of the store, the disk or the memory: the table may be sound. */
const OF_MACHINE =
  /^(HTTP|Out of Memory) Error|could not (connect|allocate)|No space left|offload data block/i;
const OF_VALUES =
  'one of its expressions fails on a value, or a file that it reads is damaged: DuckDB itself shows which';

const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^(Conversion|Out of Range)/, "a value can't be cast to the type requested"],
  [
    /not utf-8 encoded|Invalid unicode|(invalid|not valid) UTF-?8/i,
    'it is not UTF-8: give --encoding latin-1 or utf-16 if it is CSV in one of these, or convert it (iconv -t UTF-8)',
  ],
  [
    /Maximum line size/i,
    'a line is longer than the engine takes: leave it out, or read the file without --sql',
  ],
  [/NoSuchBucket|bucket does not exist/i, 'there is no such bucket: check its name, or make it first'],
  [/encrypted/i, 'it is encrypted: decrypt it first'],
  [/No space left|offload data block/i, 'TMPDIR has no room for what --memory does not hold'],
  [/could not allocate|Out of Memory/i, 'it takes more memory than --memory allows: raise that'],
  [/No magic bytes|too small to be a Parquet/i, 'it is no Parquet file, or its end is missing'],
  [
    /requires the extension (\w+)|exists in the (\w+) extension/i,
    'it takes an extension: give --extension (httpfs for s3:// and https://, delta, iceberg)',
  ],
];

/** The memory that this process may take: the machine's, or its container's. */
function machineMemory(): number {
  const own = process.constrainedMemory();
  return own > 0 && own < totalmem() ? own : totalmem();
}
