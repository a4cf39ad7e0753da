import {
  Binary,
  DataType,
  RecordBatchReader,
  Utf8,
  Vector,
  makeData,
  vectorFromArray,
  type Data,
  type Decimal,
  type Field,
  type RecordBatch,
} from 'apache-arrow';
import type { SeriesLimits } from '#rules/fields.js';
import { ColumnReader } from '../reading/columns.js';
import { batchOf, columnsOf } from './arrowWriter.js';
import { FormatError, readingError } from './errors.js';
import { namesBeside, type RowColumns } from './names.js';
import { tablePage, type BesideColumns, type OpenInput, type Page } from './page.js';
import {
  namesOfColumns,
  sessionColumns,
  sessionFields,
  trimmedCell,
  type Kind,
  type SessionField,
  type TableColumn,
} from './tableColumns.js';
import { dateIn } from './zonedDate.js';

/** Most rows read together: their samples fit the caches. */
const ROWS_MAX = 1024;
/** The first bytes of Arrow's file format; a stream starts differently. */
const FILE_MARK = Buffer.from('ARROW1');
const WHAT = 'the Arrow stream';

/** Opens an Arrow stream. */
export async function openArrow(input: AsyncIterable<Uint8Array>, limits: SeriesLimits): Promise<OpenInput> {
  try {
    const reader = await RecordBatchReader.from(unlessFile(input));
    await reader.open();
    const { schema } = reader;
    const names = namesOfColumns(schema.fields.map(columnOf));
    return {
      names,
      keptColumns: ({ keep }) => plainColumns(emptyBatch(schema.fields), keep),
      async *pages(columns) {
        try {
          yield* arrowPages(reader, columns, limits);
        } catch (error) {
          throw readingError(error, WHAT);
        }
      },
      close: () => reader.cancel(),
    };
  } catch (error) {
    throw readingError(error, WHAT);
  }
}

function emptyBatch(fields: readonly Field[]): RecordBatch {
  return batchOf(
    fields.map((field) => ({ field, data: makeData({ type: field.type as DataType }) })),
    0,
  );
}

/** @throws FormatError for the file format: it is read from its end */
async function* unlessFile(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let first: Uint8Array | undefined = Buffer.alloc(0);
  for await (const chunk of input) {
    if (first === undefined) yield chunk;
    else {
      first = Buffer.concat([first, chunk]);
      if (first.length < FILE_MARK.length) continue;
      if (FILE_MARK.equals(first.subarray(0, FILE_MARK.length)))
        throw new FormatError(
          "Arrow's file format is read from its end: make Parquet of it, or pipe a stream",
        );
      yield first;
      first = undefined;
    }
  }
  if (first !== undefined && first.length > 0) yield first;
}

function columnOf({ name, type }: Field): TableColumn {
  return { name, kind: kindOf(type as DataType), typeName: String(type) };
}

const KINDS: readonly (readonly [Kind, (type: DataType) => boolean])[] = [
  ['whole', (type) => DataType.isInt(type)],
  ['float', (type) => DataType.isFloat(type)],
  ['decimal', (type) => DataType.isDecimal(type)],
  ['text', (type) => DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type)],
  ['date', (type) => DataType.isDate(type)],
  ['time', (type) => DataType.isTimestamp(type)],
  ['null', (type) => DataType.isNull(type)],
];

function kindOf(type: DataType): Kind {
  if (DataType.isDictionary(type)) return kindOf(type.dictionary as DataType);
  if (isList(type)) {
    const [items] = type.children as Field[];
    const inner = items === undefined ? 'other' : kindOf(items.type as DataType);
    return ['whole', 'float', 'decimal', 'null'].includes(inner) ? 'numbers' : 'other';
  }
  return KINDS.find(([, isIt]) => isIt(type))?.[0] ?? 'other';
}

function isList(type: DataType): boolean {
  return DataType.isList(type) || DataType.isLargeList(type) || DataType.isFixedSizeList(type);
}

