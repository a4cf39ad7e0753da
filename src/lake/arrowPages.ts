import { open, type FileHandle } from 'node:fs/promises';
import {
  Binary,
  DataType,
  Field,
  Int64,
  RecordBatch,
  RecordBatchReader,
  Schema,
  Struct,
  Utf8,
  Vector,
  makeData,
  vectorFromArray,
  type Data,
} from 'apache-arrow';
import type { SeriesLimits } from '#rules/fields.js';
import { ColumnReader } from '../reading/columns.js';
import { checkFields, decimalOf, isTextType, sessionColumns } from './arrowColumns.js';
import { trimmedCell } from './cells.js';
import { FormatError, TableError, readingError } from './errors.js';
import type { InputNames } from './inputNames.js';
import type { KeptColumns, OpenInput, Page, ReadProgress } from './page.js';
import type { Partition } from './partitions.js';
import { namesBeside, type HistoryColumns, type RowColumns } from './rowColumns.js';
import { TablePage, type BesideColumns } from './tablePage.js';
import { dateIn } from './zonedDate.js';

/** Most rows read together: their samples fit the caches. */
const ROWS_MAX = 1024;
/** The first bytes of Arrow's file format; a stream starts differently. */
const FILE_MARK = Buffer.from('ARROW1');

/** Opens an Arrow stream, or a file in Arrow's file format or with a saved stream. */
export async function openArrow(
  input: AsyncIterable<Uint8Array> | { readonly path: string },
  reading: ReadProgress,
  limits: SeriesLimits,
): Promise<OpenInput> {
  const what = 'path' in input ? 'the Arrow file' : 'the Arrow stream';
  const file = 'path' in input ? await open(input.path) : undefined;
  try {
    const reader =
      file === undefined
        ? await RecordBatchReader.from(await streamOf(counted(input as AsyncIterable<Uint8Array>, reading)))
        : await RecordBatchReader.from(guarded(file));
    await reader.open();
    const { schema } = reader;
    return {
      names: namesOfSchema(schema),
      keptColumns: (columns) => emptyColumns(schema, columns),
      async *pages(columns) {
        try {
          yield* arrowPages(reader, columns, limits);
        } catch (error) {
          throw readingError(error, what);
        } finally {
          await file?.close();
        }
      },
      async close() {
        await reader.cancel();
        await file?.close();
      },
    };
  } catch (error) {
    await file?.close();
    throw readingError(error, what);
  }
}

/** Where a damaged file names a place beyond its end, the library reads for ever. */
function guarded(file: FileHandle): FileHandle {
  const read = async (bytes: Uint8Array, ...place: number[]): Promise<{ readonly bytesRead: number }> => {
    const [offset = 0, length = 0, position = 0] = place;
    const done = await file.read(bytes, offset, length, position);
    if (done.bytesRead === 0 && length > 0) throw new TableError('the file ends too early');
    return done;
  };
  const whole = { fd: file.fd, stat: () => file.stat(), close: () => file.close(), read };
  return whole as unknown as FileHandle; // the library uses no more of it
}

async function* counted(input: AsyncIterable<Uint8Array>, reading: ReadProgress): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    reading.bytesRead += chunk.length;
    yield chunk;
  }
}

/** @throws FormatError for the file format: it is read from its end */
async function streamOf(input: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const chunks = input[Symbol.asyncIterator]();
  let first: Uint8Array = new Uint8Array();
  while (first.length < FILE_MARK.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    first = Buffer.concat([first, next.value]);
  }
  if (FILE_MARK.equals(first.subarray(0, FILE_MARK.length)))
    throw new FormatError(
      "Arrow's file format is read from its end: name the file, or pipe a stream of Arrow",
    );
  return (async function* () {
    if (first.length > 0) yield first;
    yield* { [Symbol.asyncIterator]: () => chunks };
  })();
}

async function* arrowPages(
  reader: AsyncIterable<RecordBatch>,
  columns: RowColumns,
  limits: SeriesLimits,
): AsyncGenerator<Page, void, undefined> {
  const rows = new ColumnReader(limits);
  let before = 0;
  for await (const own of reader) {
    const batch = withPartitions(own, columns.partitions);
    const session = sessionColumns(batch);
    const others = columnsBeside(batch, columns);
    for (let first = 0; first < batch.numRows; first += ROWS_MAX) {
      const last = Math.min(first + ROWS_MAX, batch.numRows);
      const beside = new ArrowBeside(others?.slice(first, last), columns, before + first + 1);
      yield new TablePage(last - first, rows.read(session, first, last), beside, columns.measured);
    }
    before += batch.numRows;
  }
}

