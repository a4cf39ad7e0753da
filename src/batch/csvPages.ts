import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { OperatorError } from '../base/operatorError.js';
import { UNPROCESSABLE } from '../contract/problems.js';
import { BodyPages, type Body, type BodyPagesOptions } from './bodyPages.js';
import { SERIES_NAMES, fieldOf } from './columnNames.js';
import type { OpenInput, Page, ReadProgress, RowProblem } from './page.js';
import { namesBeside, type RowColumns } from './rowColumns.js';

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
 * Opens a CSV input: a header, then a session in each row. A series is a cell with a JSON array, or numbers between
 * spaces, semicolons or bars. An empty cell is no value.
 */
export async function openCsv(
  input: AsyncIterable<Uint8Array>,
  reading: ReadProgress,
  options: BodyPagesOptions,
): Promise<OpenInput> {
  const records = recordsOf(input, reading, options.bodyMaxBytes);
  const first = await records.next();
  const header = first.done === true ? [] : first.value;
  const kinds = { request: [], session: header, target: [], measurement: [] };
  return {
    names: first.done === true ? undefined : { thing: 'column', kinds, beside: header },
    pages: (columns) => csvPages(header, records, new BodyPages(options, columns), columns),
    close: async () => void (await records.return()),
  };
}

async function* csvPages(
  header: readonly string[],
  records: AsyncIterable<readonly string[]>,
  pages: BodyPages,
  wanted: RowColumns,
): AsyncGenerator<Page, void, undefined> {
  const { names, partitions = [] } = wanted;
  const beside = new Set(namesBeside(wanted));
  const own = header.map((name) => ({
    name: beside.has(name) ? name : undefined,
    field: fieldOf(name, names),
  }));
  // Beside the session pages have them by themselves.
  const ofPath = partitions.map(({ name }) => ({ name: undefined, field: fieldOf(name, names) }));
  const columns = [...own, ...ofPath];
  const values = partitions.map(({ value }) => value ?? '');
  let bodies: Body[] = [];
  for await (const cells of records) {
    bodies.push(cells.length === header.length ? bodyOf(columns, [...cells, ...values]) : WRONG_LENGTH);
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

/** What a column is: kept by its name, a field of a session, or both. */
interface CsvColumn {
  readonly name: string | undefined;
  readonly field: string | undefined;
}

function bodyOf(columns: readonly CsvColumn[], cells: readonly string[]): Body {
  const session: string[] = [];
  const beside = new Map<string, string>();
  let problem: RowProblem | undefined;
  for (const [index, { name, field }] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    if (name !== undefined) beside.set(name, valueOf(cell));
    if (field === undefined) continue;
    const value = SERIES_NAMES.has(field) ? listOf(cell) : valueOf(cell.trim());
    if (value === undefined) problem ??= notAList(field);
    else session.push(`"${field}":${value}`);
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
