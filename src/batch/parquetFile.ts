import { openAsBlob } from 'node:fs';
import type { ReadableStream } from 'node:stream/web';
import { tableFromIPC } from 'apache-arrow';
import { ParquetFile, type RecordBatch } from 'parquet-wasm';
import type { TablePiece } from './tableRows.js';

/** Rows of a record batch: so many samples fit the caches on their way from the decoder to the parser. */
const ROWS_PER_BATCH = 1024;

/** The rows of a Parquet file; of its columns those that are wanted, as far as they are there. */
export async function* parquetPieces(
  path: string,
  columns: readonly string[],
): AsyncGenerator<TablePiece, void, undefined> {
  const blob = await openAsBlob(path);
  const file = await ParquetFile.fromFile(blob);
  const metadata = file.metadata();
  const bytesPerRow = blob.size / Math.max(1, metadata.fileMetadata().numRows());
  metadata.free();
  const there = tableFromIPC(file.schema().intoIPCStream()).schema.fields.map(({ name }) => name);
  const wanted = there.filter((name) => columns.includes(name));
  const stream = (await file.stream({
    batchSize: ROWS_PER_BATCH,
    columns: wanted,
  })) as ReadableStream<RecordBatch>;
  for await (const decoded of stream) {
    // It is copied out of the decoder's memory here, which then takes the next one.
    const [batch] = tableFromIPC(decoded.intoIPCStream()).batches;
    if (batch !== undefined) yield { batch, bytesRead: Math.round(batch.numRows * bytesPerRow) };
  }
  file.free();
}