type Values = (row: number) => unknown;

class ArrowBeside implements BesideColumns {
  readonly keptColumns: KeptColumns | undefined;
  private readonly keptBatch: RecordBatch | undefined;
  private readonly people: Values;
  private readonly moments: Values;
  private readonly cells: ReadonlyMap<string, Values>;

  constructor(
    batch: RecordBatch | undefined,
    { keep, history, measured = [] }: RowColumns,
    private readonly first: number,
  ) {
    const places = keep.flatMap((name) => {
      const place = batch?.schema.fields.findIndex((field) => field.name === name) ?? -1;
      return place < 0 ? [] : [place];
    });
    this.keptBatch = places.length === 0 ? undefined : batch?.selectAt(places);
    this.keptColumns = this.keptBatch === undefined ? undefined : { of: 'arrow', batch: this.keptBatch };
    this.people = valuesOf(batch, history?.person);
    this.moments = momentsOf(batch, history?.order);
    this.cells = new Map(
      namesBeside({ keep: [], measured }).map((name) => [name, numbersOf(batch, name)] as const),
    );
  }

  numberOf(row: number): number {
    return this.first + row;
  }

  kept(name: string, row: number): string | undefined {
    const column = this.keptBatch?.getChild(name);
    const value: unknown = column?.get(row);
    if (value === undefined) return undefined;
    const type = column?.type;
    if (DataType.isDecimal(type) && value instanceof Uint32Array) return String(decimalOf(value, type));
    return jsonOf(value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value);
  }

  person(row: number): string | null | undefined {
    const value = this.people(row);
    return value === null || value === undefined ? undefined : String(value);
  }

  moment(row: number): string | number | null | undefined {
    const value = this.moments(row);
    if (value instanceof Date) return value.getTime();
    return typeof value === 'bigint' ? Number(value) : (value as string | number | null | undefined);
  }

  cell(name: string, row: number): unknown {
    const value = this.cells.get(name)?.(row);
    return typeof value === 'string' ? trimmedCell(value) : value;
  }
}

function columnOf(batch: RecordBatch | undefined, name: string | undefined): Vector | undefined {
  return name === undefined ? undefined : (batch?.getChild(name) ?? undefined);
}

function valuesOf(batch: RecordBatch | undefined, name: string | undefined): Values {
  const vector = columnOf(batch, name);
  return (row) => vector?.get(row) as unknown;
}

/** Numbers and texts, of any type. */
function numbersOf(batch: RecordBatch | undefined, name: string): Values {
  const vector = columnOf(batch, name);
  return (row) => {
    const value: unknown = vector?.get(row);
    if (typeof value === 'bigint') return Number(value);
    const type = vector?.type;
    return DataType.isDecimal(type) && value instanceof Uint32Array ? decimalOf(value, type) : value;
  };
}

/** Times of a column with a time zone as their dates in that zone. */
function momentsOf(batch: RecordBatch | undefined, name: string | undefined): Values {
  const values = valuesOf(batch, name);
  const type = columnOf(batch, name)?.type as DataType | undefined;
  const zone = DataType.isTimestamp(type) ? type.timezone : undefined;
  if (zone === undefined || zone === null) return values;
  const print = dateIn(zone);
  return (row) => {
    const value = values(row);
    return value === null || value === undefined ? value : print(Number(value));
  };
}

/** A value of a column as JSON; 64-bit integers keep their digits. */
function jsonOf(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  const plain = (_: string, inner: unknown): unknown => (typeof inner === 'bigint' ? String(inner) : inner);
  return JSON.stringify(value, plain) ?? 'null';
}

/** The columns of `batch` that are `namesBeside`, in order; undefined without any. */
function columnsBeside(batch: RecordBatch, columns: RowColumns): RecordBatch | undefined {
  // Select by index: the library's selection by name loses columns other than the first ones.
  const places = namesBeside(columns)
    .map((name) => batch.schema.fields.findIndex((field) => field.name === name))
    .filter((place) => place >= 0);
  return places.length === 0 ? undefined : plainColumns(batch.selectAt(places));
}

