import { tableFromIPC, type RecordBatch } from 'apache-arrow';
import type { Reading } from './page.js';
import type { ParquetDecoder, ParquetTask } from './parquetDecoder.js';

/** The record batches of a Parquet file, decoded by `decoder`. */
export async function* parquetBatches(
  decoder: ParquetDecoder,
  task: ParquetTask,
  reading: Reading,
): AsyncGenerator<RecordBatch, void, undefined> {
  for await (const { ipc, bytesRead } of decoder.batches(task)) {
    reading.bytesRead += bytesRead;
    const [batch] = tableFromIPC(ipc).batches;
    if (batch !== undefined) yield batch;
  }
}
