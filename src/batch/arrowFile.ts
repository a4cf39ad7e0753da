import { readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { RecordBatchReader, Table, tableToIPC, type Schema } from 'apache-arrow';
import { TableError } from './tableError.js';
import type { TablePiece } from './tableRows.js';

/** The schema of a file, as an Arrow stream without rows. */
export async function arrowSchema(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const reader = await RecordBatchReader.from(file);
    await reader.open();
    return tableToIPC(new Table(reader.schema), 'stream');
  } finally {
    await file.close();
  }
}

/**
 * The record batches of a file: Arrow's file format, or a saved stream. With the file format, all batches are read
 * into the same memory: allocating some megabytes for each costs more than reading it.
 */
export async function* arrowPieces(path: string): AsyncGenerator<TablePiece, void, undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const reader = await RecordBatchReader.from(file);
    await reader.open();
    if (!reader.isFile() || reader.footer === null) {
      for await (const batch of reader) yield { batch, bytesRead: 0 };
      return;
    }
    const { footer } = reader;
    const blocks = [...footer.recordBatches()];
    const messages = new Messages({ fd: file.fd, size }, footer.schema, [...footer.dictionaryBatches()]);
    for (const block of blocks) {
      // As a stream of its own: schema, dictionaries, one batch.
      const [batch] = RecordBatchReader.from(messages.upTo(block)).open();
      if (batch === undefined) throw new TableError('a record batch of the file is missing');
      yield { batch, bytesRead: Math.floor(size / blocks.length) };
    }
  } finally {
    await file.close();
  }
}

/** Where a message is in the file: its metadata, then its body. */
interface Block {
  readonly offset: number;
  readonly metaDataLength: number;
  readonly bodyLength: number;
}

/** Messages of a file in one buffer, in the order of a stream. */
class Messages {
  private bytes: Uint8Array = new Uint8Array(0);
  /** End of the schema and dictionaries, which every batch needs. */
  private readonly head: number;

  constructor(
    private readonly file: { readonly fd: number; readonly size: number },
    schema: Schema,
    dictionaries: readonly Block[],
  ) {
    const first = schemaMessage(schema);
    let end = first.length;
    this.bytes = this.bytesUpTo(end, 0);
    this.bytes.set(first);
    for (const block of dictionaries) {
      this.put(block, end);
      end += lengthOf(block);
    }
    this.head = end;
  }

  /** The head, followed by the message at `block`; valid until the next call. */
  upTo(block: Block): Uint8Array {
    this.put(block, this.head);
    return this.bytes.subarray(0, this.head + lengthOf(block));
  }

  private put(block: Block, at: number): void {
    // Checked before memory is allocated, since the index may be damaged.
    const isInside = Math.min(block.offset, block.metaDataLength, block.bodyLength) >= 0;
    if (!isInside || block.offset + lengthOf(block) > this.file.size)
      throw new TableError('the file ends too early');
    const end = at + lengthOf(block);
    this.bytes = this.bytesUpTo(end, at);
    this.read(this.bytes.subarray(at, end), block.offset);
  }

  /** A buffer of at least `end` bytes, which keeps the first `kept` bytes. */
  private bytesUpTo(end: number, kept: number): Uint8Array {
    if (end <= this.bytes.length) return this.bytes;
    const grown = new Uint8Array(end);
    grown.set(this.bytes.subarray(0, kept));
    return grown;
  }

  private read(into: Uint8Array, position: number): void {
    for (let done = 0; done < into.length;) {
      const bytes = readSync(
        this.file.fd,
        into,
        done,
        Math.min(into.length - done, 1 << 30),
        position + done,
      );
      if (bytes === 0) throw new TableError('the file ends too early');
      done += bytes;
    }
  }
}

/** Written anew: a file may have its schema only in the footer. */
function schemaMessage(schema: Schema): Uint8Array {
  const stream = tableToIPC(new Table(schema), 'stream');
  const [, length = 0] = new Int32Array(stream.slice(0, 8).buffer);
  return stream.subarray(0, 8 + length);
}

function lengthOf({ metaDataLength, bodyLength }: Block): number {
  return metaDataLength + bodyLength;
}
