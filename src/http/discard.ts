import type { HttpResponse } from 'uWebSockets.js';
import { furtherBlocks } from './body.js';

/** At most this much of a refused body is read and thrown away. */
export const DISCARD_BYTES_MAX = 64 * 1024 * 1024;
const DISCARD_MS = 5_000;

export interface DiscardListener {
  /** The last chunk has arrived, or the limit is reached; `bytes` have arrived of the whole body. */
  over(bytes: number): void;
  /** This many blocks have begun to arrive since the last call. */
  moreBlocks(blocks: number): void;
  /** The caller hung up before that. */
  aborted(): void;
}

/**
 * Reads the rest of a chunked body and throws it away, after the `bytes` that have arrived: if the connection
 * ended while the caller still sends, the caller would lose the answer.
 */
export function discardBody(res: HttpResponse, bytes: number, listener: DiscardListener): void {
  let isOver = false;
  let come = bytes;
  const end = (): void => {
    isOver = true;
    clearTimeout(timer);
    listener.over(come);
  };
  const timer = setTimeout(end, DISCARD_MS);
  res.onAborted(() => {
    clearTimeout(timer);
    listener.aborted();
  });
  res.onData((chunk, isLast) => {
    if (isOver) return;
    const blocks = furtherBlocks(come);
    come += chunk.byteLength;
    const begun = furtherBlocks(come) - blocks;
    if (begun > 0) listener.moreBlocks(begun);
    if (isLast || come > DISCARD_BYTES_MAX) end();
  });
}
