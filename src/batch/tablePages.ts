import { SERIES_FIELDS, type SeriesLimits } from '#rules/fields.js';
import { DataType, RecordBatchReader, type RecordBatch } from 'apache-arrow';
import type { QualifiedRequest } from '../pipeline/quality.js';
import { LAYOUT } from '../records/layout.js';
import { decimalOf } from './tableDecimals.js';
import type { OpenInput, Page, ReadProgress } from './page.js';
import { measuredCells } from './measuredCells.js';
import type { MeasuredColumn } from './measuredColumns.js';
import { namesBeside, type RowColumns } from './rowColumns.js';
import { isUtc, printerIn } from './zonedTime.js';
import { readingError } from './tableError.js';
import { emptyColumns, namesOfSchema } from './tableNames.js';
import type { TableReaders, TableTask } from './tableReaders.js';
import { columnsOf, TableRowReader, type TableOptions, type TableRows } from './tableRows.js';

/** Opens a table file, which dedicated threads read. */
export async function openTable(
  { path, format }: Pick<TableTask, 'path' | 'format'>,
  reading: ReadProgress,
  { tables, limits }: { readonly tables: TableReaders; readonly limits: SeriesLimits },
): Promise<OpenInput> {
  const schema = await tables.schema({ path, format });
  return {
    names: namesOfSchema(schema),
    keptColumns: (columns) => emptyColumns(schema, columns),
    pages: (columns) =>
      tablePages(tables.rows({ path, format, options: { limits, ...columns } }), reading, columns),
    close: async () => undefined,
  };
}

/** Opens an Arrow stream, which this thread reads. */
export async function openArrowStream(
  input: AsyncIterable<Uint8Array>,
  reading: ReadProgress,
  limits: SeriesLimits,
): Promise<OpenInput> {
  const reader = await openedReader(input);
  return {
    names: namesOfSchema(reader.schema),
    keptColumns: (columns) => emptyColumns(reader.schema, columns),
    pages: (columns) => tablePages(streamRows(reader, { limits, ...columns }), reading, columns),
    close: async () => void (await reader.cancel()),
  };
}

async function openedReader(input: AsyncIterable<Uint8Array>): Promise<RecordBatchReader> {
  try {
    const reader = await RecordBatchReader.from(input);
    return await reader.open();
  } catch (error) {
    throw readingError(error, STREAM);
  }
}

const STREAM = 'the Arrow stream';

/** The pages of a table, as its rows arrive. */
async function* tablePages(
  pieces: AsyncIterable<TableRows>,
  reading: ReadProgress,
  options: RowColumns,
): AsyncGenerator<Page, void, undefined> {
  let rowsBefore = 0;
  for await (const piece of pieces) {
    reading.bytesRead += piece.bytesRead;
    yield new TablePage(piece, rowsBefore + 1, options);
    rowsBefore += piece.rows;
  }
}

async function* streamRows(
  reader: RecordBatchReader,
  options: TableOptions,
): AsyncGenerator<TableRows, void, undefined> {
  const rows = new TableRowReader(options);
  try {
    for await (const batch of reader) yield* rows.read({ batch, bytesRead: 0 });
  } catch (error) {
    throw readingError(error, STREAM);
  }
}

const { RECORD_LENGTH } = LAYOUT;
const SERIES = SERIES_FIELDS.length;
const NO_TARGETS = new Float64Array(0);

class TablePage implements Page {
  readonly rows: number;
  readonly keptColumns: RecordBatch | undefined;
  private readonly people: Values | undefined;
  private readonly moments: Values | undefined;
  private readonly measurements: readonly MeasuredColumn[];
  private readonly cells: ReadonlyMap<string, Values | undefined>;
  private records: Float64Array;
  private readonly lengths: Uint32Array;
  private readonly problems: TableRows['problems'];
  private readonly request: QualifiedRequest = {
    records: new Float64Array(RECORD_LENGTH),
    targets: NO_TARGETS,
    lengths: new Uint32Array(SERIES),
    pastCount: 0,
  };

