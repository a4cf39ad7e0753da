/** Pages of rows from Arrow streams. */
import { isUtf8 } from 'node:buffer';
import {
  Binary,
  BinaryView,
  DataType,
  Int64,
  LargeBinary,
  Null,
  RecordBatchReader,
  Utf8,
  Vector,
  makeData,
  vectorFromArray,
  type Data,
  type Decimal,
  type Dictionary,
  type Field,
  type List,
  type RecordBatch,
} from 'apache-arrow';
import type { SeriesLimits } from '#rules/fields.js';
import { dayAt } from '../../base/days.js';
import { ColumnReader } from '../../read/columns.js';
import { batchOf } from '../output/arrowSink.js';
import { TableError, readingError } from '../errors.js';
import { namesBeside, type RowColumns } from './names.js';
import { dateIn } from '../score/night.js';
import { tablePage, type ArrowColumn, type BesideColumns, type OpenInput, type Page } from './page.js';
import {
  kindOf,
  listField,
  namesOfColumns,
  numberField,
  problemsIn,
  sessionColumns,
  sessionFields,
  textField,
  type SessionField,
  type TableColumn,
} from './tableColumns.js';

/** Most rows read together: their samples fit the caches. */
const ROWS_MAX = 1024;
const WHAT = 'the Arrow stream';

