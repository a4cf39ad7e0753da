import { OperatorError } from '../../base/errors.js';
import { createReadStream, fstatSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import { openLines, type BodyPagesOptions } from './bodyPages.js';
import { openCsv } from './csvPages.js';
import { CsvTable } from './csvRows.js';
import type { Engine } from './engine.js';
import { csvSource, parquetSource, querySource, withPartitions, type Source } from './engineSources.js';
import { formatOf, isRemote, type Input } from './inputs.js';
import type { OpenInput } from './page.js';

/** Opens inputs of every format. */

/** Larger than Node's default: fewer event-loop turns per row. */
const CHUNK_BYTES = 1 << 20;
const STDIN = 0;

export interface ReadOptions extends BodyPagesOptions {
  /** Starts the engine, once. */
  readonly engine: () => Promise<Engine>;
  /** The encoding of CSV; UTF-8 if absent. */
  readonly encoding?: string | undefined;
  /** The zone whose dates are the nights of times with a zone. */
  readonly zone?: string | undefined;
  /** Called with how many bytes of a file of lines were read since. */
  readonly onBytes?: (count: number) => void;
}

/** The members of an input that say how it is opened. */
export type ReadableInput = Pick<Input, 'path' | 'name' | 'format' | 'partitions' | 'query'>;

/** Opens standard input: a file that the engine reads from anywhere, or a stream. @throws OperatorError */
export async function openStdin(
  stdin: Readable,
  { name, format }: Pick<Input, 'name' | 'format'>,
  options: ReadOptions,
): Promise<OpenInput> {
  if (format === 'ndjson') return openLines(stdin, options);
  if (format === 'csv') return openCsv(await openTable(stdin, name, options), options.limits, []);
  if (format === 'arrow') {
    const { onlyStream } = await import('./arrowStreams.js');
    return openArrowStream(onlyStream(stdin), options);
  }
  if (!fstatSync(STDIN).isFile())
    throw new OperatorError(
      'Parquet is read from its end, which a pipe does not have: name the file, or pipe Arrow',
    );
  const path = `/proc/self/fd/${STDIN}`;
  return openInput({ path, name, format, partitions: [] }, options);
}

export async function openArrowStream(
  input: AsyncIterable<Uint8Array>,
  { limits, zone }: ReadOptions,
): Promise<OpenInput> {
  const { openArrow } = await import('./arrowPages.js');
  return openArrow(input, limits, zone);
}

function openTable(
  bytes: AsyncIterable<Uint8Array>,
  what: string,
  { encoding, bodyMaxBytes: rowBytesMax }: ReadOptions,
): Promise<CsvTable> {
  return CsvTable.open(bytes, { what, encoding, rowBytesMax });
}

/** Opens a file, or a query over many. */
export async function openInput(input: ReadableInput, options: ReadOptions): Promise<OpenInput> {
  const { path, name, format, partitions, query } = input;
  if (format === 'ndjson' && query === undefined) {
    if (isRemote(path)) throw new OperatorError(`${name}: NDJSON is read from here: copy it, or pipe it`);
    return openLines(bytesOf(input, options.onBytes), options, partitions);
  }
  if (format === 'csv' && query === undefined)
    return openCsv(await openFile(input, options), options.limits, partitions);
  const { openSources } = await import('./enginePages.js');
  const engine = await options.engine();
  const [first = input, ...more] = query?.files ?? [input];
  const own = await sourceOf(engine, first, options);
  const sources: [Source, ...Source[]] = [withPartitions(own, first.partitions)];
  for (const file of more)
    sources.push(withPartitions(await sourceOf(engine, file, options), file.partitions));
  const opened = openSources(engine, sources, options.limits, query?.isSorted === true);
  const ofPath = new Map(
    partitions.map(({ name: column }) => [column, own.columns.some((one) => one.name === column)]),
  );
  return { ...opened, names: opened.names && { ...opened.names, ofPath } };
}

/** Opens a CSV; one of a store is copied here, and removed when it is closed. */
async function openFile(input: ReadableInput, options: ReadOptions): Promise<CsvTable> {
  const { path, name } = input;
  if (!isRemote(path)) return openTable(bytesOf(input, options.onBytes), name, options);
  const engine = await options.engine();
  async function* copied(): AsyncGenerator<Uint8Array> {
    const here = await engine.download(path);
    try {
      yield* bytesOf({ ...input, path: here });
    } finally {
      rmSync(here, { force: true });
    }
  }
  return openTable(copied(), name, options);
}

async function sourceOf(engine: Engine, input: ReadableInput, options: ReadOptions): Promise<Source> {
  const { path, name, format, query } = input;
  if (query?.sql !== undefined) return querySource(engine, query.sql, name, options.zone);
  if (format === 'csv') return csvSource(engine, () => openFile(input, options), name);
  if (formatOf(path).compression !== undefined)
    throw new OperatorError(`${path}: ${format} is compressed inside, not as a whole`);
  return parquetSource(engine, path, name, options.zone);
}

/**
 * A file's bytes, unpacked; each piece is valid until the next one is asked for.
 * @throws OperatorError that names the file if its compression is damaged or cut
 */
async function* bytesOf(
  { path, name }: ReadableInput,
  onBytes: (count: number) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  const { compression } = formatOf(path);
  if (compression === undefined) return yield* piecesOf(path, onBytes);
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  // Not compose(): it has moments without a listener, in which a damaged file ends the process.
  const bytes: AsyncIterable<Buffer> = pipeline(file, decompressor(compression), () => {});
  let told = 0;
  try {
    for await (const piece of bytes) {
      yield piece;
      onBytes(file.bytesRead - told);
      told = file.bytesRead;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^Z_|ZSTD/.test(String(error.code)))
      throw new OperatorError(`${name}: its compression is damaged, or cut short`);
    throw error;
  }
}

/** The pieces of a file, the next read ahead: new memory for each would cost more than reading. */
async function* piecesOf(path: string, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  let [piece, next] = [Buffer.allocUnsafeSlow(CHUNK_BYTES), Buffer.allocUnsafeSlow(CHUNK_BYTES)];
  let reading = file.read(piece);
  try {
    for (;;) {
      const { bytesRead } = await reading;
      if (bytesRead === 0) return;
      reading = file.read(next);
      reading.catch(() => undefined); // it may fail before it is awaited
      yield piece.subarray(0, bytesRead);
      onBytes(bytesRead);
      [piece, next] = [next, piece];
    }
  } finally {
    // Not awaited: an error's message would wait for the writer of a pipe.
    void file.close();
  }
}

function decompressor(compression: 'gzip' | 'zstd'): Transform {
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize: CHUNK_BYTES });
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };
  if (createZstdDecompress !== undefined) return createZstdDecompress();
  throw new OperatorError('Zstandard takes Node 22.15 or newer: decompress it first (zstd -dc), or use gzip');
}
