import { OperatorError } from '../../base/errors.js';
import { createReadStream, fstatSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import zlib from 'node:zlib';
import { openLines, type BodyPagesOptions } from './bodyPages.js';
import { openCsv } from './csvPages.js';
import { CsvTable } from './csvRows.js';
import type { Engine } from './engine.js';
import { csvSource, parquetSource, querySource, withPartitions, type Source } from './engineSources.js';
import type { Format, LakeOptions } from '../options.js';
import { formatOf, isRemote, type Input } from './inputs.js';
import { TableError } from '../errors.js';
import type { OpenInput } from './page.js';

/** Opens inputs of every format. */

/** Larger than Node's default: fewer event-loop turns per row. */
const CHUNK_BYTES = 1 << 20;

export interface ReadOptions extends BodyPagesOptions, Pick<LakeOptions, 'encoding' | 'zone'> {
  /** Starts the engine, once. */
  readonly engine: () => Promise<Engine>;
  /** Called with how many bytes of a file of lines were read since. */
  readonly onBytes: (count: number) => void;
}

/** Standard input as an input; the engine reads only a file there. */
export const STDIN = { path: '/proc/self/fd/0', name: 'standard input', partitions: [] } as const;

/** The members of an input that say how it is opened. */
export interface ReadableInput extends Pick<Input, 'path' | 'name' | 'format' | 'partitions' | 'query'> {
  /** Its bytes, if it is standard input. */
  readonly stdin?: AsyncIterable<Uint8Array>;
}

/**
 * The bytes of all inputs that standard input holds: with `tables` a stream of Arrow each, else one.
 * @throws OperatorError if it is a folder, which Node takes for an empty stream; TableError
 */
export async function* inputsIn(
  stdin: Readable,
  { format, tables }: { readonly format: Format; readonly tables: boolean },
): AsyncGenerator<AsyncIterable<Uint8Array>, void, undefined> {
  if (fstatSync(0).isDirectory())
    throw new OperatorError('standard input is a folder: name it (acuity score FOLDER) to score its files');
  if (format !== 'arrow') return yield stdin;
  const { arrowStreams } = await import('./arrowStreams.js');
  yield* arrowStreams(stdin, !tables);
}

/** Opens a file, standard input, or a query over many files. @throws OperatorError */
export async function openInput(input: ReadableInput, options: ReadOptions): Promise<OpenInput> {
  const { path, name, format, partitions, query, stdin } = input;
  const { limits, zone } = options;
  if (format === 'arrow') {
    const { openArrow } = await import('./arrowPages.js');
    return openArrow(bytesOf(input, options), limits, zone);
  }
  if (format === 'ndjson' && query === undefined) {
    if (isRemote(path)) throw new OperatorError(`${name}: NDJSON is read from here: copy it, or pipe it`);
    return openLines(bytesOf(input, options), options, partitions);
  }
  if (format === 'csv' && query === undefined)
    return openCsv(await openTable(input, options), limits, partitions);
  if (stdin !== undefined && !fstatSync(0).isFile())
    throw new OperatorError(
      'Parquet is read from its end, which a pipe does not have: name the file, or pipe Arrow',
    );
  const { openSources } = await import('./enginePages.js');
  const engine = await options.engine();
  const [first = input, ...more] = query?.files ?? [input];
  const own = await sourceOf(engine, first, options);
  const sources: [Source, ...Source[]] = [withPartitions(own, first.partitions)];
  for (const file of more)
    sources.push(withPartitions(await sourceOf(engine, file, options), file.partitions));
  const opened = openSources(engine, sources, limits, query?.isSorted === true);
  const ofPath = new Map(
    partitions.map(({ name: column }) => [column, own.columns.some((one) => one.name === column)]),
  );
  return { ...opened, names: opened.names && { ...opened.names, ofPath } };
}

function openTable(input: ReadableInput, options: ReadOptions): Promise<CsvTable> {
  const { encoding, bodyMaxBytes: rowBytesMax } = options;
  return CsvTable.open(bytesOf(input, options), { what: input.name, encoding, rowBytesMax });
}

async function sourceOf(engine: Engine, input: ReadableInput, options: ReadOptions): Promise<Source> {
  const { path, name, format, query } = input;
  if (query?.sql !== undefined) return querySource(engine, query.sql, name, options.zone);
  if (format === 'csv') return csvSource(engine, () => openTable(input, options), name);
  if (formatOf(path).compression !== undefined)
    throw new OperatorError(`${path}: ${format} is compressed inside, not as a whole`);
  return parquetSource(engine, path, name, options.zone);
}

/**
 * An input's bytes, unpacked; each piece is valid until the next one is asked for. A file of a store is copied here, and
 * removed at the end.
 * @throws TableError that names the file if its compression is damaged or cut
 */
async function* bytesOf(input: ReadableInput, options: ReadOptions): AsyncGenerator<Uint8Array> {
  const { path, name, stdin } = input;
  if (stdin !== undefined) return yield* stdin;
  if (isRemote(path)) {
    const copy = await (await options.engine()).download(path);
    try {
      return yield* bytesOf({ ...input, path: copy }, options);
    } finally {
      rmSync(copy, { force: true });
    }
  }
  const { onBytes } = options;
  const { compression } = formatOf(path);
  if (compression === undefined) return yield* piecesOf(path, onBytes);
  const damaged = (): TableError => new TableError(`${name}: its compression is damaged, or cut short`);
  // A file may hold several, one after the other: zstd's decompressor reads one, gzip's ends at zeros.
  for (let start = 0; ;) {
    const file = createReadStream(path, { highWaterMark: CHUNK_BYTES, ...(start > 0 && { start }) });
    // Not compose(): it has moments without a listener, in which a damaged file ends the process.
    const bytes = pipeline(file, withZeros, decompressor(compression), () => {});
    let told = 0;
    try {
      for await (const piece of bytes) {
        yield piece as Buffer;
        onBytes(bytes.bytesWritten - told);
        told = bytes.bytesWritten;
      }
    } catch (error) {
      if (error instanceof Error && 'code' in error && /^Z_|ZSTD/.test(String(error.code))) throw damaged();
      throw error;
    }
    if (bytes.bytesWritten === 0 || bytes.bytesWritten > file.bytesRead) throw damaged();
    start += bytes.bytesWritten;
    if (bytes.bytesWritten === file.bytesRead) return; // zeros in place of the others are damage
  }
}

/** Adds zeros at the end: a decompressor reads into them only if its file was cut, which zstd's does not report. */
async function* withZeros(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let last: Buffer | undefined;
  for await (const piece of pieces) {
    if (last !== undefined) yield last;
    last = piece;
  }
  if (last !== undefined) yield Buffer.concat([last, Buffer.alloc(16)]);
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

function decompressor(compression: 'gzip' | 'zstd'): zlib.Gunzip {
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize: CHUNK_BYTES });
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => zlib.Gunzip };
  if (createZstdDecompress !== undefined) return createZstdDecompress();
  throw new OperatorError('Zstandard takes Node 22.15 or newer: decompress it first (zstd -dc), or use gzip');
}