/**
 * Converts columns to forms that can be cut into pieces and written in every format: dictionaries become values,
 * since a file may not have two of them; texts and bytes in views become contiguous, since the Arrow library cuts
 * views at the wrong place.
 */
function plainColumns(batch: RecordBatch): RecordBatch {
  const children = batch.data.children.map((data) => {
    const type = plainType(data.type);
    return type === data.type ? data : (vectorFromArray([...new Vector([data])], type).data[0] ?? data);
  });
  return batchOf(
    batch.schema.fields.map((field, place) => field.clone({ type: children[place]?.type ?? field.type })),
    children,
    batch.numRows,
  );
}

function plainType(type: DataType): DataType {
  if (DataType.isUtf8View(type)) return new Utf8();
  if (DataType.isBinaryView(type)) return new Binary();
  if (!DataType.isDictionary(type)) return type;
  const inner = type.dictionary as DataType;
  return DataType.isLargeUtf8(inner) ? new Utf8() : plainType(inner);
}

function batchOf(fields: readonly Field[], children: readonly Data[], length: number): RecordBatch {
  const all = [...fields];
  const data = makeData({ type: new Struct(all), length, nullCount: 0, children: [...children] });
  return new RecordBatch(new Schema(all), data);
}

/** The batch with the columns that the path of its file says, if it lacks them. */
function withPartitions(batch: RecordBatch, partitions: readonly Partition[] = []): RecordBatch {
  const { fields } = batch.schema;
  const added = partitions.filter(({ name }) => !fields.some((field) => field.name === name));
  if (added.length === 0) return batch;
  const length = batch.numRows;
  const children = added.map(({ value, isNumber }) => {
    const cell = value !== null && isNumber ? BigInt(value) : value;
    const [data] = vectorFromArray(
      Array.from({ length }, () => cell),
      isNumber ? new Int64() : new Utf8(),
    ).data;
    return data ?? makeData({ type: new Utf8() });
  });
  const names = added.map(({ name }, index) => new Field(name, children[index]?.type ?? new Utf8(), true));
  return batchOf([...fields, ...names], [...batch.data.children, ...children], length);
}

/** The kept columns without rows; undefined if there are none. */
function emptyColumns(schema: Schema, { keep, partitions = [] }: RowColumns): KeptColumns | undefined {
  const added = partitions.map(
    ({ name, isNumber }) => new Field(name, isNumber ? new Int64() : new Utf8(), true),
  );
  const fields: Field[] = [...schema.fields, ...added];
  const kept = keep.flatMap((name) => fields.filter((field) => field.name === name).slice(0, 1));
  if (kept.length === 0) return undefined;
  const plain = kept.map((field) => field.clone({ type: plainType(field.type as DataType) }));
  const children = plain.map(({ type }) => makeData({ type: type as DataType }));
  return { of: 'arrow', batch: batchOf(plain, children as Data[], 0) };
}

/** The names of a table's columns, and what each can be used for, from its schema. */
function namesOfSchema({ fields }: Schema): InputNames {
  const names = fields.map(({ name }) => name);
  return {
    thing: 'column',
    kinds: { request: [], session: names, target: [], measurement: [] },
    beside: names,
    unfit(name, as) {
      const type = fields.find((field) => field.name === name)?.type as DataType | undefined;
      if (type === undefined || USES[as].isFit(plainType(type))) return undefined;
      return `the column ${name} is of the type ${String(type)}, which ${USES[as].advice(type)}`;
    },
    misfit() {
      try {
        checkFields(fields);
      } catch (error) {
        throw readingError(error, 'the Arrow schema');
      }
    },
  };
}

const USES: Readonly<
  Record<keyof HistoryColumns, { isFit(type: DataType): boolean; advice(type: DataType): string }>
> = {
  person: {
    isFit: (type) => isTextType(type) || DataType.isInt(type) || DataType.isNull(type),
    advice: (type) =>
      `can't say whose a row is: make text or whole numbers of it${DataType.isFloat(type) ? ' (pandas makes floats of whole numbers beside missing ones: astype("Int64"))' : ''}`,
  },
  order: {
    isFit: (type) =>
      [
        isTextType,
        DataType.isInt,
        DataType.isFloat,
        DataType.isTimestamp,
        DataType.isDate,
        DataType.isNull,
      ].some((isIt) => isIt(type)),
    advice: () =>
      "can't say when a row was: make a timestamp of it, a date, milliseconds since 1970, or text of ISO 8601",
  },
};
