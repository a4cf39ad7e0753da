import { open } from 'node:fs/promises';
import { RecordBatchReader, type RecordBatch } from 'apache-arrow';
import type { Reading } from './page.js';

/** The record batches of a file: Arrow's file form, or a stream that was saved. */
export async function* arrowFileBatches(
  path: string,
  reading: Reading,
): AsyncGenerator<RecordBatch, void, undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const reader = await RecordBatchReader.from(file);
    await reader.open();
    const count = reader.isFile() ? reader.numRecordBatches : 0;
    for await (const batch of reader) {
      if (count > 0) reading.bytesRead += Math.floor(size / count);
      yield batch;
    }
  } finally {
    await file.close();
  }
}
