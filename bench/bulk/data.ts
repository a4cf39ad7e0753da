import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  Field,
  Float32,
  Float64,
  List,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  Table,
  TimestampMillisecond,
  Utf8,
  makeData,
  tableToIPC,
  vectorFromArray,
  type Data,
  type DataType,
} from 'apache-arrow';
import { Compression, Table as ParquetTable, WriterPropertiesBuilder, writeParquet } from 'parquet-wasm';
import { SERIES_FIELDS } from '#rules/fields.js';
import { requestsOf } from '#acuity/load/payloads.js';

/** Formats that are measured. */
export const BULK_FORMATS = ['ndjson', 'arrow', 'parquet'] as const;
export type BulkFormat = (typeof BULK_FORMATS)[number];

export interface Lake {
  readonly rows: number;
  readonly people: number;
  readonly formats: readonly BulkFormat[];
}

/** Enough different sessions, used in turn, to exceed the caches. */
const SESSIONS = 2_048;
const ROWS_PER_FILE = 50_000;
const START_MS = Date.UTC(2022, 0, 1, 7);
const DAY_MS = 86_400_000;

const SESSION_LIST = requestsOf('baseline', SESSIONS).map(({ current_session }) => current_session);

/** Writes the nights of people, sorted by time, to files of `folder`. @returns the pattern of each format */
export function writeLake(folder: string, { rows, people, formats }: Lake): Record<BulkFormat, string> {
  const columns = sessionColumns();
  for (const format of formats) {
    mkdirSync(join(folder, format), { recursive: true });
    for (let first = 0, part = 0; first < rows; first += ROWS_PER_FILE, part++) {
      const path = join(folder, format, `nights-${String(part).padStart(4, '0')}.${format}`);
      const piece = { first, last: Math.min(rows, first + ROWS_PER_FILE), people };
      if (format === 'ndjson') writeLines(path, piece);
      else writeTable(path, format, batchesOf(piece, columns));
    }
  }
  const pattern = (format: BulkFormat): string => join(folder, format, `nights-*.${format}`);
  return { ndjson: pattern('ndjson'), arrow: pattern('arrow'), parquet: pattern('parquet') };
}

interface Piece {
  readonly first: number;
  /** One past the last row. */
  readonly last: number;
  readonly people: number;
}

const personOf = (row: number, people: number): string => `person-${row % people}`;
const momentOf = (row: number, people: number): number =>
  START_MS + Math.floor(row / people) * DAY_MS + (row % people);

function writeLines(path: string, { first, last, people }: Piece): void {
  const texts = SESSION_LIST.map((session) => JSON.stringify(session));
  const file = openSync(path, 'w');
  let text = '';
  for (let row = first; row < last; row++) {
    const at = new Date(momentOf(row, people)).toISOString();
    const head = `{"id":"night-${row}","person":"${personOf(row, people)}","at":"${at}"`;
    text += `${head},"current_session":${texts[row % SESSIONS]}}\n`;
    if (text.length < 1 << 22) continue;
    writeSync(file, text);
    text = '';
  }
  writeSync(file, text);
  closeSync(file);
}

interface Columns {
  readonly fields: readonly Field[];
  readonly data: readonly Data[];
}

/** The sessions as columns; every batch of the lake has them, with other people and times. */
function sessionColumns(): Columns {
  const names = Object.keys(SESSION_LIST[0] ?? {}) as (keyof (typeof SESSION_LIST)[number])[];
  const vectors = names.map((name) => {
    const isSeries = SERIES_FIELDS.some((field) => field === name);
    const series = new List(new Field('item', new Float32(), true));
    const type: DataType = isSeries ? series : name === 'sex' ? new Utf8() : new Float64();
    return vectorFromArray(SESSION_LIST.map((session) => session[name] ?? null) as never[], type);
  });
  return {
    fields: vectors.map(({ type }, index) => new Field(names[index] ?? '', type as DataType, true)),
    data: vectors.flatMap(({ data }) => data),
  };
}

function batchesOf({ first, last, people }: Piece, { fields, data }: Columns): RecordBatch[] {
  const batches: RecordBatch[] = [];
  for (let start = first - (first % SESSIONS); start < last; start += SESSIONS) {
    const rows = Array.from({ length: SESSIONS }, (_, index) => start + index);
    const id = vectorFromArray(
      rows.map((row) => `night-${row}`),
      new Utf8(),
    );
    const person = vectorFromArray(
      rows.map((row) => personOf(row, people)),
      new Utf8(),
    );
    const at = vectorFromArray(
      rows.map((row) => momentOf(row, people)),
      new TimestampMillisecond(),
    );
    const own = [id, person, at];
    const all = [
      ...['id', 'person', 'at'].map((name, index) => new Field(name, own[index]?.type as DataType, true)),
      ...fields,
    ];
    const children: Data[] = [...own.flatMap((vector): readonly Data[] => vector.data), ...data];
    const whole = makeData({ type: new Struct(all), length: SESSIONS, nullCount: 0, children });
    const from = Math.max(first - start, 0);
    batches.push(new RecordBatch(new Schema(all), whole).slice(from, Math.min(last - start, SESSIONS)));
  }
  return batches;
}

function writeTable(path: string, format: 'arrow' | 'parquet', batches: readonly RecordBatch[]): void {
  if (format === 'arrow') {
    writeFileSync(path, RecordBatchFileWriter.writeAll([...batches]).toUint8Array(true));
    return;
  }
  const properties = new WriterPropertiesBuilder().setCompression(Compression.SNAPPY).build();
  const table = ParquetTable.fromIPCStream(tableToIPC(new Table([...batches]), 'stream'));
  writeFileSync(path, writeParquet(table, properties));
}
