import { csvLines } from './csvLines.js';
import { jsonLines } from './jsonLines.js';
import { writtenRows, type SinkOptions, type WriteBytes } from './scoreColumns.js';
import type { PageSink } from '../score/scorePages.js';

/** Opens the sink of a format; libraries are loaded when they are needed. */
export async function openSink(write: WriteBytes, options: SinkOptions): Promise<PageSink> {
  const { format } = options;
  if (format === 'arrow') return (await import('./arrowSink.js')).openArrowSink(write, options);
  if (format === 'parquet') return (await import('./engineSink.js')).openEngineSink(write, options);
  const { head, lineOf } = format === 'csv' ? csvLines(options) : jsonLines(options);
  let text = head;
  const end = async (): Promise<void> => {
    if (text !== '') await write(text);
    text = '';
  };
  return {
    async write(job) {
      for (const row of writtenRows(job, options)) text += lineOf(job, row);
      await end();
    },
    end,
  };
}
