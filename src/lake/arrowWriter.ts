import {
  Bool,
  DateDay,
  Field,
  Float64,
  Int64,
  RecordBatch,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  makeData,
  vectorFromArray,
  type Data,
  type DataType,
} from 'apache-arrow';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { twoDecimals, type Job } from './job.js';
import type { LineOptions } from './lineWriter.js';
import type { KeptColumns } from './page.js';
import { UNMEASURED_PREFIX } from './unmeasured.js';

interface Column {
  readonly field: Field;
  readonly data: Data;
}

/** Writes the rows of a page as record batches: kept columns unchanged, then the scores. */
export class ArrowWriter {
  private readonly model: readonly string[];
  private readonly constants: Data<Utf8>[] = [];

  /** `isStream`: bad rows stay in their places without scores, with an error column. */
  constructor(
    private readonly options: LineOptions,
    private readonly isStream: boolean,
  ) {
    this.model = options.model.version.split('/');
  }

  batches(job: Job): RecordBatch[] {
    if (this.isStream) return [this.batch(job, 0, job.page.rows)];
    return soundRuns(job).map(([from, to]) => this.batch(job, from, to));
  }

  /** A batch without rows but with all columns; `kept` are those of the input, if it has typed columns. */
  empty(kept: KeptColumns | undefined): RecordBatch {
    const columns =
      kept?.of === 'arrow'
        ? columnsOf(kept.batch)
        : this.options.keep.map((name, place) => column(name, typedData(typeAt(kept, place), [])));
    return batchOf([...columns, rowColumn(Number, 0), ...this.scoreColumns(undefined, 0, 0)], 0);
  }

  private batch(job: Job, from: number, to: number): RecordBatch {
    const row = rowColumn((index) => job.page.numberOf(from + index), to - from);
    return batchOf([...this.keptColumns(job, from, to), row, ...this.scoreColumns(job, from, to)], to - from);
  }

  private keptColumns({ page }: Job, from: number, to: number): Column[] {
    const { keptColumns } = page;
    if (keptColumns?.of === 'arrow') return columnsOf(keptColumns.batch.slice(from, to));
    return this.options.keep.map((name, place) => {
      const texts = rowsOf(from, to, (row) => textOf(page.kept(name, row)));
      return column(name, typedData(typeAt(keptColumns, place), texts));
    });
  }

  private scoreColumns(job: Job | undefined, from: number, to: number): Column[] {
    const validity = validityOf(job, from, to);
    const scores = this.columnsOfScores(job?.scores.subarray(from * OUTPUT_COLUMNS), '', validity);
    const model = ['model', 'model_version'].map((name, index) =>
      column(name, this.constantData(index, validity)),
    );
    if (this.options.measured === true) model.push(...this.unmeasuredColumns(job, from, to));
    if (this.options.explain === true)
      model.push(column('explanation', textData(rowsOf(from, to, (row) => job?.explanations[row]))));
    if (!this.isStream) return [...scores, ...model];
    const errors = rowsOf(from, to, (row) => {
      const problem = job?.problems.get(row);
      return problem === undefined ? undefined : JSON.stringify(problem);
    });
    return [...scores, ...model, column('error', textData(errors))];
  }

  /** The seven score columns for the rows of `validity`; `all` holds them row by row. */
  private columnsOfScores(
    all: Float32Array = new Float32Array(0),
    prefix: string,
    validity: Validity,
  ): Column[] {
    const { thresholds } = this.options.model;
    const { length } = validity;
    const scores = SCORE_FIELDS.map((name, index) => {
      const data = new Float64Array(length);
      for (let row = 0, at = index; row < length; row++, at += OUTPUT_COLUMNS)
        data[row] = twoDecimals(all[at] ?? 0);
      return column(prefix + name, makeData({ type: new Float64(), data, ...validity }));
    });
    const labels = LABEL_FIELDS.map((name, index) => {
      const first = SCORE_FIELDS.length + index;
      const isHigh = (row: number): boolean => (all[first + row * OUTPUT_COLUMNS] ?? 0) >= thresholds[name];
      return column(prefix + name, labelData(isHigh, validity));
    });
    return [...scores, ...labels];
  }

  /** The scores without measurements; null where none counts. */
  private unmeasuredColumns(job: Job | undefined, from: number, to: number): Column[] {
    const rows = rowsOf(from, to, (row) => job?.unmeasured.get(row));
    const all = new Float32Array(rows.length * OUTPUT_COLUMNS);
    for (const [row, scores] of rows.entries())
      if (scores !== undefined) all.set(scores, row * OUTPUT_COLUMNS);
    return this.columnsOfScores(
      all,
      UNMEASURED_PREFIX,
      nullsOf(rows.length, (row) => rows[row] === undefined),
    );
  }

  /**
   * A column with the model's name and version in each row. Most pages have the same length, so the last one is
   * cached.
   */
  private constantData(index: number, validity: Validity): Data<Utf8> {
    const last = this.constants[index];
    if (last?.length === validity.length && validity.nullCount === 0) return last;
    const data = constantData(this.model[index] ?? '', validity);
    if (validity.nullCount === 0) this.constants[index] = data;
    return data;
  }
}

/** The ranges of rows with scores, each from its first row to after its last. */
function soundRuns({ page, problems }: Job): (readonly [from: number, to: number])[] {
  const runs: (readonly [number, number])[] = [];
  let from = 0;
  for (const bad of [...problems.keys()].toSorted((a, b) => a - b)) {
    if (bad > from) runs.push([from, bad]);
    from = bad + 1;
  }
  if (page.rows > from) runs.push([from, page.rows]);
  return runs;
}

