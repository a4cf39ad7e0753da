import { join } from 'node:path';
import { BIGINT, BOOLEAN, DOUBLE, DuckDBDataChunk, VARCHAR, type DuckDBType } from '@duckdb/node-api';
import bindings, { type Vector } from '@duckdb/node-bindings';
import { DataType, type RecordBatch } from 'apache-arrow';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { quoted, textOf, type Engine } from './engine.js';
import { twoDecimals, type Job } from './job.js';
import type { LineOptions } from './lineWriter.js';
import type { KeptColumns } from './page.js';
import { UNMEASURED_PREFIX } from './unmeasured.js';
import { columnOf, copyVector } from './vectors.js';

/** Rows of a chunk of the engine, at most. */
const CHUNK_ROWS = 2048;
/** Rows in memory; more wait in a file of the engine's folder. A multiple of the rows of a row group. */
const PART_ROWS = 4 * 122_880;
const FORMAT = '(FORMAT parquet, COMPRESSION zstd)';

export interface TableSinkOptions extends LineOptions {
  readonly isStream: boolean;
  readonly keptColumns?: KeptColumns | undefined;
}

/** A column of the output: what the engine's table holds, and what is selected of it. */
interface OutColumn {
  readonly name: string;
  readonly type: DuckDBType;
  readonly select: (own: string) => string;
  fill(vector: Vector, job: Job, from: number, rows: number): void;
}

/** Collects scored rows, and writes them as Parquet once all are there. */
export class TableSink {
  private static count = 0;
  private readonly table = `out${TableSink.count++}`;
  private readonly columns: readonly OutColumn[];
  private rows = 0;
  private readonly parts: string[] = [];
  private appender: Awaited<ReturnType<Engine['appender']>> | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly options: TableSinkOptions,
  ) {
    this.columns = [
      ...keptColumns(options),
      numberColumn('row', BIGINT, (job, row) => job.page.numberOf(row)),
      ...scoreColumns(
        '',
        options,
        (job, row) => (job.problems.has(row) ? undefined : job.scores),
        (row) => row,
      ),
      ...modelColumns(options),
      ...(options.measured === true
        ? scoreColumns(
            UNMEASURED_PREFIX,
            options,
            (job, row) => job.unmeasured.get(row),
            () => 0,
          )
        : []),
      ...(options.explain === true ? [textColumn('explanation', (job, row) => job.explanations[row])] : []),
      ...(options.isStream ? [textColumn('error', errorOf)] : []),
    ];
  }

  async write(job: Job): Promise<void> {
    const { page, problems } = job;
    this.appender ??= await this.begin();
    const types = [...this.columns.map(({ type }) => type), BOOLEAN];
    for (let from = 0; from < page.rows; from += CHUNK_ROWS) {
      const rows = Math.min(page.rows - from, CHUNK_ROWS);
      const chunk = DuckDBDataChunk.create(types, rows);
      for (const [index, column] of this.columns.entries())
        column.fill(columnOf(chunk, index), job, from, rows);
      const isGood = Uint8Array.from({ length: rows }, (_, row) => (problems.has(from + row) ? 0 : 1));
      copyTo(columnOf(chunk, this.columns.length), isGood);
      this.appender.appendDataChunk(chunk);
    }
    this.rows += page.rows;
    if (this.rows >= PART_ROWS) await this.setPartAside();
  }

  /** Writes all rows to `path`. */
  async writeTo(path: string): Promise<void> {
    this.appender ??= await this.begin();
    if (this.parts.length > 0) {
      await this.setPartAside();
      const files = this.parts.map(textOf).join(', ');
      await this.engine.run(
        `COPY (FROM read_parquet([${files}])) TO ${textOf(path)} ${FORMAT}`,
        'the output',
      );
      return;
    }
    await this.copy(path);
    await this.engine.run(`DROP TABLE ${this.table}`, 'the output');
  }

  private async begin(): Promise<NonNullable<typeof this.appender>> {
    const columns = this.columns.map(({ type }, index) => `c${index} ${String(type)}`);
    await this.engine.run(`CREATE TABLE ${this.table} (${columns.join(', ')}, good BOOLEAN)`, 'the output');
    return this.engine.appender(this.table);
  }

  private async setPartAside(): Promise<void> {
    const path = join(this.engine.folder, `${this.table}-${this.parts.length}.parquet`);
    await this.copy(path);
    await this.engine.run(`DROP TABLE ${this.table}`, 'the output');
    this.parts.push(path);
    this.rows = 0;
    this.appender = await this.begin();
  }

  private async copy(path: string): Promise<void> {
    this.appender?.closeSync();
    const selected = this.columns.map(
      ({ name, select }, index) => `${select(`c${index}`)} AS ${quoted(name)}`,
    );
    const where = this.options.isStream ? '' : ' WHERE good';
    const select = `SELECT ${selected.join(', ')} FROM ${this.table}${where}`;
    await this.engine.run(`COPY (${select}) TO ${textOf(path)} ${FORMAT}`, 'the output');
  }
}

const plain = (own: string): string => own;