  constructor(
    { rows, records, lengths, problems, columns }: TableRows,
    readonly firstRow: number,
    { keep, history, measured = [] }: RowColumns,
  ) {
    this.rows = rows;
    this.records = records;
    this.lengths = lengths;
    this.problems = problems;
    const beside = columnsOf(columns);
    const kept =
      beside?.schema.fields.flatMap(({ name }, place) => (keep.includes(name) ? [place] : [])) ?? [];
    this.keptColumns = kept.length === 0 ? undefined : beside?.selectAt(kept);
    this.people = valuesOf(beside, history?.person);
    this.moments = momentsOf(beside, history?.order);
    this.measurements = measured;
    this.cells = new Map(namesBeside({ keep: [], measured }).map((name) => [name, cellsOf(beside, name)]));
  }

  read(row: number): ReturnType<Page['read']> {
    const problem = this.problems.get(row);
    if (problem !== undefined) return problem;
    const { records, lengths } = this.request;
    const first = row * RECORD_LENGTH;
    // Creating a view for each row would cost more.
    for (let place = 0; place < RECORD_LENGTH; place++) records[place] = this.records[first + place] ?? NaN;
    for (let place = 0; place < SERIES; place++) lengths[place] = this.lengths[row * SERIES + place] ?? 0;
    return this.request;
  }

  kept(name: string, row: number): string | undefined {
    const column = this.keptColumns?.getChild(name);
    const value: unknown = column?.get(row);
    if (value === undefined) return undefined;
    const type = column?.type;
    if (DataType.isDecimal(type) && value instanceof Uint32Array) return jsonOf(decimalOf(value, type));
    return jsonOf(value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value);
  }

  person(row: number): string | number | bigint | null | undefined {
    return this.people?.(row) as string | number | bigint | null | undefined;
  }

  moment(row: number): string | number | null | undefined {
    const value = this.moments?.(row);
    if (value instanceof Date) return value.getTime();
    return typeof value === 'bigint' ? Number(value) : (value as string | number | null | undefined);
  }

  measured(row: number): ReturnType<Page['measured']> {
    return measuredCells(this.measurements, (name) => this.cells.get(name)?.(row));
  }

  close(): void {
    this.records = NO_TARGETS;
  }
}

type Values = (row: number) => unknown;

function valuesOf(batch: RecordBatch | undefined, name: string | undefined): Values | undefined {
  const vector = name === undefined ? undefined : batch?.getChild(name);
  return vector === undefined || vector === null ? undefined : (row) => vector.get(row) as unknown;
}

/** Numbers and texts, of any type. */
function cellsOf(batch: RecordBatch | undefined, name: string): Values | undefined {
  const values = valuesOf(batch, name);
  const type = batch?.schema.fields.find((field) => field.name === name)?.type as DataType | undefined;
  if (values === undefined) return undefined;
  return (row) => {
    const value = values(row);
    if (typeof value === 'bigint') return Number(value);
    return DataType.isDecimal(type) && value instanceof Uint32Array ? decimalOf(value, type) : value;
  };
}

/** Times of a column with a time zone, printed in that zone. */
function momentsOf(batch: RecordBatch | undefined, name: string | undefined): Values | undefined {
  const values = valuesOf(batch, name);
  const type = batch?.schema.fields.find((field) => field.name === name)?.type as DataType | undefined;
  const zone = DataType.isTimestamp(type) ? type.timezone : undefined;
  if (values === undefined || zone === undefined || zone === null || isUtc(zone)) return values;
  const print = printerIn(zone);
  return (row) => {
    const value = values(row);
    return value === null || value === undefined ? value : print(Number(value));
  };
}

/** A value of a column as JSON; 64-bit integers keep their digits. */
function jsonOf(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  return (
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner)) ??
    'null'
  );
}
