import { createReadStream } from 'node:fs';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Writable } from 'node:stream';
import type { RecordBatch } from 'apache-arrow';
import type { Engine } from './engine.js';
import type { Format } from './inputs.js';
import { LineWriter } from './lineWriter.js';
import type { PageSink } from './scorePages.js';
import type { TableOptions } from './tableSink.js';

const CHUNK_BYTES = 1 << 20;

/** Writes bytes; resolves once there is room for more. */
export type WriteBytes = (bytes: string | Uint8Array) => Promise<void>;

/** Scores on their way to a file or a stream. */
export interface ScoreSink extends PageSink {
  /** Writes the rest; does not close the destination. */
  end(): Promise<void>;
}

export interface SinkOptions extends Omit<TableOptions, 'format'> {
  readonly format: Format;
  /** The kept columns of an Arrow stream, without rows. */
  readonly keptColumns?: RecordBatch | undefined;
  readonly engine: () => Promise<Engine>;
}

export async function openSink(write: WriteBytes, options: SinkOptions): Promise<ScoreSink> {
  const { format } = options;
  if (format === 'arrow') return openArrowSink(write, options);
  if (format === 'ndjson') {
    const lines = new LineWriter(options);
    return {
      async write(job) {
        const text = lines.text(job);
        if (text !== '') await write(text);
      },
      end: async () => undefined,
    };
  }
  const { TableSink } = await import('./tableSink.js');
  const table = new TableSink(await options.engine(), { ...options, format });
  return {
    write: (job) => table.write(job),
    async end() {
      for await (const bytes of createReadStream(await table.end(), { highWaterMark: CHUNK_BYTES }))
        await write(bytes as Buffer);
    },
  };
}

async function openArrowSink(write: WriteBytes, options: SinkOptions): Promise<ScoreSink> {
  const { ArrowWriter } = await import('./arrowWriter.js');
  const { RecordBatchStreamWriter } = await import('apache-arrow');
  const tables = new ArrowWriter(options);
  const writer = new RecordBatchStreamWriter();
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
    async write(job) {
      isEmpty = false;
      writer.write(tables.batch(job.page.keptColumns, job));
      // Its bytes are written before the next ones are produced.
      await Promise.race([turnOfTheLoop(), copied]);
      await writePieces();
    },
    async end() {
      if (isEmpty) writer.write(tables.batch(options.keptColumns, undefined));
      writer.finish();
      await copied;
      await writePieces();
    },
  };
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
