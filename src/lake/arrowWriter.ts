import {
  Field,
  Float64,
  Int64,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  makeData,
  type Data,
  type DataType,
} from 'apache-arrow';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { hundredths } from '../pipeline/respond.js';
import type { Job } from './job.js';
import type { LineOptions } from './lineWriter.js';
import { UNMEASURED_PREFIX } from './names.js';

interface Column {
  readonly field: Field;
  readonly data: Data;
}

type ScoresOf = (row: number) => readonly [scores: Float32Array, first: number] | undefined;

/** Writes the rows of a page as a record batch: kept columns unchanged, then the scores, and the error of a bad row. */
export class ArrowWriter {
  constructor(private readonly options: LineOptions) {}

  /** `kept` are the columns copied from the input. */
  batch(kept: RecordBatch | undefined, job: Job | undefined): RecordBatch {
    const { explain, measured, model } = this.options;
    const rows = job?.page.rows ?? 0;
    const problemOf = (row: number): unknown => job?.problems.get(row);
    const text = (name: string, at: (row: number) => string | undefined): Column =>
      column(name, textData(Array.from({ length: rows }, (_, row) => at(row))));
    const number = BigInt64Array.from({ length: rows }, (_, row) => BigInt(job?.page.numberOf(row) ?? 0));
    const columns = [
      ...(kept === undefined ? [] : columnsOf(kept)),
      column('row', makeData({ type: new Int64(), data: number, nullCount: 0 })),
      ...this.scores('', rows, (row) =>
        job === undefined || problemOf(row) !== undefined ? undefined : [job.scores, row * OUTPUT_COLUMNS],
      ),
      ...['model', 'model_version'].map((name, index) => {
        const own = model.version.split('/')[index] ?? '';
        return text(name, (row) => (problemOf(row) === undefined ? own : undefined));
      }),
      ...(measured === true ? this.scores(UNMEASURED_PREFIX, rows, (row) => unmeasuredOf(job, row)) : []),
      ...(explain === true ? [text('explanation', (row) => job?.explanations[row])] : []),
      text('error', (row) => (problemOf(row) === undefined ? undefined : JSON.stringify(problemOf(row)))),
    ];
    return batchOf(columns, rows);
  }

  private scores(prefix: string, rows: number, of: ScoresOf): Column[] {
    const { thresholds } = this.options.model;
    const all = Array.from({ length: rows }, (_, row) => of(row));
    const at = (row: number, place: number): number | undefined => {
      const own = all[row];
      return own?.[0][own[1] + place];
    };
    const validity = nullsOf(rows, (row) => all[row] === undefined);
    const numbers = SCORE_FIELDS.map((name, place) => {
      const data = Float64Array.from({ length: rows }, (_, row) => hundredths(at(row, place) ?? 0) / 100);
      return column(prefix + name, makeData({ type: new Float64(), data, ...validity }));
    });
    const labels = LABEL_FIELDS.map((name, index) => {
      const texts = Array.from({ length: rows }, (_, row) => {
        const score = at(row, SCORE_FIELDS.length + index);
        return score === undefined ? undefined : score >= thresholds[name] ? 'High' : 'Low';
      });
      return column(prefix + name, textData(texts));
    });
    return [...numbers, ...labels];
  }
}

function unmeasuredOf(job: Job | undefined, row: number): ReturnType<ScoresOf> {
  const scores = job?.unmeasured.get(row);
  return scores === undefined ? undefined : [scores, 0];
}

export function batchOf(columns: readonly Column[], length: number): RecordBatch {
  const fields = columns.map(({ field }) => field);
  const children = columns.map(({ data }) => data);
  const data = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new RecordBatch(new Schema(fields), data);
}

export function columnsOf({ schema, data: { children } }: RecordBatch): Column[] {
  return schema.fields.flatMap((field, index) => {
    const data = children[index];
    return data === undefined ? [] : [{ field, data }];
  });
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
  return makeData({
    type: new Utf8(),
    valueOffsets,
    data,
    ...nullsOf(texts.length, (row) => texts[row] === undefined),
  });
}

/** Which rows have a value, in Arrow's form. */
function nullsOf(
  length: number,
  isNull: (row: number) => boolean,
): { readonly length: number; readonly nullCount: number; readonly nullBitmap?: Uint8Array } {
  const nullBitmap = new Uint8Array(Math.ceil(length / 8)).fill(0xff);
  let nullCount = 0;
  for (let row = 0; row < length; row++) {
    if (!isNull(row)) continue;
    nullCount++;
    nullBitmap[row >> 3] = (nullBitmap[row >> 3] ?? 0) & ~(1 << (row & 7));
  }
  return nullCount === 0 ? { length, nullCount: 0 } : { length, nullCount, nullBitmap };
}
