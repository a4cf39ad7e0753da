import { readSync, writeSync } from 'node:fs';
import type { SeriesLimits } from '#rules/fields.js';
import type { PlainError } from '../../base/errors.js';
import type { RecordingOutcome } from '../../read/readRecording.js';

/**
 * The pipe between an event loop and its reader of recordings. Bodies go one way: their length in four bytes, then the
 * bytes. Answers come back: the lengths of a head (JSON) and of a body, then both.
 */

/** Its descriptor in the reader, which has no other but `/dev/null` and standard error. */
export const PIPE = 3;

/** The reader's only argument, as JSON. */
export interface GivenToReader {
  /** The process that it reads for. */
  readonly parent: number;
  /** Descriptors that it inherits and has to close. */
  readonly inherited: readonly number[];
  readonly limits: SeriesLimits;
}

/** At once, before any body, from a reader that can take one; then the outcome of each body. */
export type AnswerHead =
  | { readonly kind: 'ready' }
  | Exclude<RecordingOutcome, { readonly kind: 'read' }>
  /** Its body is the body of the answer. */
  | Omit<Extract<RecordingOutcome, { readonly kind: 'read' }>, 'body'>
  /** A mistake of ours, without its message: that may hold what was sent. */
  | { readonly kind: 'failed'; readonly error: PlainError };

export interface Answer {
  readonly head: AnswerHead;
  readonly body: Uint8Array;
}

const LENGTH_BYTES = 4;
const LENGTHS_BYTES = 2 * LENGTH_BYTES;
/** More than any recording gives. */
const ANSWER_BYTES_MAX = 1 << 29;

/** The length that stands before `body`. */
export function lengthOf(body: Uint8Array): Uint8Array {
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt32LE(body.length);
  return length;
}

/** The answers in what comes through the pipe, chunk by chunk. */
export class AnswerReader {
  private chunks: Uint8Array[] = [];
  private bytes = 0;
  /** Length of the answer as far as it is known. */
  private needed = LENGTHS_BYTES;

  /** @returns the answer that ends with `chunk`, if one does @throws RangeError if it is longer than any may be */
  take(chunk: Uint8Array): Answer | undefined {
    this.chunks.push(chunk);
    this.bytes += chunk.length;
    while (this.bytes >= this.needed) {
      const all = this.chunks.length === 1 ? chunk : Buffer.concat(this.chunks);
      const come = Buffer.from(all.buffer, all.byteOffset, all.length);
      const headEnd = LENGTHS_BYTES + come.readUInt32LE(0);
      const end = headEnd + come.readUInt32LE(LENGTH_BYTES);
      if (end > ANSWER_BYTES_MAX) throw new RangeError('an answer that is too long');
      this.chunks = [come];
      if (this.needed < end) {
        this.needed = end;
        continue;
      }
      [this.chunks, this.bytes, this.needed] = [[], 0, LENGTHS_BYTES];
      const head = JSON.parse(come.toString('utf8', LENGTHS_BYTES, headEnd)) as AnswerHead;
      return { head, body: come.subarray(headEnd, end) };
    }
    return undefined;
  }
}

/** The reader's end of the pipe, which it waits at: it does nothing else. */
export class ReaderEnd {
  private buffer = Buffer.alloc(1 << 16);

  /** Waits for the next body. @returns it, valid until the next one; undefined if the pipe has ended */
  next(): Uint8Array | undefined {
    if (!this.fill(LENGTH_BYTES)) return undefined;
    const length = this.buffer.readUInt32LE(0);
    if (length > this.buffer.length) this.buffer = Buffer.alloc(length);
    return this.fill(length) ? this.buffer.subarray(0, length) : undefined;
  }

  /** @throws if the pipe has ended */
  answer(head: AnswerHead, body: Uint8Array = new Uint8Array()): void {
    const text = Buffer.from(JSON.stringify(head));
    const lengths = Buffer.alloc(LENGTHS_BYTES);
    lengths.writeUInt32LE(text.length);
    lengths.writeUInt32LE(body.length, LENGTH_BYTES);
    for (let left = Buffer.concat([lengths, text, body]); left.length > 0;)
      left = left.subarray(writeSync(PIPE, left));
  }

  private fill(bytes: number): boolean {
    for (let come = 0; come < bytes;) {
      const more = readSync(PIPE, this.buffer, come, bytes - come, null);
      if (more === 0) return false;
      come += more;
    }
    return true;
  }
}
