import type { HttpResponse } from 'uWebSockets.js';
import { furtherBlocks } from './body.js';

/** Of a body that is refused, so much is read and thrown away. */
export const DISCARD_BYTES_MAX = 64 * 1024 * 1024;
const DISCARD_MS = 5_000;

export interface DiscardListener {
  /** The last chunk has come, or more than is read; `bytes`: of the whole body, as far as it came. */
  over(bytes: number): void;
  /** So many blocks have begun to arrive since the last call. */
  moreBlocks(blocks: number): void;
  /** The caller hung up before that. */
  aborted(): void;
}

/**
 * Reads the rest of a chunked body and throws it away, after the `bytes` that have come: a connection that ends
 * while its caller still sends would lose the answer.
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
