import type { ReadableStream } from 'node:stream/web';
import { tableToIPC, Table, type RecordBatch } from 'apache-arrow';
import {
  Compression,
  Table as ParquetTable,
  WriterPropertiesBuilder,
  transformParquetStream,
  type RecordBatch as ParquetBatch,
} from 'parquet-wasm';

/** Writes record batches of one schema as Parquet; a row group is held in memory until complete. */
export class ParquetWriter {
  private readonly batches = new TransformStream<ParquetBatch, ParquetBatch>();
  private readonly writer = this.batches.writable.getWriter();
  private readonly copied: Promise<void>;

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.copied = this.copy(write);
    this.copied.catch(() => undefined); // reported by the call that awaits it
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
