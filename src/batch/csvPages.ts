import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { OperatorError } from '../base/operatorError.js';
import { UNPROCESSABLE } from '../contract/problems.js';
import { SERIES_ALIASES, SERIES_FIELDS, SESSION_SCALARS } from '#rules/fields.js';
import { BodyPages, type Body, type BodyPagesOptions } from './bodyPages.js';
import type { Page, Reading } from './page.js';

/** A CSV input that can't be read on. */
export class CsvError extends OperatorError {
  override readonly name = 'CsvError';
}

const SERIES = new Set<string>([...SERIES_FIELDS, ...Object.values(SERIES_ALIASES)]);
const SCALARS = new Set<string>(SESSION_SCALARS);
/** A number that JSON writes the same way. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const LIST_GAP = /[\s;|]+/;
const ROWS_PER_STEP = 64;

const WRONG_LENGTH: Body = {
  status: UNPROCESSABLE.status,
  detail: 'a row with more or fewer cells than the header',
};

/**
 * The pages of a CSV input: a header, then a session in each row. A series is a cell with a JSON array, or numbers
 * between spaces, semicolons or bars. An empty cell is no value.
 */
export async function* csvPages(
  input: AsyncIterable<Uint8Array>,
  reading: Reading,
  options: BodyPagesOptions,
): AsyncGenerator<Page, void, undefined> {
  const pages = new BodyPages(options);
  const { keep, history } = options;
  const others = new Set(history === undefined ? keep : [...keep, history.person, history.order]);
  let header: readonly string[] | undefined;
  let bodies: Body[] = [];
  for await (const cells of recordsOf(input, reading, options.bodyMaxBytes)) {
    if (header === undefined) {
      header = cells;
      checkHeader(header, history);
      continue;
    }
    bodies.push(cells.length === header.length ? bodyOf(header, cells, others) : WRONG_LENGTH);
    if (bodies.length < ROWS_PER_STEP) continue;
    yield* pages.of(bodies);
    bodies = [];
  }
  yield* pages.of(bodies);
}

async function* recordsOf(
  input: AsyncIterable<Uint8Array>,
  reading: Reading,
  rowBytesMax: number,
): AsyncGenerator<readonly string[], void, undefined> {
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of input) {
      reading.bytesRead += chunk.length;
      yield chunk;
    }
  };
  const source = Readable.from(counted(), { objectMode: false });
  const parser = parse({ bom: true, relax_column_count: true, max_record_size: rowBytesMax });
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const record of source.pipe(parser)) yield record as readonly string[];
  } catch (error) {
    throw isCsvError(error)
      ? new CsvError(`no CSV: ${error.code} in row ${Math.max(1, error.lines ?? 1)}`)
      : error;
  } finally {
    source.destroy();
  }
}

/** The library's own messages may quote a cell. */
function isCsvError(error: unknown): error is Error & { readonly code: string; readonly lines?: number } {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_');
}

function checkHeader(header: readonly string[], history: BodyPagesOptions['history']): void {
  if (!header.some((name) => SERIES.has(name) || SCALARS.has(name))) {
    throw new CsvError('no column is named as a field of a session');
  }
  for (const name of history === undefined ? [] : [history.person, history.order]) {
    if (!header.includes(name)) throw new CsvError(`there is no column ${JSON.stringify(name)}`);
  }
}

function bodyOf(header: readonly string[], cells: readonly string[], others: ReadonlySet<string>): Buffer {
  const session: string[] = [];
  let extras = '';
  for (const [index, name] of header.entries()) {
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    const key = JSON.stringify(name);
    if (SERIES.has(name)) session.push(`${key}:${listOf(cell)}`);
    else if (SCALARS.has(name)) session.push(`${key}:${valueOf(cell.trim())}`);
    if (others.has(name)) extras += `,${key}:${valueOf(cell)}`;
  }
  return Buffer.from(`{"current_session":{${session.join(',')}}${extras}}`);
}

function listOf(cell: string): string {
  const text = cell.trim();
  if (text.startsWith('[')) return text;
  return `[${text.split(LIST_GAP).map(valueOf).join(',')}]`;
}

function valueOf(text: string): string {
  return NUMBER.test(text) ? text : JSON.stringify(text);
}
