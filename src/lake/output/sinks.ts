import { openCsvSink } from './csvSink.js';
import { LineWriter } from './lineWriter.js';
import type { SinkOptions, WriteBytes } from './scoreColumns.js';
import type { PageSink } from '../score/scorePages.js';

/** Opens the sink of a format; libraries are loaded when they are needed. */
export async function openSink(write: WriteBytes, options: SinkOptions): Promise<PageSink> {
  const { format } = options;
  if (format === 'arrow') return (await import('./arrowSink.js')).openArrowSink(write, options);
  if (format === 'parquet') return (await import('./engineSink.js')).openEngineSink(write, options);
  if (format === 'csv') return openCsvSink(write, options);
  const lines = new LineWriter(options);
  return {
    async write(job) {
      const text = lines.text(job);
      if (text !== '') await write(text);
    },
  };
}