/** The kept columns: unchanged if the engine read them, else from JSON to the nearest type. */
function keptColumns({ keep, keptColumns: kept }: TableSinkOptions): OutColumn[] {
  if (kept?.of === 'engine')
    return kept.types.map((type, place) => ({
      name: keep[place] ?? '',
      type,
      select: plain,
      fill(vector, { page }, _from, rows) {
        const own = page.keptColumns;
        if (own?.of === 'engine' && own.chunk !== undefined)
          copyVector(columnOf(own.chunk, place), vector, type, rows);
      },
    }));
  return keep.map((name) => {
    const cast = kept === undefined ? plain : castOf(kept.batch, name);
    return { ...textColumn(name, (job, row) => plainText(job.page.kept(name, row))), select: cast };
  });
}

function castOf(batch: RecordBatch, name: string): (own: string) => string {
  const type = batch.schema.fields.find((field) => field.name === name)?.type as DataType | undefined;
  if (DataType.isInt(type)) return (own) => `CAST(${own} AS BIGINT)`;
  if (DataType.isFloat(type) || DataType.isDecimal(type)) return (own) => `CAST(${own} AS DOUBLE)`;
  if (DataType.isBool(type)) return (own) => `CAST(${own} AS BOOLEAN)`;
  if (DataType.isDate(type)) return (own) => `CAST(epoch_ms(CAST(${own} AS BIGINT)) AS DATE)`;
  if (DataType.isTimestamp(type)) {
    const time = (own: string): string => `make_timestamp(CAST(CAST(${own} AS DOUBLE) * 1000 AS BIGINT))`;
    return (own) =>
      type.timezone === null || type.timezone === undefined ? time(own) : `(${time(own)} AT TIME ZONE 'UTC')`;
  }
  return plain;
}

function plainText(json: string | undefined): string | undefined {
  if (json === undefined || json === 'null') return undefined;
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

function scoreColumns(
  prefix: string,
  { model: { thresholds } }: LineOptions,
  scoresOf: (job: Job, row: number) => Float32Array | undefined,
  rowOf: (row: number) => number,
): OutColumn[] {
  const at = (job: Job, row: number, column: number): number | undefined =>
    scoresOf(job, row)?.[rowOf(row) * OUTPUT_COLUMNS + column];
  const scores = SCORE_FIELDS.map((name, index) =>
    numberColumn(prefix + name, DOUBLE, (job, row) => {
      const score = at(job, row, index);
      return score === undefined ? undefined : twoDecimals(score);
    }),
  );
  const labels = LABEL_FIELDS.map((name, index): OutColumn => {
    const column = numberColumn(prefix + name, BOOLEAN, (job, row) => {
      const score = at(job, row, SCORE_FIELDS.length + index);
      return score === undefined ? undefined : Number(score >= thresholds[name]);
    });
    return { ...column, select: (own) => `CASE ${own} WHEN true THEN 'High' WHEN false THEN 'Low' END` };
  });
  return [...scores, ...labels];
}

/** The same in every row with scores. */
function modelColumns({ model }: LineOptions): OutColumn[] {
  return ['model', 'model_version'].map((name, index) => ({
    ...numberColumn(name, BOOLEAN, (job, row) => (job.problems.has(row) ? undefined : 1)),
    select: (own) => `CASE WHEN ${own} THEN ${textOf(model.version.split('/')[index] ?? '')} END`,
  }));
}

function numberColumn(
  name: string,
  type: DuckDBType,
  at: (job: Job, row: number) => number | undefined,
): OutColumn {
  return {
    name,
    type,
    select: plain,
    fill(vector, job, from, rows) {
      const values =
        type === DOUBLE
          ? new Float64Array(rows)
          : type === BOOLEAN
            ? new Uint8Array(rows)
            : new BigInt64Array(rows);
      const valid = new Uint8Array(8 * Math.ceil(rows / 64)).fill(0xff);
      let hasNull = false;
      for (let row = 0; row < rows; row++) {
        const value = at(job, from + row);
        if (value === undefined) {
          hasNull = true;
          valid[row >> 3] = (valid[row >> 3] ?? 0) & ~(1 << (row & 7));
        } else if (values instanceof BigInt64Array) values[row] = BigInt(value);
        else values[row] = value;
      }
      copyTo(vector, values);
      if (hasNull) copyValidity(vector, valid);
    },
  };
}

function textColumn(name: string, at: (job: Job, row: number) => string | undefined): OutColumn {
  return {
    name,
    type: VARCHAR,
    select: plain,
    fill(vector, job, from, rows) {
      const valid = new Uint8Array(8 * Math.ceil(rows / 64)).fill(0xff);
      for (let row = 0; row < rows; row++) {
        const text = at(job, from + row);
        if (text === undefined) valid[row >> 3] = (valid[row >> 3] ?? 0) & ~(1 << (row & 7));
        else bindings.vector_assign_string_element_len(vector, row, Buffer.from(text));
      }
      copyValidity(vector, valid);
    },
  };
}

function errorOf({ problems }: Job, row: number): string | undefined {
  const problem = problems.get(row);
  return problem === undefined ? undefined : JSON.stringify(problem);
}

function copyTo(vector: Vector, { buffer, byteOffset, byteLength }: ArrayBufferView): void {
  bindings.copy_data_to_vector(vector, 0, buffer as ArrayBuffer, byteOffset, byteLength);
}

function copyValidity(vector: Vector, bits: Uint8Array): void {
  bindings.vector_ensure_validity_writable(vector);
  bindings.copy_data_to_vector_validity(
    vector,
    0,
    bits.buffer as ArrayBuffer,
    bits.byteOffset,
    bits.byteLength,
  );
}
