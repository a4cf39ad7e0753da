import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Writable } from 'node:stream';
import type { Engine } from './engine.js';
import type { Format } from './formatNames.js';
import type { Job } from './job.js';
import { LineWriter, type LineOptions } from './lineWriter.js';
import type { KeptColumns } from './page.js';
import type { PageSink } from './scorePages.js';

/** Writes bytes; resolves once there is room for more. */
export type WriteBytes = (bytes: string | Uint8Array) => Promise<void>;

/** Scores on their way to a file or a stream. */
export interface ScoreSink extends PageSink {
  /** Writes the rest; does not close the destination. */
  end(): Promise<void>;
}

export interface SinkOptions extends LineOptions {
  readonly format: Format;
  /** Whether bad rows stay in their places, as in a stream; else they are left out. */
  readonly isStream: boolean;
  /** The kept columns without rows, if the input has typed columns. */
  readonly keptColumns?: KeptColumns | undefined;
  readonly engine: () => Promise<Engine>;
}

export async function openSink(write: WriteBytes, options: SinkOptions): Promise<ScoreSink> {
  const { format, isStream } = options;
  if (format === 'arrow') return openArrowSink(write, options);
  if (format === 'parquet') return openParquetSink(write, options);
  if (format === 'ndjson') {
    const lines = new LineWriter(options, isStream);
    return { write: async (job) => writeText(write, lines.text(job)), end: async () => undefined };
  }
  const { CsvWriter } = await import('./csvWriter.js');
  const rows = new CsvWriter(options, isStream);
  await write(rows.header());
  return { write: async (job) => writeText(write, rows.text(job)), end: async () => undefined };
}

/** The engine writes a file of its own, which is then copied. */
async function openParquetSink(write: WriteBytes, options: SinkOptions): Promise<ScoreSink> {
  const { TableSink } = await import('./tableSink.js');
  const engine = await options.engine();
  const table = new TableSink(engine, options);
  return {
    write: (job) => table.write(job),
    async end() {
      const path = join(engine.folder, 'scores.parquet');
      await table.writeTo(path);
      for await (const bytes of createReadStream(path, { highWaterMark: 1 << 20 }))
        await write(bytes as Buffer);
    },
  };
}

async function openArrowSink(write: WriteBytes, options: SinkOptions): Promise<ScoreSink> {
  const { ArrowWriter } = await import('./arrowWriter.js');
  const { RecordBatchFileWriter, RecordBatchStreamWriter } = await import('apache-arrow');
  const tables = new ArrowWriter(options, options.isStream);
  const writer = options.isStream ? new RecordBatchStreamWriter() : new RecordBatchFileWriter();
  let isEmpty = true;
  // A batch comes in many pieces of a few bytes.
  let pieces: Uint8Array[] = [];
  const copied = (async () => {
    for await (const piece of writer) pieces.push(piece);
  })();
  copied.catch(() => undefined); // reported by the next write
  const writePieces = async (): Promise<void> => {
    const bytes = Buffer.concat(pieces);
    pieces = [];
    if (bytes.length > 0) await write(bytes);
  };
  return {
    async write(job: Job) {
      for (const batch of tables.batches(job)) {
        isEmpty = false;
        writer.write(batch);
        // Its bytes are written before the next ones are produced.
        await Promise.race([turnOfTheLoop(), copied]);
        await writePieces();
      }
    },
    async end() {
      if (isEmpty) writer.write(tables.empty(options.keptColumns));
      writer.finish();
      await copied;
      await writePieces();
    },
  };
}

async function writeText(write: WriteBytes, text: string): Promise<void> {
  if (text !== '') await write(text);
}

/** Standard output: waits while the reader is slow, and fails once the reader has gone. */
export function toStream(output: Writable): WriteBytes {
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  const changed = (): void => wake?.();
  output.on('error', (error) => {
    failure ??= error;
    changed();
  });
  output.on('drain', changed);
  output.on('close', changed);
  return async (bytes) => {
    if (failure === undefined && !output.write(bytes)) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (failure !== undefined) throw failure;
  };
}

/** Resolves when the stream has passed on everything written. */
export function flushed(output: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write('', (error) => (error ? reject(error) : resolve()));
  });
}
