import {
  RecordBatchReader,
  Table,
  tableFromIPC,
  tableToIPC,
  type RecordBatch,
  type Schema,
} from 'apache-arrow';
import { OperatorError } from '../base/operatorError.js';
import type { SeriesLimits } from '../contract/request.js';
import { readRow, type ColumnReading, type SessionColumns } from '../pipeline/columns.js';
import { readerOf } from '../pipeline/read.js';
import { WasmParser } from '../pipeline/wasmParser.js';
import type { RowColumns } from './bodyPages.js';
import type { Page } from './page.js';
import { isKnown, sessionColumns } from './tableColumns.js';

/** A table that can't be scored as it is. */
export class TableError extends OperatorError {
  override readonly name = 'TableError';
}

export interface TablePagesOptions extends RowColumns {
  readonly limits: SeriesLimits;
}

/** The pages of a table, one for each of its record batches. */
export async function* tablePages(
  batches: AsyncIterable<RecordBatch>,
  options: TablePagesOptions,
): AsyncGenerator<Page, void, undefined> {
  const parser = new WasmParser(options.limits);
  const reading = { parser, limits: options.limits, readRequest: readerOf(parser, options.limits) };
  let rowsBefore = 0;
  for await (const batch of batches) {
    if (rowsBefore === 0) checkColumns(batch.schema, options);
    yield new TablePage(batch, rowsBefore + 1, reading, options);
    rowsBefore += batch.numRows;
  }
}

/** The record batches of an Arrow stream. */
export async function* arrowBatches(
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<RecordBatch, void, undefined> {
  const reader = await RecordBatchReader.from(input);
  await reader.open();
  for await (const batch of reader) yield batch;
}

function checkColumns({ fields }: Schema, { history }: RowColumns): void {
  const names = fields.map(({ name }) => name);
  for (const name of ['past_sessions', 'past_targets', 'past_target', 'current_session']) {
    if (names.includes(name)) {
      throw new TableError(
        `the column ${name}: a row of a table is one session, a column for each field; --person gives it its past`,
      );
    }
  }
  if (!names.some(isKnown)) throw new TableError('no column is named as a field of a session');
  for (const name of history === undefined ? [] : [history.person, history.order]) {
    if (!names.includes(name)) throw new TableError(`there is no column ${JSON.stringify(name)}`);
  }
}

class TablePage implements Page {
  readonly rows: number;
  readonly keptColumns: RecordBatch | undefined;
  private open: OpenBatch | undefined;

  constructor(
    batch: RecordBatch,
    readonly firstRow: number,
    private readonly reading: ColumnReading,
    { history, keep }: RowColumns,
  ) {
    this.rows = batch.numRows;
    this.open = {
      columns: sessionColumns(batch),
      people: valuesOf(batch, history?.person),
      moments: valuesOf(batch, history?.order),
    };
    this.keptColumns = keptOf(batch, keep);
  }

  read(row: number): ReturnType<Page['read']> {
    if (this.open === undefined) throw new Error('a row of a closed page');
    return readRow(this.open.columns, row, this.reading);
  }

  kept(name: string, row: number): string | undefined {
    const value: unknown = this.keptColumns?.getChild(name)?.get(row);
    return value === undefined ? undefined : jsonOf(value);
  }

  person(row: number): string | number | bigint | null | undefined {
    return this.open?.people?.(row) as string | number | bigint | null | undefined;
  }

  moment(row: number): string | number | null | undefined {
    const value = this.open?.moments?.(row);
    if (value instanceof Date) return value.getTime();
    return typeof value === 'bigint' ? Number(value) : (value as string | number | null | undefined);
  }

  close(): void {
    this.open = undefined;
  }
}

/** What reading needs of a batch. */
interface OpenBatch {
  readonly columns: SessionColumns;
  readonly people: ((row: number) => unknown) | undefined;
  readonly moments: ((row: number) => unknown) | undefined;
}

function valuesOf(batch: RecordBatch, name: string | undefined): ((row: number) => unknown) | undefined {
  const vector = name === undefined ? undefined : batch.getChild(name);
  return vector === undefined || vector === null ? undefined : (row) => vector.get(row) as unknown;
}

/** A copy of the kept columns alone: the batch itself is held by its samples, which are many times as large. */
function keptOf(batch: RecordBatch, keep: readonly string[]): RecordBatch | undefined {
  const places = keep
    .map((name) => batch.schema.fields.findIndex((field) => field.name === name))
    .filter((place) => place >= 0);
  if (places.length === 0) return undefined;
  // By place: chosen by name, columns that are not the first ones are lost on the way.
  return tableFromIPC(tableToIPC(new Table([batch.selectAt(places)]), 'stream')).batches[0];
}

/** A value of a column as JSON; whole numbers of 64 bits keep their digits. */
function jsonOf(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  return (
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner)) ??
    'null'
  );
}
