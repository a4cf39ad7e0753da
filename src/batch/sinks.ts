import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Writable } from 'node:stream';
import type { RecordBatch } from 'apache-arrow';
import type { Format } from './formats.js';
import type { Job } from './job.js';
import { LineWriter, type LineOptions } from './lineWriter.js';
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
  readonly keptColumns?: RecordBatch | undefined;
}

export async function openSink(write: WriteBytes, options: SinkOptions): Promise<ScoreSink> {
  const { format, isStream } = options;
  if (format === 'ndjson') {
    const lines = new LineWriter(options, isStream);
    return { write: async (job) => writeText(write, lines.text(job)), end: async () => undefined };
  }
  if (format === 'csv') {
    const { CsvWriter } = await import('./csvWriter.js');
    const rows = new CsvWriter(options, isStream);
    await write(rows.header());
    return { write: async (job) => writeText(write, rows.text(job)), end: async () => undefined };
  }
  return openTableSink(write, options);
}

async function openTableSink(write: WriteBytes, options: SinkOptions): Promise<ScoreSink> {
  const { TableWriter } = await import('./tableWriter.js');
  const tables = new TableWriter(options, options.isStream);
  const batches = await openBatches(write, options);
  let isEmpty = true;
  return {
    async write(job: Job): Promise<void> {
      for (const batch of tables.batches(job)) {
        isEmpty = false;
        await batches.write(batch);
      }
    },
    async end(): Promise<void> {
      if (isEmpty) await batches.write(tables.empty(options.keptColumns));
      await batches.end();
    },
  };
}

interface BatchSink {
  write(batch: RecordBatch): Promise<void>;
  end(): Promise<void>;
}

async function openBatches(write: WriteBytes, { format, isStream }: SinkOptions): Promise<BatchSink> {
  if (format === 'parquet') {
    const { ParquetWriter } = await import('./parquetWriter.js');
    return new ParquetWriter(write);
  }
  const { RecordBatchFileWriter, RecordBatchStreamWriter } = await import('apache-arrow');
  const writer = isStream ? new RecordBatchStreamWriter() : new RecordBatchFileWriter();
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
    async write(batch) {
      writer.write(batch);
      // Its bytes are written before the next ones are produced.
      await Promise.race([turnOfTheLoop(), copied]);
      await writePieces();
    },
    async end() {
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
