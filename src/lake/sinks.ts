import { createReadStream, rmSync } from 'node:fs';
import type { Job } from './job.js';
import { LineWriter } from './lineWriter.js';
import type { ScoreSink, SinkOptions, WriteBytes } from './scoreColumns.js';

const CHUNK_BYTES = 1 << 20;

export async function openSink(write: WriteBytes, options: SinkOptions): Promise<ScoreSink> {
  const { format } = options;
  if (format === 'arrow') return (await import('./arrowSink.js')).openArrowSink(write, options);
  if (format === 'ndjson') {
    const lines = new LineWriter(options);
    const writeLines = async (job: Job): Promise<void> => {
      const text = lines.text(job);
      if (text !== '') await write(text);
    };
    return { write: writeLines, end: async () => undefined };
  }
  const { EngineSink } = await import('./engineSink.js');
  const table = await EngineSink.open(await options.engine(), { ...options, format });
  return {
    write: (job) => table.write(job),
    async end() {
      const path = await table.end();
      for await (const bytes of createReadStream(path, { highWaterMark: CHUNK_BYTES }))
        await write(bytes as Buffer);
      rmSync(path);
    },
  };
}
