import { createReadStream } from 'node:fs';
import { pipeline, type Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import { openLines, type BodyPagesOptions } from './bodyPages.js';
import type { Engine } from './engine.js';
import type { Source } from './engineSources.js';
import { FormatError } from './errors.js';
import { formatOf, isRemote } from './formatNames.js';
import type { InputFile } from './inputs.js';
import type { OpenInput, ReadProgress } from './page.js';

/** Larger than Node's default: fewer event-loop turns per row. */
const CHUNK_BYTES = 1 << 20;

export interface InputOptions extends BodyPagesOptions {
  /** Starts the engine, once. */
  readonly engine: () => Promise<Engine>;
  /** The encoding of CSV; UTF-8 if absent. */
  readonly encoding?: string | undefined;
}

/** What of a file says how it is opened. */
export type ReadableInput = Pick<InputFile, 'path' | 'name' | 'format' | 'partitions' | 'query'>;

/** Opens standard input, or another stream. */
export async function openStream(
  input: AsyncIterable<Uint8Array>,
  format: 'ndjson' | 'arrow',
  reading: ReadProgress,
  options: BodyPagesOptions,
): Promise<OpenInput> {
  if (format === 'ndjson') return openLines(input, reading, options);
  const { openArrow } = await import('./arrowPages.js');
  return openArrow(input, reading, options.limits);
}

/** Opens a file, or a query over many. */
export async function openFile(
  input: ReadableInput,
  reading: ReadProgress,
  options: InputOptions,
): Promise<OpenInput> {
  const { path, name, format } = input;
  const { compression } = formatOf(path);
  if (format === 'ndjson') {
    if (isRemote(path)) throw new FormatError(`${name}: NDJSON is read from here: copy it, or pipe it`);
    return openLines(bytesOf(path, name, compression), reading, options);
  }
  if (format !== 'csv' && compression !== undefined)
    throw new FormatError(`${path}: ${format} is compressed inside, not as a whole`);
  if (format === 'arrow') {
    if (isRemote(path)) throw new FormatError(`${name}: Arrow is read from here: copy it, or pipe a stream`);
    const { openArrow } = await import('./arrowPages.js');
    return openArrow({ path }, reading, options.limits);
  }
  const { openSources } = await import('./enginePages.js');
  const engine = await options.engine();
  const files = input.query?.files ?? [input];
  const tables = [];
  for (const file of files)
    tables.push({ source: await sourceOf(engine, file, options), partitions: file.partitions });
  const opened = openSources(engine, tables, options.limits, input.query?.isSorted === true);
  const packed = files.filter((file) => file.format === 'csv' && formatOf(file.path).compression === 'gzip');
  return {
    ...opened,
    async *pages(columns) {
      for (const file of packed) if (!isRemote(file.path)) await checkWhole(file);
      yield* opened.pages(columns);
    },
  };
}

/** The engine reads a file of gzip that is cut off as a shorter one. @throws FormatError */
async function checkWhole({ path, name }: ReadableInput): Promise<void> {
  for await (const _ of bytesOf(path, name, 'gzip'));
}

async function sourceOf(
  engine: Engine,
  { path, name, format, query }: ReadableInput,
  { encoding, bodyMaxBytes }: InputOptions,
): Promise<Source> {
  const { csvSource, parquetSource, querySource } = await import('./engineSources.js');
  if (query?.sql !== undefined) return querySource(engine, query.sql, name);
  if (format === 'parquet') return parquetSource(engine, path, name);
  if (format !== 'csv') throw new FormatError(`${name}: Parquet and CSV can be sorted: convert it first`);
  const { compression } = formatOf(path);
  return csvSource(engine, path, name, { encoding, compression, rowBytesMax: bodyMaxBytes });
}

/** A file's bytes, unpacked. @throws FormatError that names the file if its compression is damaged or cut */
async function* bytesOf(
  path: string,
  name: string,
  compression: 'gzip' | 'zstd' | undefined,
): AsyncGenerator<Uint8Array> {
  let bytes: Readable = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  // Not compose(): it has moments without a listener, in which a damaged file ends the process.
  if (compression !== undefined) bytes = pipeline(bytes, decompressor(compression), () => {});
  try {
    yield* bytes as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^Z_|ZSTD/.test(String(error.code)))
      throw new FormatError(`${name}: its compression is damaged, or cut short`);
    throw error;
  }
}

function decompressor(compression: 'gzip' | 'zstd'): Transform {
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize: CHUNK_BYTES });
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };
  if (createZstdDecompress !== undefined) return createZstdDecompress();
  throw new FormatError('Zstandard takes Node 22.15 or newer: decompress it first (zstd -dc), or use gzip');
}