async function* arrowPages(
  reader: AsyncIterable<RecordBatch>,
  columns: RowColumns,
  limits: SeriesLimits,
): AsyncGenerator<Page, void, undefined> {
  const rows = new ColumnReader(limits);
  let before = 0;
  for await (const batch of reader) {
    const problems = new Map();
    const session = sessionColumns(
      sessionFields(batch.schema.fields.map(columnOf)).map((field) => fieldIn(batch, field)),
      problems,
    );
    const others = plainColumns(batch, namesBeside(columns));
    for (let first = 0; first < batch.numRows; first += ROWS_MAX) {
      const last = Math.min(first + ROWS_MAX, batch.numRows);
      const beside = besideIn(others?.slice(first, last), columns, before + first + 1);
      yield tablePage(last - first, rows.read(session, first, last), beside, columns.measured);
    }
    before += batch.numRows;
  }
}

type Values = (row: number) => unknown;

/** A column as plain numbers, or as texts. */
function fieldIn(
  batch: RecordBatch,
  { name, field, isSeries, kind }: TableColumn & { readonly field: string; readonly isSeries: boolean },
): SessionField {
  const vector = batch.getChild(name);
  if (vector === null) throw new Error('no such column');
  const [data] = vector.data;
  const isNull = data === undefined || vector.data.length > 1 ? nullsOf(vector) : nullsIn(data);
  if (kind === 'text')
    return {
      field,
      isCell: false,
      texts: (row) => {
        const value: unknown = vector.get(row);
        return typeof value === 'string' ? Buffer.from(value).toString('latin1') : undefined;
      },
    };
  if (!isSeries)
    return { field, numbers: plainNumbers(data) ?? Float64Array.from(vector, numberOf(vector.type)), isNull };
  return { field, isNull, ...(plainLists(data, isNull) ?? listsOf(vector)) };
}

type Numbers = Float64Array | Float32Array | Int32Array;

/** Numbers that JavaScript represents directly, without nulls among them; undefined for others. */
function plainNumbers(data: Data | undefined): Numbers | undefined {
  const type = data?.type as DataType | undefined;
  const isFloat = DataType.isFloat(type) && type.precision > 0; // half floats are not read as numbers here
  const isWhole = DataType.isInt(type) && type.bitWidth < 64;
  return isFloat || isWhole ? (data?.values as Numbers) : undefined;
}

type Lists = Pick<Extract<SessionField, { starts: unknown }>, 'values' | 'starts' | 'ends'>;

function plainLists(data: Data | undefined, isNull: (row: number) => boolean): Lists | undefined {
  const [items] = data?.children ?? [];
  const values = items === undefined || items.nullCount > 0 ? undefined : plainNumbers(items);
  if (data === undefined || values === undefined || !isList(data.type as DataType)) return undefined;
  const starts = new Float64Array(data.length);
  const ends = new Float64Array(data.length);
  const size = DataType.isFixedSizeList(data.type) ? data.type.listSize : undefined;
  const offsets = data.valueOffsets as Int32Array | BigInt64Array;
  for (let row = 0; row < data.length; row++) {
    starts[row] = size === undefined ? Number(offsets[row]) : row * size;
    if (isNull(row)) ends[row] = starts[row] ?? 0;
    else ends[row] = size === undefined ? Number(offsets[row + 1]) : (row + 1) * size;
  }
  return { values, starts, ends };
}

/** Lists of any numbers, a value at a time. */
function listsOf(vector: Vector): Lists {
  const [starts, ends, values]: [number[], number[], number[]] = [[], [], []];
  const inner = (vector.type.children as Field[] | null)?.[0]?.type as DataType | undefined;
  const toNumber = numberOf(inner);
  for (const list of vector as Iterable<Iterable<unknown> | null>) {
    starts.push(values.length);
    for (const item of list ?? []) values.push(toNumber(item));
    ends.push(values.length);
  }
  return { values: Float64Array.from(values), starts, ends };
}

function numberOf(type: unknown): (value: unknown) => number {
  return (value) => {
    if (value === null || value === undefined) return NaN;
    return Number(value instanceof Uint32Array && DataType.isDecimal(type) ? decimalOf(value, type) : value);
  };
}

