/** Scores as lines of CSV. */
import type { Job } from '../score/job.js';
import { keptColumn, scoreColumns, type SinkOptions } from './scoreColumns.js';

export function csvLines(options: SinkOptions) {
  const columns = [...options.keep.map(keptColumn), ...scoreColumns(options)];
  return {
    head: `${columns.map(({ name }) => cellOf(name)).join()}\n`,
    lineOf: (job: Job, row: number) => `${columns.map(({ at }) => cellOf(at(job, row))).join()}\n`,
  };
}

/** An empty text has quotes, nothing has none. */
function cellOf(value: string | number | undefined): string {
  if (typeof value !== 'string') return String(value ?? '');
  return NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Some readers take a line that begins with # as a comment. */
const NEEDS_QUOTES = /^$|["#,\r\n]/;
