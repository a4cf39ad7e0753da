import { OperatorError } from '../../base/errors.js';
import { createReadStream, createWriteStream, fstatSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { pipeline as copied } from 'node:stream/promises';
import zlib from 'node:zlib';
import { errorCode, systemReason } from '../../base/files/fileError.js';
import { OWNER_ONLY } from '../../base/files/atomicFile.js';
import { openLines, type BodyPagesOptions } from './bodyPages.js';
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
  if (format === 'arrow') {
    const { onlyStream } = await import('./arrowStreams.js');
    return openArrowStream(onlyStream(stdin), options);
  }
  let path = `/proc/self/fd/${STDIN}`;
  if (!fstatSync(STDIN).isFile()) {
    if (format === 'parquet')
      throw new OperatorError(
        'Parquet is read from its end, which a pipe does not have: name the file, or pipe Arrow',
      );
    const { folder } = await options.engine();
    path = join(folder, 'standard-input.csv');
    try {
      await copied(stdin, createWriteStream(path, { mode: OWNER_ONLY }));
    } catch (error) {
      if (errorCode(error) !== 'ENOSPC' && errorCode(error) !== 'EDQUOT') throw error;
      throw new OperatorError(
        `the copy of standard input does not fit into ${folder}: ${systemReason(error)}; TMPDIR names another folder`,
      );
    }
  }
  return openInput({ path, name, format, partitions: [] }, options);
}

export async function openArrowStream(
  input: AsyncIterable<Uint8Array>,
  { limits, zone }: ReadOptions,
): Promise<OpenInput> {
  const { openArrow } = await import('./arrowPages.js');
  return openArrow(input, limits, zone);
}

/** Opens a file, or a query over many. */
export async function openInput(input: ReadableInput, options: ReadOptions): Promise<OpenInput> {
  const { path, name, format, partitions } = input;
  const { compression } = formatOf(path);
  if (format === 'ndjson' && input.query === undefined) {
    if (isRemote(path)) throw new OperatorError(`${name}: NDJSON is read from here: copy it, or pipe it`);
    return openLines(bytesOf(path, name, compression, options.onBytes), options, partitions);
  }
  const { openSources } = await import('./enginePages.js');
  const engine = await options.engine();
  const [first = input, ...more] = input.query?.files ?? [input];
  const own = await sourceOf(engine, first, options);
  const sources: [Source, ...Source[]] = [withPartitions(own, first.partitions)];
  for (const file of more)
    sources.push(withPartitions(await sourceOf(engine, file, options), file.partitions));
  const opened = openSources(engine, sources, options.limits, input.query?.isSorted === true);
  const ofPath = new Map(
    partitions.map(({ name: column }) => [column, own.columns.some((one) => one.name === column)]),
  );
  return {
    ...opened,
    names: opened.names && { ...opened.names, ofPath },
    async *pages(columns, form) {
      for (const file of [first, ...more]) await checkWhole(file);
      yield* opened.pages(columns, form);
    },
  };
}

/** The engine reads a file of gzip that is cut off as a shorter one. @throws OperatorError */
async function checkWhole({ path, name, format }: ReadableInput): Promise<void> {
  if (format !== 'csv' || formatOf(path).compression !== 'gzip' || isRemote(path)) return;
  for await (const _ of bytesOf(path, name, 'gzip'));
}

async function sourceOf(
  engine: Engine,
  { path, name, format, query }: ReadableInput,
  { encoding, bodyMaxBytes, zone }: ReadOptions,
): Promise<Source> {
  if (query?.sql !== undefined) return querySource(engine, query.sql, name, zone);
  const { compression } = formatOf(path);
  if (format === 'csv')
    return csvSource(engine, path, name, { encoding, compression, rowBytesMax: bodyMaxBytes });
  if (compression !== undefined)
    throw new OperatorError(`${path}: ${format} is compressed inside, not as a whole`);
  return parquetSource(engine, path, name, zone);
}

/** A file's bytes, unpacked. @throws OperatorError that names the file if its compression is damaged or cut */
async function* bytesOf(
  path: string,
  name: string,
  compression: 'gzip' | 'zstd' | undefined,
  onBytes?: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  let bytes: Readable = file;
  let told = 0;
  // Not compose(): it has moments without a listener, in which a damaged file ends the process.
  if (compression !== undefined) bytes = pipeline(bytes, decompressor(compression), () => {});
  try {
    for await (const piece of bytes as AsyncIterable<Uint8Array>) {
      yield piece;
      onBytes?.(file.bytesRead - told);
      told = file.bytesRead;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^Z_|ZSTD/.test(String(error.code)))
      throw new OperatorError(`${name}: its compression is damaged, or cut short`);
    throw error;
  }
}

function decompressor(compression: 'gzip' | 'zstd'): Transform {
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize: CHUNK_BYTES });
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };
  if (createZstdDecompress !== undefined) return createZstdDecompress();
  throw new OperatorError('Zstandard takes Node 22.15 or newer: decompress it first (zstd -dc), or use gzip');
}