/** A decimal as text; `words` are its digits without the point, lowest word first. */
function decimalOf(words: Uint32Array, { scale, bitWidth }: Decimal): string {
  const digits = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return `${BigInt.asIntN(bitWidth, digits)}e${-scale}`;
}

function nullsOf(vector: Vector): (row: number) => boolean {
  return (row) => vector.get(row) === null;
}

function nullsIn({ nullCount, nullBitmap, offset }: Data): (row: number) => boolean {
  if (nullCount === 0) return () => false;
  return (row) => (((nullBitmap[(offset + row) >> 3] ?? 0) >> ((offset + row) & 7)) & 1) === 0;
}

function besideIn(
  batch: RecordBatch | undefined,
  { keep, history, measured = [] }: RowColumns,
  first: number,
): BesideColumns {
  const column = (name: string | undefined): Vector | undefined =>
    (name === undefined ? undefined : batch?.getChild(name)) ?? undefined;
  const kept = new Map(keep.map((name) => [name, column(name)]));
  const people = column(history?.person);
  const momentAt = momentsOf(column(history?.order));
  const cells = new Map(namesBeside({ keep: [], measured }).map((name) => [name, column(name)]));
  return {
    keptColumns: batch && chosen(batch, keep),
    numberOf: (row) => first + row,
    kept(name, row) {
      const values = kept.get(name);
      return values === undefined ? undefined : jsonOf(values.get(row), values.type as DataType);
    },
    person(row) {
      const value: unknown = people?.get(row);
      return value === null || value === undefined ? undefined : String(value);
    },
    moment: (row) => momentAt(row) as ReturnType<Page['moment']>,
    cell(name, row) {
      const values = cells.get(name);
      const value: unknown = values?.get(row);
      return typeof value === 'string' || value === null ? trimmedCell(value) : numberOf(values?.type)(value);
    },
  };
}

/** Times of a column with a time zone as their dates in that zone. */
function momentsOf(vector: Vector | undefined): Values {
  const type = vector?.type as DataType | undefined;
  const zone = DataType.isTimestamp(type) ? type.timezone : undefined;
  const print = zone === undefined || zone === null ? undefined : dateIn(zone);
  return (row) => {
    const value: unknown = vector?.get(row);
    if (value === null || value === undefined || typeof value === 'string') return value;
    return print === undefined ? Number(value) : print(Number(value));
  };
}

/** A value of a column as JSON; 64-bit integers keep their digits. */
function jsonOf(value: unknown, type: DataType): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint32Array && DataType.isDecimal(type)) return String(Number(decimalOf(value, type)));
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('hex'));
  const plain = (_: string, inner: unknown): unknown => (typeof inner === 'bigint' ? String(inner) : inner);
  return JSON.stringify(value, plain) ?? 'null';
}

/** Selects by index: the library's selection by name loses columns other than the first ones. */
function chosen(batch: RecordBatch, names: readonly string[]): RecordBatch | undefined {
  const places = names
    .map((name) => batch.schema.fields.findIndex((field) => field.name === name))
    .filter((place) => place >= 0);
  return places.length === 0 ? undefined : batch.selectAt(places);
}

/**
 * The columns in forms that can be cut into pieces and written: dictionaries become values, since a file may not have
 * two of them; texts and bytes in views become contiguous, since the Arrow library cuts views at the wrong place.
 */
function plainColumns(batch: RecordBatch, names: readonly string[]): RecordBatch | undefined {
  const own = chosen(batch, names);
  if (own === undefined) return undefined;
  const columns = columnsOf(own).map(({ field, data }) => {
    const type = plainType(data.type as DataType);
    const plain =
      type === data.type ? data : (vectorFromArray([...new Vector([data])], type).data[0] ?? data);
    return { field: field.clone({ type: plain.type }), data: plain };
  });
  return batchOf(columns, batch.numRows);
}

function plainType(type: DataType): DataType {
  if (DataType.isUtf8View(type)) return new Utf8();
  if (DataType.isBinaryView(type)) return new Binary();
  if (!DataType.isDictionary(type)) return type;
  const inner = type.dictionary as DataType;
  return DataType.isLargeUtf8(inner) ? new Utf8() : plainType(inner);
}
