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
  vectorFromArray,
  type Data,
  type DataType,
} from 'apache-arrow';
import type { Job } from './job.js';
import {
  scoreColumns,
  type ScoreColumn,
  type ScoreSink,
  type SinkOptions,
  type WriteBytes,
} from './scoreColumns.js';

interface Column {
  readonly field: Field;
  readonly data: Data;
}

/** Writes each page as a record batch: kept columns unchanged, then the scores, and the error of a bad row. */
export function openArrowSink(write: WriteBytes, options: SinkOptions): ScoreSink {
  const columns = scoreColumns(options);
  const queue = new Pieces();
  const writer = new RecordBatchStreamWriter().reset(queue);
  const batch = (kept: RecordBatch | undefined, job: Job | undefined): RecordBatch => {
    const children = kept?.data.children ?? [];
    const own = children.flatMap((data, index) => {
      const field = kept?.schema.fields[index];
      return field === undefined ? [] : [{ field, data }];
    });
    return batchOf([...own, ...columns.map((column) => filled(column, job))], job?.page.rows ?? 0);
  };
  let isEmpty = true;
  return {
    async write(job) {
      isEmpty = false;
      writer.write(batch(job.page.keptColumns, job));
      await write(queue.taken());
    },
    async end() {
      if (isEmpty) writer.write(batch(options.keptColumns, undefined));
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

function filled({ name, type, at }: ScoreColumn, job: Job | undefined): Column {
  const own = { BIGINT: new Int64(), DOUBLE: new Float64(), VARCHAR: new Utf8() }[type];
  const toValue = { BIGINT: BigInt, DOUBLE: Number, VARCHAR: String }[type];
  const values = Array.from({ length: job?.page.rows ?? 0 }, (_, row) => {
    const cell = job && at(job, row);
    return cell === undefined ? null : toValue(cell);
  });
  const [data = makeData<DataType>({ type: own })] = vectorFromArray(values, own as DataType).data;
  return { field: new Field(name, own, true), data };
}

export function batchOf(columns: readonly Column[], length: number): RecordBatch {
  const fields = columns.map(({ field }) => field);
  const children = columns.map(({ data }) => data);
  const data = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new RecordBatch(new Schema(fields), data);
}
