/** The thread that decodes Parquet files (parquetDecoder.ts). */
import { openAsBlob } from 'node:fs';
import type { ReadableStream } from 'node:stream/web';
import { parentPort } from 'node:worker_threads';
import { tableFromIPC } from 'apache-arrow';
import { ParquetFile, type RecordBatch } from 'parquet-wasm';
import { messageOf } from '../base/errors.js';
import type { DecodedBatch, ParquetAnswer, ParquetRequest, ParquetTask } from './parquetDecoder.js';

/** Rows of a record batch: so many samples fit the caches on their way from the decoder to the parser. */
const ROWS_PER_BATCH = 1024;

async function* batches({ path, columns }: ParquetTask): AsyncGenerator<DecodedBatch, void, undefined> {
  const blob = await openAsBlob(path);
  const file = await ParquetFile.fromFile(blob);
  const metadata = file.metadata();
  const bytesPerRow = blob.size / Math.max(1, metadata.fileMetadata().numRows());
  metadata.free();
  const there = tableFromIPC(file.schema().intoIPCStream()).schema.fields.map(({ name }) => name);
  const wanted = there.filter((name) => columns.includes(name));
  const options = { batchSize: ROWS_PER_BATCH, columns: wanted };
  const stream = (await file.stream(options)) as ReadableStream<RecordBatch>;
  for await (const batch of stream) {
    const bytesRead = Math.round(batch.numRows * bytesPerRow);
    // It is copied out of the decoder's memory here, which then takes the next one.
    yield { ipc: batch.intoIPCStream(), bytesRead };
  }
  file.free();
}

const port = parentPort;
if (port === null) throw new Error('this is a thread of its own');
let decoded: ReturnType<typeof batches> | undefined;

function answer(batch: ParquetAnswer): void {
  port?.postMessage(batch, batch !== undefined && 'ipc' in batch ? [batch.ipc.buffer as ArrayBuffer] : []);
}

async function handle(request: ParquetRequest): Promise<void> {
  try {
    if (request !== 'next') decoded = batches(request);
    else answer((await decoded?.next())?.value ?? undefined);
  } catch (error) {
    answer({ failure: messageOf(error) });
  }
}

// One after the other: a failure must be told before the end that follows it.
let last = Promise.resolve();
port.on('message', (request: ParquetRequest) => {
  last = last.then(() => handle(request));
});
