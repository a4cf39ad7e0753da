import {
  Field,
  Int64,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  makeData,
  type Data,
  type DataType,
} from 'apache-arrow';
import { fieldOf } from './columnNames.js';
import type { Partition } from './partitions.js';
import { namesBeside, type RowColumns } from './rowColumns.js';

/** The batch with the needed columns from its file's path. */
export function withPartitions(batch: RecordBatch, columns: RowColumns): RecordBatch {
  const { partitions = [], names } = columns;
  const beside = new Set(namesBeside(columns));
  const added = partitions.filter(({ name }) => beside.has(name) || fieldOf(name, names) !== undefined);
  if (added.length === 0) return batch;
  const length = batch.numRows;
  const children = [...batch.data.children, ...added.map((partition) => constantColumn(partition, length))];
  const fields = [...batch.schema.fields, ...added.map((partition) => partitionField(partition))];
  const data = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new RecordBatch(new Schema(fields, batch.schema.metadata), data);
}

export function partitionField({ name, isNumber }: Partition): Field<DataType> {
  return new Field<DataType>(name, isNumber ? new Int64() : new Utf8(), true);
}

/** A column with the same value in each row. */
function constantColumn({ value, isNumber }: Partition, length: number): Data {
  const validity =
    value === null
      ? { length, nullCount: length, nullBitmap: new Uint8Array(Math.ceil(length / 8)) }
      : { length, nullCount: 0 };
  if (isNumber) {
    return makeData({
      type: new Int64(),
      data: new BigInt64Array(length).fill(BigInt(value ?? 0)),
      ...validity,
    });
  }
  const bytes = Buffer.from(value ?? '');
  const valueOffsets = Int32Array.from({ length: length + 1 }, (_, row) => row * bytes.length);
  return makeData({
    type: new Utf8(),
    valueOffsets,
    data: new Uint8Array(Buffer.alloc(bytes.length * length, bytes)),
    ...validity,
  });
}
