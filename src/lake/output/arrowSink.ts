import {
  AsyncByteQueue,
  Field,
  Float64,
  Int64,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Utf8,
  makeData,
  type Data,
  type DataType,
} from 'apache-arrow';
import type { ArrowColumn } from '../input/page.js';
import type { Job } from '../score/job.js';
import type { PageSink } from '../score/scorePages.js';
import { scoreColumns, type ScoreColumn, type SinkOptions, type WriteBytes } from './scoreColumns.js';

/** Scores as a stream of Arrow. */

/** Writes each page as a record batch: kept columns unchanged, then the scores, and the error of a bad row. */
export function openArrowSink(write: WriteBytes, options: SinkOptions): PageSink {
  const columns = scoreColumns(options);
  const queue = new Pieces();
  const writer = new RecordBatchStreamWriter().reset(queue);
  return {
    async write(job) {
      const { keptColumns = [], rows } = job.page;
      writer.write(batchOf([...keptColumns, ...columns.map((column) => filled(column, job))], rows));
      await write(queue.taken());
    },
    async end() {
      writer.finish();
      await write(queue.taken());
    },
  };
}

/** The bytes of a batch, which come in many pieces. */
class Pieces extends AsyncByteQueue {
  private pieces: Uint8Array[] = [];

  override write(bytes: Uint8Array): void {
    this.pieces.push(bytes);
  }

  taken(): Uint8Array {
    const bytes = Buffer.concat(this.pieces);
    this.pieces = [];
    return bytes;
  }
}

function filled({ name, type, at }: ScoreColumn, job: Job): ArrowColumn {
  const cells = Array.from({ length: job.page.rows }, (_, row) => at(job, row));
  const data = { BIGINT: wholeData, DOUBLE: numberData, VARCHAR: textData }[type](cells);
  return { field: new Field(name, data.type as DataType, true), data };
}

type Cells = readonly (string | number | undefined)[];

function wholeData(cells: Cells): Data {
  const data = BigInt64Array.from(cells, (cell) => BigInt(cell ?? 0));
  return makeData({ type: new Int64(), data, nullBitmap: validityOf(cells) });
}

function numberData(cells: Cells): Data {
  const data = Float64Array.from(cells, Number);
  return makeData({ type: new Float64(), data, nullBitmap: validityOf(cells) });
}

function textData(cells: Cells): Data {
  const texts = cells.map((cell = '') => Buffer.from(String(cell)));
  let end = 0;
  const valueOffsets = Int32Array.from([0, ...texts.map(({ length }) => (end += length))]);
  const data = Buffer.concat(texts);
  return makeData({ type: new Utf8(), valueOffsets, data, nullBitmap: validityOf(cells) });
}

/** One bit for each cell, 0 for an empty one; undefined if none is empty. */
function validityOf(cells: Cells): Uint8Array | undefined {
  if (!cells.includes(undefined)) return undefined;
  const bits = new Uint8Array(Math.ceil(cells.length / 8)).fill(0xff);
  for (const [row, cell] of cells.entries())
    if (cell === undefined) bits[row >> 3] = (bits[row >> 3] ?? 0) & ~(1 << (row & 7));
  return bits;
}

export function batchOf(columns: readonly ArrowColumn[], length: number): RecordBatch {
  const fields = columns.map(({ field }) => field);
  const children = columns.map(({ data }) => data);
  const data = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new RecordBatch(new Schema(fields), data);
}
