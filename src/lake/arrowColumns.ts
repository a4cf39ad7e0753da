import { DataType, type Data, type Decimal, type Field, type RecordBatch, type Vector } from 'apache-arrow';
import { SCALAR_NAMES, SERIES_NAMES, fieldOf } from './columnNames.js';
import { NamesError } from './errors.js';
import type { SeriesField } from '#rules/fields.js';
import type { ScalarColumn, SeriesColumn, SessionColumns } from '../reading/columns.js';

/** The columns of a record batch that are session fields, without copying. */
export function sessionColumns(batch: RecordBatch): SessionColumns {
  const known = batch.schema.fields.flatMap(({ name, type }): KnownColumn[] => {
    const field = fieldOf(name);
    return field === undefined ? [] : [{ name, field, type: type as DataType }];
  });
  const series: (SeriesColumn | undefined)[] = [];
  const scalars: (ScalarColumn | undefined)[] = [];
  for (const { name, field } of known) {
    const vector = batch.getChild(name);
    if (vector === null) continue;
    const seriesField = SERIES_NAMES.get(field);
    const scalarField = SCALAR_NAMES.get(field);
    if (seriesField !== undefined) series.push(seriesColumn(seriesField, vector));
    if (scalarField !== undefined) scalars.push(scalarColumn(scalarField, vector));
  }
  const plainSeries = series.filter((column) => column !== undefined);
  const plainScalars = scalars.filter((column) => column !== undefined);
  const isOneName = new Set(plainSeries.map(({ field }) => field)).size === series.length;
  return {
    series: plainSeries,
    scalars: plainScalars,
    arePlain: isOneName && plainScalars.length === scalars.length,
    bodyOf: (row) => bodyOf(batch, known, row),
  };
}

/** A column that is a contract field, with the table's own name for it. */
interface KnownColumn {
  readonly name: string;
  readonly field: string;
  readonly type: DataType;
}

type Samples = SeriesColumn['values'];

/** Lists without nulls, of numbers that JavaScript represents directly; undefined for any other column. */
function seriesColumn(field: SeriesField, vector: Vector): SeriesColumn | undefined {
  const [data] = vector.data;
  const [items] = data?.children ?? [];
  if (data === undefined || items === undefined || vector.data.length !== 1) return undefined;
  const values: unknown = items.values;
  if (!isSamples(values) || items.nullCount > 0) return undefined;
  const isFloat = DataType.isFloat(items.type) && items.type.precision > 0; // half floats are not read as numbers here
  const isWhole = DataType.isInt(items.type) && items.type.bitWidth < 64;
  if (!isFloat && !isWhole) return undefined;
  const isNull = nullsOf(data);
  if (DataType.isFixedSizeList(data.type)) {
    const { listSize } = data.type;
    return {
      field,
      values,
      from: (row) => row * listSize,
      to: (row) => (isNull(row) ? row : row + 1) * listSize,
    };
  }
  if (!DataType.isList(data.type) && !DataType.isLargeList(data.type)) return undefined;
  const offsets: Int32Array | BigInt64Array = data.valueOffsets;
  return {
    field,
    values,
    from: (row) => Number(offsets[row]),
    to: (row) => Number(offsets[isNull(row) ? row : row + 1]),
  };
}

/** Numbers, or M and F; undefined for any other column. */
function scalarColumn(field: ScalarColumn['field'], vector: Vector): ScalarColumn | undefined {
  const { type } = vector;
  if (DataType.isNull(type)) return { field, at: () => NaN };
  if (field === 'sex') {
    const isText = isTextType(DataType.isDictionary(type) ? (type.dictionary as DataType) : type);
    if (!isText) return undefined;
    return letterColumn(field, vector) ?? { field, at: (row) => sexOf(vector.get(row)) };
  }
  if (!DataType.isInt(type) && !DataType.isFloat(type)) return undefined;
  return (
    plainColumn(field, vector) ?? {
      field,
      at: (row) => {
        const value = vector.get(row) as number | bigint | null;
        return value === null ? NaN : given(Number(value));
      },
    }
  );
}

/** Numbers that JavaScript represents directly, by index; undefined for others. */
function plainColumn(field: ScalarColumn['field'], { data, type }: Vector): ScalarColumn | undefined {
  const [only] = data;
  const isPlain =
    (DataType.isFloat(type) && type.precision > 0) || (DataType.isInt(type) && type.bitWidth < 64);
  const values: unknown = only?.values;
  if (only === undefined || data.length !== 1 || !isPlain || !isSamples(values)) return undefined;
  const isNull = nullsOf(only);
  return { field, at: (row) => (isNull(row) ? NaN : given(values[row] ?? NaN)) };
}

