import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { OperatorError } from '../base/operatorError.js';
import { UNPROCESSABLE } from '../contract/problems.js';
import { BodyPages, namesBeside, type Body, type BodyPagesOptions, type RowColumns } from './bodyPages.js';
import { SERIES_NAMES, columnsProblem, isKnown } from './columnNames.js';
import type { Page, ReadProgress, RowProblem } from './page.js';

/** A CSV input that can't be read on. */
export class CsvError extends OperatorError {
  override readonly name = 'CsvError';
}

/** A number that JSON writes the same way. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const LIST_GAP = /[\s;|]+/;
/** An array that ends where the cell does, told without decoding it: it has but its own brackets, and no text. */
const PLAIN_ARRAY = /^\[[^[\]{}"]*\]$/;
const ROWS_PER_STEP = 64;

const WRONG_LENGTH: Body = {
  content: { status: UNPROCESSABLE.status, detail: 'a row with more or fewer cells than the header' },
};

function notAList(name: string): RowProblem {
  const detail = `the cell of ${name} begins as a JSON array, and is not one whole array`;
  return { status: UNPROCESSABLE.status, detail };
}

/**
 * The pages of a CSV input: a header, then a session in each row. A series is a cell with a JSON array, or numbers
 * between spaces, semicolons or bars. An empty cell is no value.
 */
export async function* csvPages(
  input: AsyncIterable<Uint8Array>,
  reading: ReadProgress,
  options: BodyPagesOptions,
): AsyncGenerator<Page, void, undefined> {
  const pages = new BodyPages(options);
  const names = new Set(namesBeside(options));
  let header: readonly string[] | undefined;
  let bodies: Body[] = [];
  for await (const cells of recordsOf(input, reading, options.bodyMaxBytes)) {
    if (header === undefined) {
      header = cells;
      checkHeader(header, options);
      continue;
    }
    bodies.push(cells.length === header.length ? bodyOf(header, cells, names) : WRONG_LENGTH);
    if (bodies.length < ROWS_PER_STEP) continue;
    yield* pages.of(bodies);
    bodies = [];
  }
  yield* pages.of(bodies);
}

async function* recordsOf(
  input: AsyncIterable<Uint8Array>,
  reading: ReadProgress,
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

function checkHeader(header: readonly string[], columns: RowColumns): void {
  const problem = columnsProblem(header, columns);
  if (problem !== undefined) throw new CsvError(problem);
}

function bodyOf(header: readonly string[], cells: readonly string[], names: ReadonlySet<string>): Body {
  const session: string[] = [];
  const beside = new Map<string, string>();
  let problem: RowProblem | undefined;
  for (const [index, name] of header.entries()) {
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    if (names.has(name)) beside.set(name, valueOf(cell));
    if (!isKnown(name)) continue;
    const value = SERIES_NAMES.has(name) ? listOf(cell) : valueOf(cell.trim());
    if (value === undefined) problem ??= notAList(name);
    else session.push(`"${name}":${value}`);
  }
  return { content: problem ?? Buffer.from(`{"current_session":{${session.join(',')}}}`), beside };
}

/** Undefined where the cell is no whole array: what stands after it would become fields of the session. */
function listOf(cell: string): string | undefined {
  const text = cell.trim();
  if (!text.startsWith('[')) return `[${text.split(LIST_GAP).map(valueOf).join(',')}]`;
  return PLAIN_ARRAY.test(text) || isArray(text) ? text : undefined;
}

function isArray(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text));
  } catch {
    return false;
  }
}

function valueOf(text: string): string {
  return NUMBER.test(text) ? text : JSON.stringify(text);
}