function rowsOf<T>(from: number, to: number, at: (row: number) => T): T[] {
  return Array.from({ length: to - from }, (_, row) => at(from + row));
}

function batchOf(columns: readonly Column[], length: number): RecordBatch {
  const fields = columns.map(({ field }) => field);
  const children = columns.map(({ data }) => data);
  const data = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new RecordBatch(new Schema(fields), data);
}

function columnsOf({ schema, data: { children } }: RecordBatch): Column[] {
  return schema.fields.flatMap((field, index) => {
    const data = children[index];
    return data === undefined ? [] : [{ field, data }];
  });
}

/** The row numbers of `length` rows in their input. */
function rowColumn(numberOf: (row: number) => number, length: number): Column {
  const data = BigInt64Array.from({ length }, (_, row) => BigInt(numberOf(row)));
  return column('row', makeData({ type: new Int64(), data, nullCount: 0 }));
}

function column(name: string, data: Data): Column {
  return { field: new Field(name, data.type as DataType, true), data };
}

function textData(texts: readonly (string | undefined)[]): Data<Utf8> {
  const valueOffsets = new Int32Array(texts.length + 1);
  let end = 0;
  for (const [index, text] of texts.entries()) {
    if (text !== undefined) end += Buffer.byteLength(text);
    valueOffsets[index + 1] = end;
  }
  const data = new Uint8Array(Buffer.from(texts.join('')));
  const isNull = (row: number): boolean => texts[row] === undefined;
  return makeData({ type: new Utf8(), valueOffsets, data, ...nullsOf(texts.length, isNull) });
}

/** Which rows have a value, in Arrow's form. */
interface Validity {
  readonly length: number;
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array;
}

function nullsOf(length: number, isNull: (row: number) => boolean): Validity {
  const nullBitmap = new Uint8Array(Math.ceil(length / 8)).fill(0xff);
  let nullCount = 0;
  for (let row = 0; row < length; row++) {
    if (!isNull(row)) continue;
    nullCount++;
    nullBitmap[row >> 3] = (nullBitmap[row >> 3] ?? 0) & ~(1 << (row & 7));
  }
  return nullCount === 0 ? { length, nullCount: 0 } : { length, nullCount, nullBitmap };
}

function validityOf(job: Job | undefined, from: number, to: number): Validity {
  const length = to - from;
  if (job === undefined || job.problems.size === 0) return { length, nullCount: 0 };
  return nullsOf(length, (row) => job.problems.has(from + row));
}

function isThere({ nullBitmap }: Validity, row: number): boolean {
  return nullBitmap === undefined || (((nullBitmap[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
}

const HIGH = Buffer.from('High');
const LOW = Buffer.from('Low');

/** A column of labels, built without a string for each. */
function labelData(isHigh: (row: number) => boolean, validity: Validity): Data<Utf8> {
  const { length } = validity;
  const valueOffsets = new Int32Array(length + 1);
  const bytes = new Uint8Array(length * HIGH.length);
  let end = 0;
  for (let row = 0; row < length; row++) {
    if (isThere(validity, row)) {
      const word = isHigh(row) ? HIGH : LOW;
      for (let byte = 0; byte < word.length; byte++) bytes[end++] = word[byte] ?? 0;
    }
    valueOffsets[row + 1] = end;
  }
  return makeData({ type: new Utf8(), valueOffsets, data: bytes.subarray(0, end), ...validity });
}

function constantData(text: string, validity: Validity): Data<Utf8> {
  const { length, nullCount } = validity;
  const bytes = Buffer.byteLength(text);
  const valueOffsets = new Int32Array(length + 1);
  for (let row = 0, end = 0; row < length; row++) {
    if (isThere(validity, row)) end += bytes;
    valueOffsets[row + 1] = end;
  }
  const data = new Uint8Array(Buffer.from(text.repeat(length - nullCount)));
  return makeData({ type: new Utf8(), valueOffsets, data, ...validity });
}

/** A kept value, which is JSON, as text; values other than text stay JSON. */
function textOf(json: string | undefined): string | undefined {
  if (json === undefined || json === 'null') return undefined;
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** A column that the engine read, in Arrow: what has no type here is its JSON as text. */
function typedData(type: string | undefined, texts: readonly (string | undefined)[]): Data {
  const known = TYPES.find(([isIt]) => type !== undefined && isIt.test(type));
  if (known === undefined) return textData(texts);
  const [, arrow, value] = known;
  const values = texts.map((text) => (text === undefined ? null : value(text)));
  return vectorFromArray(values, arrow).data[0] ?? makeData({ type: arrow });
}

const TYPES: readonly (readonly [RegExp, DataType, (text: string) => unknown])[] = [
  [/^U?(TINY|SMALL|BIG)?INT(EGER)?$/, new Int64(), BigInt],
  [/^(FLOAT|DOUBLE|DECIMAL\(.*\))$/, new Float64(), Number],
  [/^BOOLEAN$/, new Bool(), (text) => text === 'true'],
  [/^DATE$/, new DateDay(), (text) => new Date(Number(text))],
  [/^TIMESTAMP/, new TimestampMicrosecond(), Number],
];

function typeAt(kept: KeptColumns | undefined, place: number): string | undefined {
  return kept?.of === 'engine' ? String(kept.types[place]) : undefined;
}
