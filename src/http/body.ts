import type { HttpResponse } from 'uWebSockets.js';
import type { BodyBudget, BudgetOutcome } from './bodyBudget.js';
import type { BodyBuffers } from './bodyBuffers.js';
import { BodyMeter, type MeterListener, meterBody } from './bodyMeter.js';

/**
 * Collects a request's body. A body that arrives in one piece, as most do, is never copied, even if its head
 * came in a separate packet. Memory is taken from the budget as bytes arrive, so a large declared length
 * costs nothing.
 * @returns a function to call when the request is aborted
 */
export function collectBody(res: HttpResponse, options: BodyOptions, listener: BodyListener): () => void {
  const meter = new BodyMeter();
  const body = new Body(options, listener, meter);
  meterBody(res, { meter, isPaid: true }, listener, (chunk, isLast) => body.take(chunk, isLast));
  return () => body.end();
}

export interface BodyOptions {
  /** Declared length in bytes; 0 if none was declared. */
  readonly declaredBytes: number;
  readonly bytesMax: number;
  readonly budget: BodyBudget;
  readonly buffers: BodyBuffers;
  /** The holder whose share of the budget the body takes. */
  readonly holder: number;
  /** The body is needed after `complete`: it is always copied, and its listener gives its memory back. */
  readonly isKept?: boolean;
}

export interface BodyListener extends MeterListener {
  /** The whole body. `bytes` are valid until this returns; for a kept body, until `giveBack` is called. */
  complete(bytes: Uint8Array, giveBack: () => void): void;
  /** More than `bytesMax` arrived; the rest, if any, is not read. */
  tooLarge(come: ComeSoFar): void;
  /** The budget for unfinished bodies has no more for this holder. */
  overBudget(cause: Exclude<BudgetOutcome, 'taken'>, come: ComeSoFar): void;
}

/** The part that has arrived of a body that is refused while it is received. */
export interface ComeSoFar {
  /** Undefined at the head of a request. */
  readonly meter?: BodyMeter;
  /** Whether that was the end of the body. */
  readonly isWhole: boolean;
}

const FIRST_BUFFER_BYTES = 65_536;
/** First buffer for a body without a length: most are short, and the buffer is most of their cost. */
const FIRST_UNDECLARED_BYTES = 4_096;

const NOTHING_HELD = (): void => undefined;

class Body {
  private buffer: Uint8Array | undefined;
  /** Bytes taken from the budget: the buffer may be a little longer. */
  private held = 0;
  private length = 0;
  private isOver = false;

  constructor(
    private readonly options: BodyOptions,
    private readonly listener: BodyListener,
    private readonly meter: BodyMeter,
  ) {}

  take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.isOver) return;
    const { listener, meter, options } = this;
    if (meter.bytes > options.bytesMax) {
      this.end();
      return listener.tooLarge({ meter, isWhole: isLast });
    }
    if (isLast && this.length === 0 && options.isKept !== true) {
      this.end();
      return listener.complete(new Uint8Array(chunk), NOTHING_HELD);
    }
    // If the head came alone, uWebSockets.js first passes an empty piece: no memory is taken for that.
    if (chunk.byteLength > 0) {
      const outcome = this.append(chunk);
      if (outcome !== 'taken') {
        this.end();
        return listener.overBudget(outcome, { meter, isWhole: isLast });
      }
    }
    if (isLast) this.handOver();
  }

  private handOver(): void {
    const { buffer, listener, options } = this;
    const whole = buffer?.subarray(0, this.length) ?? new Uint8Array(0);
    this.isOver = true;
    this.buffer = undefined;
    if (options.isKept === true) return listener.complete(whole, this.returning(buffer));
    this.giveBudget();
    listener.complete(whole, NOTHING_HELD);
    if (buffer !== undefined) options.buffers.give(buffer);
  }

  /** Gives the memory back; every exit but `handOver` calls it. */
  end(): void {
    this.isOver = true;
    const { buffer } = this;
    if (buffer === undefined) return;
    this.buffer = undefined;
    this.giveBudget();
    this.options.buffers.give(buffer);
  }

  /** A function that gives back `buffer` at its first call. After a second one two bodies would share it. */
  private returning(buffer: Uint8Array | undefined): () => void {
    let isHeld = buffer !== undefined;
    return () => {
      if (!isHeld || buffer === undefined) return;
      isHeld = false;
      this.giveBudget();
      this.options.buffers.give(buffer);
    };
  }

  private giveBudget(): void {
    if (this.held > 0) this.options.budget.give(this.options.holder, this.held);
    this.held = 0;
  }

  private append(chunk: ArrayBuffer): BudgetOutcome {
    const needed = this.length + chunk.byteLength;
    if (this.held < needed) {
      const outcome = this.grow(needed);
      if (outcome !== 'taken') return outcome;
    }
    this.buffer?.set(new Uint8Array(chunk), this.length);
    this.length = needed;
    return 'taken';
  }

  private grow(needed: number): BudgetOutcome {
    const { declaredBytes, bytesMax, budget, buffers, holder } = this.options;
    const { buffer, held } = this;
    const isDeclared = declaredBytes > 0;
    const first = isDeclared ? FIRST_BUFFER_BYTES : FIRST_UNDECLARED_BYTES;
    const wanted = Math.max(needed, first, 2 * held);
    const ceiling = Math.max(needed, isDeclared ? declaredBytes : bytesMax);
    const capacity = Math.min(wanted, ceiling);
    const outcome = budget.take(holder, capacity, held);
    if (outcome !== 'taken') return outcome;
    this.held = capacity;
    if (buffer !== undefined && buffer.length >= capacity) return outcome;
    this.buffer = buffers.take(capacity);
    if (buffer === undefined) return outcome;
    this.buffer.set(buffer.subarray(0, this.length));
    buffers.give(buffer);
    return outcome;
  }
}

/** At most this much of a refused body is read and thrown away. */
export const DISCARD_BYTES_MAX = 64 * 1024 * 1024;
const DISCARD_MS = 5_000;

export interface DiscardListener extends MeterListener {
  /** The body `isWhole`, or a limit is reached; `meter` tells what has arrived. */
  over(meter: BodyMeter, isWhole: boolean): void;
  /** The caller hung up before that. */
  aborted(): void;
}

export interface DiscardOptions {
  /** Has counted the part that came before. */
  readonly meter?: BodyMeter | undefined;
  /** A key pays for it. */
  readonly isPaid: boolean;
  /** No answer waits for the end. */
  readonly isAnswered?: boolean;
}

/**
 * Reads the rest of a refused body and throws it away: if the connection ended while the caller still sends, the caller
 * would lose the answer.
 */
export function discardBody(
  res: HttpResponse,
  { meter = new BodyMeter(), isPaid, isAnswered = false }: DiscardOptions,
  listener: DiscardListener,
): void {
  let isOver = false;
  const end = (isWhole: boolean): void => {
    isOver = true;
    clearTimeout(timer);
    listener.over(meter, isWhole);
  };
  const timer = isAnswered ? undefined : setTimeout(() => end(false), DISCARD_MS);
  res.onAborted(() => {
    clearTimeout(timer);
    listener.aborted();
  });
  meterBody(res, { meter, isPaid }, listener, (_, isLast) => {
    if (!isOver && (isLast || meter.bytes > DISCARD_BYTES_MAX)) end(isLast);
  });
}
