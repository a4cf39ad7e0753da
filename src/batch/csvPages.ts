import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { OperatorError } from '../base/operatorError.js';
import { UNPROCESSABLE } from '../contract/problems.js';
import { BodyPages, type Body, type BodyPagesOptions } from './bodyPages.js';
import { SERIES_NAMES, fieldOf } from './columnNames.js';
import type { OpenInput, Page, ReadProgress, RowProblem } from './page.js';
import { namesBeside, type RowColumns } from './rowColumns.js';

/** A CSV input that can't be read further. */
export class CsvError extends OperatorError {
  override readonly name = 'CsvError';
}

/** A number in JSON's notation. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const LIST_GAP = /[\s;|]+/;
/** An array that ends where the cell ends, recognised without decoding: no nested brackets, no text. */
const PLAIN_ARRAY = /^\[[^[\]{}"]*\]$/;
const ROWS_PER_STEP = 64;

const WRONG_LENGTH: RowProblem = {
  status: UNPROCESSABLE.status,
  detail: 'a row with more or fewer cells than the header',
};

function notAList(name: string): RowProblem {
  const detail = `the cell of ${name} begins as a JSON array, and is not one whole array`;
  return { status: UNPROCESSABLE.status, detail };
}

/**
 * Opens a CSV input: a header, then one session per row. A series is a cell with a JSON array, or numbers separated
 * by spaces, semicolons or bars. An empty cell is a missing value.
 */
export async function openCsv(
  input: AsyncIterable<Uint8Array>,
  reading: ReadProgress,
  options: BodyPagesOptions,
): Promise<OpenInput> {
  const records = recordsOf(input, reading, options.bodyMaxBytes);
  const first = await records.next();
  const header = first.done === true ? [] : first.value.cells;
  const kinds = { request: [], session: header, target: [], measurement: [] };
  return {
    names: first.done === true ? undefined : { thing: 'column', kinds, beside: header },
    pages: (columns) => csvPages(header, records, new BodyPages(options, columns), columns),
    close: async () => void (await records.return()),
  };
}

async function* csvPages(
  header: readonly string[],
  records: AsyncIterable<CsvRecord>,
  pages: BodyPages,
  wanted: RowColumns,
): AsyncGenerator<Page, void, undefined> {
  const { names, partitions = [] } = wanted;
  const beside = new Set(namesBeside(wanted));
  const own = header.map((name) => ({
    name: beside.has(name) ? name : undefined,
    field: fieldOf(name, names),
  }));
  // Values beside the session come from the path, through the pages.
  const ofPath = partitions.map(({ name }) => ({ name: undefined, field: fieldOf(name, names) }));
  const columns = [...own, ...ofPath];
  const values = partitions.map(({ value }) => value ?? '');
  const columnOf = new Map(
    own.flatMap(({ field }, index) => (field === undefined ? [] : [[field, header[index] ?? field]])),
  );
  let bodies: Body[] = [];
  for await (const { cells, line } of records) {
    const isWhole = cells.length === header.length;
    const body = isWhole ? bodyOf(columns, [...cells, ...values]) : { content: WRONG_LENGTH };
    bodies.push({ ...body, origin: { line, columns: columnOf } });
    if (bodies.length < ROWS_PER_STEP) continue;
    yield* pages.of(bodies);
    bodies = [];
  }
  yield* pages.of(bodies);
}

interface CsvRecord {
  readonly cells: readonly string[];
  /** Its first line, from 1 on: a cell in quotes may have several. */
  readonly line: number;
}

async function* recordsOf(
  input: AsyncIterable<Uint8Array>,
  reading: ReadProgress,
  rowBytesMax: number,
): AsyncGenerator<CsvRecord, void, undefined> {
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
    let line = 1;
    for await (const parsed of source.pipe(parser)) {
      const cells = parsed as readonly string[];
      yield { cells, line };
      line += 1 + breaksIn(cells);
    }
  } catch (error) {
    throw isCsvError(error)
      ? new CsvError(`no CSV: ${error.code} in line ${Math.max(1, error.lines ?? 1)}`)
      : error;
  } finally {
    source.destroy();
  }
}

/** Line breaks within cells. (The parser's own count, its option `info`, takes a fifth of a run of short rows.) */
function breaksIn(cells: readonly string[]): number {
  let count = 0;
  for (const cell of cells) {
    for (let at = cell.indexOf('\n'); at !== -1; at = cell.indexOf('\n', at + 1)) count++;
  }
  return count;
}

/** The library's own messages may quote a cell. */
function isCsvError(error: unknown): error is Error & { readonly code: string; readonly lines?: number } {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_');
}

/** The role of a column: kept by its name, a session field, or both. */
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

/** Undefined if the cell is not one whole array: the text after it would become fields of the session. */
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