/** Opens an Arrow stream. */
export async function openArrow(
  input: AsyncIterable<Uint8Array>,
  limits: SeriesLimits,
  zone: string | undefined,
): Promise<OpenInput> {
  try {
    const reader = await RecordBatchReader.from(input);
    await reader.open();
    const { schema } = reader;
    const names = namesOfColumns(schema.fields.map(columnOf));
    return {
      names,
      async *pages(columns) {
        try {
          yield* arrowPages(reader, columns, limits, zone);
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

function columnOf({ name, type }: Field): TableColumn {
  const own = (DataType.isDictionary(type) ? type.dictionary : type) as DataType;
  const hasZone = DataType.isTimestamp(own) && Boolean(own.timezone);
  return { name, kind: kindOf(String(type)), type: String(type), hasZone };
}

async function* arrowPages(
  reader: AsyncIterable<RecordBatch>,
  columns: RowColumns,
  limits: SeriesLimits,
  zone: string | undefined,
): AsyncGenerator<Page, void, undefined> {
  const rows = new ColumnReader(limits);
  let before = 0;
  for await (const batch of reader) {
    const all = batch.schema.fields.map((field, place) => {
      return { ...columnOf(field), data: batch.data.children[place] ?? makeData({ type: new Null() }) };
    });
    for (const { data, name } of all) checkPlaces(data, name);
    const own = sessionFields(all).map((column) => fieldIn(column, plainData(column.data)));
    const session = sessionColumns(own);
    const others = batchOf(plainColumns(batch, namesBeside(columns)), batch.numRows);
    // A stream without rows is one batch of none, which says its columns.
    for (let first = 0; first === 0 || first < batch.numRows; first += ROWS_MAX) {
      const last = Math.min(first + ROWS_MAX, batch.numRows);
      const beside = besideIn(others.slice(first, last), columns, before + first + 1, zone);
      const read = rows.read(session, first, last);
      yield tablePage(last - first, read, beside, problemsIn(own, read, first), columns.measured);
    }
    before += batch.numRows;
  }
}

/** A column as plain numbers, lists of them, or texts. */
function fieldIn(
  { field, isSeries, kind }: ReturnType<typeof sessionFields>[number],
  own: Data,
): SessionField {
  const vector = new Vector([own]);
  const isNull = (row: number): boolean => kind === 'null' || !own.getValid(row);
  if (kind === 'text') {
    const valueAt = valuesOf(vector);
    const textOf = (row: number): string => Buffer.from(String(valueAt(row))).toString('latin1');
    return textField({ field }, own.length, (row) => (isNull(row) ? undefined : textOf(row)));
  }
  if (!isSeries) return numberField(field, own.length, numbersOf(vector), isNull);
  const isFixed = DataType.isFixedSizeList(own.type);
  if (!isFixed && !DataType.isList(own.type) && !DataType.isLargeList(own.type))
    return listField(field, { values: NONE, starts: NONE, ends: NONE }, isNull);
  const starts = new Float64Array(own.length);
  const ends = new Float64Array(own.length);
  const { valueOffsets: offsets, stride } = own as Data<List>;
  for (let row = 0; row < own.length; row++) {
    starts[row] = isFixed ? row * stride : Number(offsets[row]);
    ends[row] = isNull(row) ? (starts[row] ?? 0) : isFixed ? (row + 1) * stride : Number(offsets[row + 1]);
  }
  return listField(field, { values: numbersOf(new Vector(own.children)), starts, ends }, isNull);
}

/**
 * @throws TableError if values of the column lie outside it: they would be those of other rows, or missing; or if a text
 *   is not UTF-8: two people could become one
 */
function checkPlaces(data: Data, name: string): void {
  if (data.length === 0) return; // its children may be missing
  const type = data.type as DataType;
  const { values, valueOffsets: offsets, dictionary } = data as Partial<Data<Utf8>>;
  const end = endOf(data);
  const isBeyond = (at: number, row: number): boolean =>
    data.getValid(row) && (at < 0 || at >= (dictionary?.length ?? 0));
  const hasBeyond = DataType.isDictionary(type) && values?.some(isBeyond) === true;
  if (hasBeyond || end > ((data.children[0] ?? values)?.length ?? 0))
    throw new TableError(`${WHAT} is damaged: the column ${name} reaches beyond its values`);
  const isText = values !== undefined && (DataType.isUtf8(type) || DataType.isLargeUtf8(type));
  const texts = isText ? [values.subarray(Number(offsets?.[0] ?? 0), end)] : [];
  const views = DataType.isUtf8View(type) ? new Vector([data.clone(new BinaryView())]) : [];
  if (![...texts, ...views].every((bytes) => bytes === null || isUtf8(bytes)))
    throw new TableError(
      `${WHAT} can't be read: the column ${name} is not UTF-8: decode it before it is piped`,
    );
  for (const inner of [...data.children, ...(data.dictionary?.data ?? [])]) checkPlaces(inner, name);
}

/** How many values the rows of a column need; infinite if its offsets are none. */
function endOf(data: Data): number {
  const { length, nullCount, stride } = data;
  const { valueOffsets: offsets } = data as Partial<Data<Utf8>>;
  const type = data.type as DataType;
  if (nullCount === length || DataType.isUnion(type)) return 0;
  if (offsets === undefined) return Math.ceil((length * stride) / (DataType.isBool(type) ? 8 : 1));
  let end = 0;
  for (let at = 0; at <= length; at++) {
    const next = Number(offsets[at]);
    end = next >= end ? next : Infinity;
  }
  return end;
}

const NONE = new Float64Array();

type Numbers = Float64Array | Float32Array | Int32Array;

/** Null as NaN. Numbers that JavaScript represents directly, without nulls among them, stay where they are. */
function numbersOf(vector: Vector): Numbers {
  const type = vector.type as DataType;
  const isFloat = DataType.isFloat(type) && type.precision > 0; // half floats are not read as numbers here
  const isPlain = isFloat || (DataType.isInt(type) && type.bitWidth < 64);
  if (isPlain && vector.nullCount === 0) return (vector.data[0]?.values ?? NONE) as Numbers;
  const valueAt = valuesOf(vector);
  return Float64Array.from({ length: vector.length }, (_, row) => Number(valueAt(row) ?? NaN));
}

/** The values of a column: decimals as text, times as whole numbers, nothing as undefined. */
function valuesOf(vector: Vector | undefined): (row: number) => unknown {
  const type = vector?.type as DataType | undefined;
  const own = vector && exactly(vector);
  return (row) => {
    const value: unknown = own?.get(row) ?? undefined;
    if (value instanceof Uint32Array && DataType.isDecimal(type)) return decimalOf(value, type);
    return value instanceof Uint8Array && isText(type) ? Buffer.from(value).toString() : value;
  };
}

/** A decimal as text; `words` are its digits without the point, lowest word first. */
function decimalOf(words: Uint32Array, { scale, bitWidth }: Decimal): string {
  const digits = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  const value = BigInt.asIntN(bitWidth, digits);
  if (scale <= 0) return String(value * 10n ** BigInt(-scale));
  const text = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  return `${value < 0n ? '-' : ''}${text.slice(0, -scale)}.${text.slice(-scale)}`;
}

function besideIn(
  batch: RecordBatch,
  { keep, history, measured = [] }: RowColumns,
  first: number,
  zone: string | undefined,
): BesideColumns {
  const column = (name: string | undefined): Vector | undefined =>
    (name === undefined ? undefined : batch.getChild(name)) ?? undefined;
  const jsonAt = (own: Vector | undefined): ((row: number) => string | undefined) => {
    const type = own?.type as DataType | undefined;
    const valueAt = isText(type) ? valuesOf(own) : (row: number): unknown => own?.get(row);
    return (row) => type && jsonOf(type, valueAt(row));
  };
  const kept = new Map(keep.map((name) => [name, jsonAt(column(name))]));
  const personAt = valuesOf(column(history?.person));
  const momentAt = momentsOf(column(history?.order), zone);
  const cells = new Map(namesBeside({ keep: [], measured }).map((name) => [name, valuesOf(column(name))]));
  return {
    keptColumns: plainColumns(batch, keep),
    numberOf: (row) => first + row,
    kept: (name, row) => kept.get(name)?.(row),
    person: (row) => (personAt(row) ?? undefined)?.toString(),
    moment: (row) => momentAt(row) as ReturnType<Page['moment']>,
    cell: (name, row) => cells.get(name)?.(row),
  };
}

/** Times of a column as days; with a time zone as their dates in `given`, or in that zone. */
function momentsOf(vector: Vector | undefined, given: string | undefined): (row: number) => unknown {
  const type = vector?.type as DataType | undefined;
  const own = (DataType.isTimestamp(type) ? type.timezone : undefined) ?? undefined;
  const zone = own === undefined ? undefined : (given ?? own);
  const isTime = DataType.isTimestamp(type) || DataType.isDate(type);
  const print = zone !== undefined ? dateIn(zone) : isTime ? dayAt : Number;
  const ticks = DataType.isTimestamp(type) ? 1000n ** BigInt(type.unit) : undefined; // in a second
  const valueAt = valuesOf(vector);
  return (row) => {
    const value = valueAt(row);
    if (value === undefined || typeof value === 'string') return value;
    return print(ticks === undefined ? Number(value) : msAt(value as bigint, ticks));
  };
}

/** Milliseconds since 1970, rounded down, of a time in `ticks` of a second. */
function msAt(time: bigint, ticks: bigint): number {
  const beyond = (time * 1000n) % ticks;
  return Number((time * 1000n - beyond) / ticks) - (beyond < 0n ? 1 : 0);
}

/** A value as JSON: whole numbers and decimals keep their digits, at any depth; bytes are hexadecimal. */
function jsonOf(type: DataType, value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint32Array && DataType.isDecimal(type)) return decimalOf(value, type);
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('hex'));
  const children = (type.children ?? []) as Field<DataType>[];
  if (value instanceof Vector)
    return `[${Array.from(value, (item) => jsonOf(children[0]?.type ?? type, item)).join()}]`;
  if (value === null || value === undefined || (!DataType.isStruct(type) && !DataType.isMap(type)))
    return JSON.stringify(value ?? null);
  const [, ofMap] = children[0]?.type.children ?? [];
  const members = [...(value as Iterable<[unknown, unknown]>)].map(([name, inner], place) => {
    const own = DataType.isMap(type) ? (ofMap?.type as DataType) : children[place]?.type;
    return `${JSON.stringify(String(name))}:${jsonOf(own ?? type, inner)}`;
  });
  return `{${members.join()}}`;
}

/**
 * The columns in forms that can be cut into pieces and written: dictionaries become values, since a file may not have
 * two of them; texts and bytes in views become contiguous, since the Arrow library cuts views at the wrong place.
 */
function plainColumns(batch: RecordBatch, names: readonly string[]): ArrowColumn[] {
  return names.flatMap((name) => {
    const place = batch.schema.fields.findIndex((field) => field.name === name);
    const [field, own] = [batch.schema.fields[place], batch.data.children[place]];
    if (field === undefined || own === undefined) return [];
    const data = plainData(own);
    return [{ field: field.clone({ type: data.type }), data }];
  });
}

/** One without rows is made anew: its children may be missing. */
function plainData(data: Data): Data {
  const { type } = data as { type: DataType };
  const plain = plainType(type);
  if (plain !== type || data.length === 0)
    return vectorFromArray([...valuesIn(data)], exactType(plain)).data[0]?.clone(plain) ?? data;
  const children = data.children.map(plainData);
  if (children.every((inner, place) => inner === data.children[place])) return data;
  const fields = (type.children ?? []).map((field: Field, place) =>
    field.clone({ type: children[place]?.type as DataType }),
  );
  const own = Object.assign(Object.create(type) as DataType, { children: fields });
  return data.clone(own, data.offset, data.length, data.nullCount, undefined, children);
}

function* valuesIn(data: Data): Generator<unknown> {
  if (!DataType.isDictionary(data.type)) return yield* exactly(new Vector([data]));
  const { values, dictionary } = data as Data<Dictionary>;
  const all = exactly(dictionary ?? new Vector([]));
  // The library finds none by a place of 64 bits.
  for (let row = 0; row < data.length; row++) yield data.getValid(row) ? all.get(Number(values[row])) : null;
}

/**
 * The library rounds nanoseconds, a day's last ones to the next day, and leaves out a text's first letter if it is a mark
 * of the byte order: here times are whole numbers, and texts are bytes.
 */
function exactly({ data }: Vector): Vector {
  return new Vector(data.map((one) => one.clone(exactType(one.type as DataType))));
}

function exactType(type: DataType): DataType {
  if (DataType.isTimestamp(type)) return new Int64();
  if (DataType.isUtf8View(type)) return new BinaryView();
  if (DataType.isLargeUtf8(type)) return new LargeBinary();
  return DataType.isUtf8(type) ? new Binary() : type;
}

function isText(type: DataType | undefined): boolean {
  return DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type);
}

/** @throws TableError for a dictionary whose values the Arrow library does not build as it reads them */
function plainType(type: DataType): DataType {
  if (DataType.isUtf8View(type)) return new Utf8();
  if (DataType.isBinaryView(type)) return new Binary();
  if (!DataType.isDictionary(type)) return type;
  const inner = type.dictionary as DataType;
  if (DataType.isLargeUtf8(inner)) return new Utf8();
  if (!isBuilt(inner))
    throw new TableError(`${WHAT} has a dictionary of ${String(inner)}: make plain values of it`);
  return plainType(inner);
}

/** Numbers, truth values, times, texts and bytes. */
function isBuilt(type: DataType): boolean {
  if (DataType.isInt(type) || DataType.isFloat(type) || DataType.isDecimal(type)) return true;
  if (DataType.isBool(type) || DataType.isTimestamp(type) || DataType.isDate(type)) return true;
  return DataType.isUtf8(type) || DataType.isBinary(type) || plainType(type) !== type;
}
