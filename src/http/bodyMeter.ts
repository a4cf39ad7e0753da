import type { HttpResponse } from 'uWebSockets.js';
import { furtherBlocks, weightOf } from './prices.js';

/** Counts the bytes of a body that arrives, and the pieces in which the HTTP library hands them on: at least one for each chunk. */
export class BodyMeter {
  bytes = 0;
  private pieces = 0;
  private blocks = 0;

  /** In bytes, as the body is priced: each piece counts for some. */
  get weight(): number {
    return weightOf(this.bytes, this.pieces);
  }

  /** A piece of that length came. @returns how many blocks it has begun; the first of the body is not counted */
  add(bytes: number): number {
    this.bytes += bytes;
    this.pieces++;
    const before = this.blocks;
    this.blocks = furtherBlocks(this.weight);
    return this.blocks - before;
  }

  /** Whether there are more pieces than that, and so short that they weigh more than their bytes. */
  isBeyond(piecesMax: number): boolean {
    return this.pieces > piecesMax && this.weight > this.bytes;
  }
}

export interface MeterListener {
  /** This many blocks of `BLOCK_BYTES` have begun to arrive since the last call; the first block is not counted. */
  moreBlocks(blocks: number): void;
  /** More short pieces than are read: end the connection, which is all that keeps the rest of them from being handed on. */
  tooManyPieces(): void;
}

/** Hands each piece of a body on to `take`, once it is metered. Nothing else reads a body. `isPaid`: a key pays for it. */
export function meterBody(
  res: HttpResponse,
  { meter, isPaid }: { readonly meter: BodyMeter; readonly isPaid: boolean },
  listener: MeterListener,
  take: (chunk: ArrayBuffer, isLast: boolean) => void,
): void {
  const piecesMax = isPaid ? PAID_PIECES_MAX : UNPAID_PIECES_MAX;
  res.onData((chunk, isLast) => {
    const blocks = meter.add(chunk.byteLength);
    if (blocks > 0) listener.moreBlocks(blocks);
    if (meter.isBeyond(piecesMax)) listener.tooManyPieces();
    else take(chunk, isLast);
  });
}

/** One packet may bring as many, and the event loop does nothing else until they are read. */
const PAID_PIECES_MAX = 65_536;
/** A client without a key that writes ordinary chunks stays below it, however long its body is. */
const UNPAID_PIECES_MAX = 1_024;
