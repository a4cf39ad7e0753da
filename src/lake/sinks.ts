import { createReadStream } from 'node:fs';
import type { Writable } from 'node:stream';
import type { RecordBatch } from 'apache-arrow';
import type { Engine } from './engine.js';
import { LineWriter } from './lineWriter.js';
import type { TableOptions } from './scoreColumns.js';
import type { PageSink } from './scorePages.js';

const CHUNK_BYTES = 1 << 20;

/** Writes bytes; resolves once there is room for more. */
export type WriteBytes = (bytes: string | Uint8Array) => Promise<void>;

/** Scores on their way to a file or a stream. */
export interface ScoreSink extends PageSink {
  /** Writes the rest; does not close the destination. */
  end(): Promise<void>;
}

export interface SinkOptions extends TableOptions {
  /** The engine's types of the kept columns, in their order; text if absent. */
  readonly keptTypes?: readonly string[] | undefined;
  /** The kept columns of an Arrow stream, without rows. */
  readonly keptColumns?: RecordBatch | undefined;
  readonly engine: () => Promise<Engine>;
}

export async function openSink(write: WriteBytes, options: SinkOptions): Promise<ScoreSink> {
  const { format } = options;
  if (format === 'arrow') return (await import('./arrowSink.js')).openArrowSink(write, options);
  if (format === 'ndjson') {
    const lines = new LineWriter(options);
    const writeLines = async (job: Parameters<ScoreSink['write']>[0]): Promise<void> => {
      const text = lines.text(job);
      if (text !== '') await write(text);
    };
    return { write: writeLines, end: async () => undefined };
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
