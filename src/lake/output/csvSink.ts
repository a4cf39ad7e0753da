/** Scores as CSV, page by page. */
import type { PageSink } from '../score/scorePages.js';
import { keptColumn, scoreColumns, writtenRows, type SinkOptions, type WriteBytes } from './scoreColumns.js';

export function openCsvSink(write: WriteBytes, options: SinkOptions): PageSink {
  const columns = [...options.keep.map(keptColumn), ...scoreColumns(options)];
  let text = `${columns.map(({ name }) => cellOf(name)).join()}\n`;
  const end = async (): Promise<void> => {
    if (text !== '') await write(text);
    text = '';
  };
  return {
    async write(job) {
      for (const row of writtenRows(job, options))
        text += `${columns.map(({ at }) => cellOf(at(job, row))).join()}\n`;
      await end();
    },
    end,
  };
}

/** An empty text has quotes, nothing has none. */
function cellOf(value: string | number | undefined): string {
  if (typeof value !== 'string') return String(value ?? '');
  return NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Some readers take a line that begins with # as a comment. */
const NEEDS_QUOTES = /^$|["#,\r\n]/;
