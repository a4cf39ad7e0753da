import { openAsBlob } from 'node:fs';
import type { ReadableStream } from 'node:stream/web';
import { tableFromIPC, tableToIPC, Table, type RecordBatch } from 'apache-arrow';
import {
  Compression,
  ParquetFile,
  Table as ParquetTable,
  WriterPropertiesBuilder,
  transformParquetStream,
  type RecordBatch as ParquetBatch,
} from 'parquet-wasm';
import type { Reading } from './page.js';

/** Rows of a record batch: so many samples fit the caches on their way from the decoder to the parser. */
const ROWS_PER_BATCH = 1024;

/** The record batches of a Parquet file, of the columns that are asked for. */
export async function* parquetBatches(
  path: string,
  isWanted: (column: string) => boolean,
  reading: Reading,
): AsyncGenerator<RecordBatch, void, undefined> {
  const blob = await openAsBlob(path);
  const file = await ParquetFile.fromFile(blob);
  const metadata = file.metadata();
  const bytesPerRow = blob.size / Math.max(1, metadata.fileMetadata().numRows());
  metadata.free();
  const columns = columnsOf(file).filter(isWanted);
  const stream = (await file.stream({ batchSize: ROWS_PER_BATCH, columns })) as ReadableStream<ParquetBatch>;
  for await (const batch of stream) {
    // It is copied out of the decoder's memory here, which then takes the next one.
    const read = tableFromIPC(batch.intoIPCStream()).batches[0];
    if (read === undefined) continue;
    reading.bytesRead += Math.round(read.numRows * bytesPerRow);
    yield read;
  }
  file.free();
}

function columnsOf(file: ParquetFile): string[] {
  const table = tableFromIPC(file.schema().intoIPCStream());
  return table.schema.fields.map(({ name }) => name);
}

/** Writes record batches of one schema as Parquet; the rows of a group are held until it is whole. */
export class ParquetWriter {
  private readonly batches = new TransformStream<ParquetBatch, ParquetBatch>();
  private readonly writer = this.batches.writable.getWriter();
  private readonly copied: Promise<void>;

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.copied = this.copy(write);
    this.copied.catch(() => undefined); // told by whoever waits for it
  }

  async write(batch: RecordBatch): Promise<void> {
    const table = ParquetTable.fromIPCStream(tableToIPC(new Table([batch]), 'stream'));
    const [copy] = table.recordBatches();
    if (copy === undefined) return;
    await Promise.race([this.writer.write(copy), this.copied]);
  }

  async end(): Promise<void> {
    await this.writer.close();
    await this.copied;
  }

  private async copy(write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    const properties = new WriterPropertiesBuilder().setCompression(Compression.ZSTD).build();
    const bytes = await transformParquetStream(this.batches.readable as never, properties);
    for await (const chunk of bytes as ReadableStream<Uint8Array>) await write(chunk);
  }
}
