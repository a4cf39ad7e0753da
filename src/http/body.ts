import type { HttpResponse } from 'uWebSockets.js';
import type { BodyBudget, BudgetOutcome } from './bodyBudget.js';

export interface BodyOptions {
  /** Declared length in bytes; 0 where none was declared. */
  readonly declaredBytes: number;
  readonly bytesMax: number;
  readonly budget: BodyBudget;
  /** Whose share of the budget the body takes. */
  readonly holder: number;
}

export interface BodyListener {
  /** The whole body; `bytes` hold until this returns. */
  complete(bytes: Uint8Array): void;
  /** More than `bytesMax` arrived; the rest, if any, is not read. */
  tooLarge(come: ComeSoFar): void;
  /** The budget for unfinished bodies, or the holder's share of it, is used up. */
  overBudget(cause: Exclude<BudgetOutcome, 'taken'>, come: ComeSoFar): void;
  /** So many blocks of `BLOCK_BYTES` have begun to arrive since the last call; the first one is not told. */
  moreBlocks(blocks: number): void;
}

/** What has come of a body that is refused on the way. */
export interface ComeSoFar {
  readonly bytes: number;
  /** It was the end of the body. */
  readonly isWhole: boolean;
}

/** A body is paid for by blocks of this size: the first with the request, each further one as it begins. */
export const BLOCK_BYTES = 65_536;
const FIRST_BUFFER_BYTES = 65_536;
/** Of a body without a length: most are short, and what is set aside for them is most of what they cost. */
const FIRST_UNDECLARED_BYTES = 4_096;

/** How many blocks a body of `bytes` has begun beyond its first. */
export function furtherBlocks(bytes: number): number {
  return bytes > BLOCK_BYTES ? Math.ceil(bytes / BLOCK_BYTES) - 1 : 0;
}

/**
 * Collects a request's body. A body that arrives in one piece, as most do, is never copied, whether or not its
 * head came in a packet of its own. Memory is taken from the budget as bytes arrive, so that announcing much
 * costs nothing.
 * @returns what to call when the request is aborted
 */
export function readBody(res: HttpResponse, options: BodyOptions, listener: BodyListener): () => void {
  const body = new Body(options, listener);
  res.onData((chunk, isLast) => body.take(chunk, isLast));
  return () => body.end();
}

class Body {
  private buffer: Uint8Array | undefined;
  private length = 0;
  private blocks = 0;
  private isOver = false;

  constructor(
    private readonly options: BodyOptions,
    private readonly listener: BodyListener,
  ) {}

  take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.isOver) return;
    const { listener, options } = this;
    const length = this.length + chunk.byteLength;
    this.countBlocks(length);
    if (length > options.bytesMax) {
      this.end();
      return listener.tooLarge({ bytes: length, isWhole: isLast });
    }
    if (isLast && this.length === 0) {
      this.end();
      return listener.complete(new Uint8Array(chunk));
    }
    // Where the head came alone, uWebSockets.js hands on an empty piece first: nothing is held for that.
    if (chunk.byteLength > 0) {
      const outcome = this.append(chunk);
      if (outcome !== 'taken') {
        this.end();
        return listener.overBudget(outcome, { bytes: length, isWhole: isLast });
      }
    }
    if (!isLast) return;
    const whole = this.buffer?.subarray(0, this.length) ?? new Uint8Array(0);
    this.end();
    listener.complete(whole);
  }

  /** Gives back what is held; every way out leads through here. */
  end(): void {
    this.isOver = true;
    if (this.buffer !== undefined) this.options.budget.give(this.options.holder, this.buffer.length);
    this.buffer = undefined;
  }

  private countBlocks(length: number): void {
    const blocks = furtherBlocks(length);
    if (blocks === this.blocks) return;
    this.listener.moreBlocks(blocks - this.blocks);
    this.blocks = blocks;
  }

  private append(chunk: ArrayBuffer): BudgetOutcome {
    const needed = this.length + chunk.byteLength;
    if (this.buffer === undefined || this.buffer.length < needed) {
      const outcome = this.grow(needed);
      if (outcome !== 'taken') return outcome;
    }
    this.buffer?.set(new Uint8Array(chunk), this.length);
    this.length = needed;
    return 'taken';
  }

  private grow(needed: number): BudgetOutcome {
    const { declaredBytes, bytesMax, budget, holder } = this.options;
    const { buffer } = this;
    const isDeclared = declaredBytes > 0;
    const first = isDeclared ? FIRST_BUFFER_BYTES : FIRST_UNDECLARED_BYTES;
    const wanted = Math.max(needed, first, 2 * (buffer?.length ?? 0));
    const ceiling = Math.max(needed, isDeclared ? declaredBytes : bytesMax);
    const capacity = Math.min(wanted, ceiling);
    const outcome = budget.take(holder, capacity, buffer?.length);
    if (outcome !== 'taken') return outcome;
    const grown = new Uint8Array(capacity);
    if (buffer !== undefined) grown.set(buffer.subarray(0, this.length));
    this.buffer = grown;
    return outcome;
  }
}