const LETTER_M = 0x4d;
const LETTER_F = 0x46;

/** M and F by their byte; undefined for text that is not contiguous. */
function letterColumn(field: ScalarColumn['field'], { data, type }: Vector): ScalarColumn | undefined {
  const [only] = data;
  if (only === undefined || data.length !== 1 || !DataType.isUtf8(type)) return undefined;
  const offsets = only.valueOffsets as Int32Array;
  const bytes = only.values as Uint8Array;
  const isNull = nullsOf(only);
  return {
    field,
    at(row) {
      if (isNull(row)) return NaN;
      const start = offsets[row] ?? 0;
      if ((offsets[row + 1] ?? 0) !== start + 1) return Infinity;
      return bytes[start] === LETTER_M ? 1 : bytes[start] === LETTER_F ? -1 : Infinity;
    },
  };
}

/** A number that is present; NaN and values out of bounds go to the exact path, since JSON has no NaN. */
function given(value: number): number {
  return Number.isNaN(value) ? Infinity : value;
}

export function isTextType(type: DataType): boolean {
  return DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type);
}

function sexOf(value: unknown): number {
  if (value === null) return NaN;
  return value === 'M' ? 1 : value === 'F' ? -1 : Infinity;
}

function nullsOf({ nullCount, nullBitmap, offset }: Data): (row: number) => boolean {
  if (nullCount === 0) return () => false;
  return (row) => (((nullBitmap[(offset + row) >> 3] ?? 0) >> ((offset + row) & 7)) & 1) === 0;
}

function isSamples(values: unknown): values is Samples {
  return ArrayBuffer.isView(values) && !(values instanceof DataView) && !(values instanceof BigInt64Array);
}

/** A row as the body of a request; values that JSON can't represent become ones that the exact path refuses. */
function bodyOf(batch: RecordBatch, known: readonly KnownColumn[], row: number): Buffer {
  const session: Record<string, unknown> = {};
  for (const { name, field, type } of known) {
    const value: unknown = batch.getChild(name)?.get(row);
    if (value !== null && value !== undefined) session[field] = plainOf(value, type);
  }
  return Buffer.from(JSON.stringify({ current_session: session }));
}

function plainOf(value: unknown, type: DataType): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (DataType.isDecimal(type) && value instanceof Uint32Array) return decimalOf(value, type);
  if (typeof value === 'object' && value !== null && Symbol.iterator in value) {
    const [items] = (type.children as Field[] | null) ?? [];
    const inner = (items?.type ?? type) as DataType;
    return Array.from(value as Iterable<unknown>, (item) => plainOf(item, inner));
  }
  return value;
}

/** A decimal of a column as the nearest number; `words` are its digits without the point, lowest word first. */
export function decimalOf(words: Uint32Array, { scale, bitWidth }: Decimal): number {
  const digits = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return Number(`${BigInt.asIntN(bitWidth, digits)}e${-scale}`);
}

/** @throws NamesError if a column's type can't be what its name says */
export function checkFields(fields: readonly Field[]): void {
  for (const { name, type } of fields) {
    const field = fieldOf(name);
    if (field === undefined || isFit(field, type as DataType)) continue;
    const remedy = SERIES_NAMES.has(field)
      ? 'make a list of numbers of it'
      : field === 'sex'
        ? 'write M or F'
        : 'make a number of it, times asleep seconds';
    throw new NamesError(`the column ${name} is of the type ${String(type)}, which it can't be: ${remedy}`);
  }
}

function isFit(field: string, type: DataType): boolean {
  const plain = DataType.isDictionary(type) ? (type.dictionary as DataType) : type;
  if (DataType.isNull(plain)) return true;
  if (field === 'sex') return isTextType(plain);
  if (!SERIES_NAMES.has(field)) return isNumber(plain);
  const isList = DataType.isList(plain) || DataType.isLargeList(plain) || DataType.isFixedSizeList(plain);
  const [items] = (plain.children as Field[] | null) ?? [];
  return (
    isList &&
    items !== undefined &&
    (isNumber(items.type as DataType) || DataType.isNull(items.type as DataType))
  );
}

function isNumber(type: DataType): boolean {
  return DataType.isInt(type) || DataType.isFloat(type) || DataType.isDecimal(type);
}
