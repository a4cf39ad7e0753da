import { openAsBlob } from 'node:fs';
import type { ReadableStream } from 'node:stream/web';
import { tableFromIPC } from 'apache-arrow';
import { parseRecordBatch } from 'arrow-js-ffi';
import { ParquetFile, wasmMemory, type RecordBatch } from 'parquet-wasm';
import { wholeDecimals } from './tableDecimals.js';
import type { TableRowReader, TableRows } from './tableRows.js';

/** Rows of a record batch: so many samples fit the caches on their way from the decoder to the parser. */
const ROWS_PER_BATCH = 1024;

/** The rows of a Parquet file, read by `reader`; of its columns those that are wanted, as far as they are there. */
export async function* parquetRows(
  path: string,
  columns: readonly string[],
  reader: TableRowReader,
): AsyncGenerator<TableRows, void, undefined> {
  const blob = await openAsBlob(path);
  const file = await ParquetFile.fromFile(blob);
  const metadata = file.metadata();
  const bytesPerRow = blob.size / Math.max(1, metadata.fileMetadata().numRows());
  metadata.free();
  const there = tableFromIPC(file.schema().intoIPCStream()).schema.fields.map(({ name }) => name);
  const wanted = there.filter((name) => columns.includes(name));
  const options = { batchSize: ROWS_PER_BATCH, columns: wanted };
  const stream = (await file.stream(options)) as ReadableStream<RecordBatch>;
  for await (const decoded of stream) yield* rowsOf(decoded, bytesPerRow, reader);
  file.free();
}

/** Reads a batch where it lies in the decoder's memory: at once, before the decoder moves it. */
function rowsOf(decoded: RecordBatch, bytesPerRow: number, reader: TableRowReader): TableRows[] {
  const place = decoded.intoFFI();
  try {
    const { buffer } = wasmMemory() as WebAssembly.Memory;
    const batch = wholeDecimals(parseRecordBatch(buffer, place.arrayAddr(), place.schemaAddr(), false));
    return [...reader.read({ batch, bytesRead: Math.round(batch.numRows * bytesPerRow) })];
  } finally {
    place.free();
  }
}
