import { createReadStream } from 'node:fs';
import { Transform, type TransformCallback } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { openLines, type BodyPagesOptions } from './bodyPages.js';
import { openCsv } from './csvPages.js';
import { FormatError } from './formatError.js';
import type { OpenInput, ReadProgress } from './page.js';
import type { TableReaders } from './tableReaders.js';
import { ZstdWindows } from './zstdWindows.js';

export const FORMATS = ['ndjson', 'csv', 'arrow', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

const ENDINGS: Readonly<Record<string, Format>> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'ndjson',
  csv: 'csv',
  arrow: 'arrow',
  arrows: 'arrow',
  feather: 'arrow',
  ipc: 'arrow',
  parquet: 'parquet',
};

/** Larger than Node's default: fewer event-loop turns per row. */
const CHUNK_BYTES = 1 << 20;

/** A file's name without its format suffixes, and the format. */
export interface NamedFormat {
  readonly stem: string;
  readonly format: Format | undefined;
  readonly compression: 'gzip' | 'zstd' | undefined;
}

export function formatOf(name: string): NamedFormat {
  const [, inner = name, packed] = /^(.*)\.(gz|zst|zstd)$/i.exec(name) ?? [];
  const [, stem = inner, ending = ''] = /^(.*)\.([^.]+)$/.exec(inner) ?? [];
  const format = ENDINGS[ending.toLowerCase()];
  const compression = packed === undefined ? undefined : packed.toLowerCase() === 'gz' ? 'gzip' : 'zstd';
  return { stem: format === undefined ? inner : stem, format, compression };
}

export interface InputOptions extends BodyPagesOptions {
  readonly tables: TableReaders;
}

/** Opens standard input, or a file read in its place. */
export async function openStream(
  input: AsyncIterable<Uint8Array>,
  format: Format,
  reading: ReadProgress,
  options: BodyPagesOptions,
): Promise<OpenInput> {
  if (format === 'parquet') throw new Error('Parquet is read from its end on');
  if (format === 'ndjson') return openLines(input, reading, options);
  if (format === 'csv') return openCsv(input, reading, options);
  const { openArrowStream } = await import('./tablePages.js');
  return openArrowStream(counted(input, reading), reading, options.limits);
}

/** Opens a file. */
export async function openFile(
  path: string,
  format: Format,
  reading: ReadProgress,
  options: InputOptions,
): Promise<OpenInput> {
  const { compression } = formatOf(path);
  if (format === 'ndjson' || format === 'csv') {
    const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
    const input = compression === undefined ? file : file.compose(decompressor(compression));
    return openStream(input as AsyncIterable<Uint8Array>, format, reading, options);
  }
  if (compression !== undefined) {
    throw new FormatError(`${path}: ${format} is compressed inside, not as a whole`);
  }
  const { openTable } = await import('./tablePages.js');
  return openTable({ path, format }, reading, options);
}

async function* counted(input: AsyncIterable<Uint8Array>, reading: ReadProgress): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    reading.bytesRead += chunk.length;
    yield chunk;
  }
}

function decompressor(compression: 'gzip' | 'zstd'): Transform {
  return compression === 'gzip' ? createGunzip({ chunkSize: CHUNK_BYTES }) : new ZstdDecoder();
}

/** Zstandard; `node:zlib` has it only from Node 22 on. */
class ZstdDecoder extends Transform {
  private readonly windows = new ZstdWindows();
  private readonly decoder = new Decompress((bytes) => this.push(bytes));

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.feed(chunk, false, done);
  }

  override _flush(done: TransformCallback): void {
    this.feed(new Uint8Array(0), true, done);
  }

  private feed(chunk: Uint8Array, isLast: boolean, done: TransformCallback): void {
    try {
      this.windows.look(chunk);
      this.decoder.push(chunk, isLast);
      done();
    } catch (error) {
      done(
        error instanceof FormatError ? error : new FormatError('the input is no Zstandard data, or damaged'),
      );
    }
  }
}
