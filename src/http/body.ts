import type { HttpResponse } from 'uWebSockets.js';

/** What is left of a thread's bytes for bodies that are still arriving. */
export class BodyBudget {
  private held = 0;

  constructor(private readonly bytesMax: number) {}

  /** Bytes held now. */
  get heldBytes(): number {
    return this.held;
  }

  get isExhausted(): boolean {
    return this.held >= this.bytesMax;
  }

  take(bytes: number): boolean {
    if (this.held + bytes > this.bytesMax) return false;
    this.held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.held -= bytes;
  }
}

export interface BodyOptions {
  /** Declared length in bytes; 0 where none was declared. */
  readonly declaredBytes: number;
  readonly bytesMax: number;
  readonly budget: BodyBudget;
}

export interface BodyListener {
  /** The whole body; `bytes` hold until this returns. */
  complete(bytes: Uint8Array): void;
  /** More than `bytesMax` arrived. */
  tooLarge(): void;
  /** The budget for unfinished bodies is used up. */
  overBudget(): void;
}

const FIRST_BUFFER_BYTES = 65_536;

/**
 * Collects a request's body. A body that arrives in one piece, as most do, is never copied. Memory is taken
 * from the budget as bytes arrive, so that announcing much costs nothing.
 * @returns what to call when the request is aborted
 */
export function readBody(res: HttpResponse, options: BodyOptions, listener: BodyListener): () => void {
  const { bytesMax, budget } = options;
  let buffer: Uint8Array | undefined;
  let length = 0;
  let isOver = false;

  const finish = (): void => {
    isOver = true;
    if (buffer !== undefined) budget.give(buffer.length);
    buffer = undefined;
  };

  res.onData((chunk, isLast) => {
    if (isOver) return;
    if (length + chunk.byteLength > bytesMax) {
      finish();
      return listener.tooLarge();
    }
    if (isLast && length === 0) {
      isOver = true;
      return listener.complete(new Uint8Array(chunk));
    }
    const grown = append(buffer, length, chunk, options);
    if (grown === undefined) {
      finish();
      return listener.overBudget();
    }
    buffer = grown;
    length += chunk.byteLength;
    if (!isLast) return;
    const whole = buffer.subarray(0, length);
    finish();
    listener.complete(whole);
  });
  return finish;
}

/** `buffer` with `chunk` behind its first `length` bytes, grown where needed; undefined beyond the budget. */
function append(
  buffer: Uint8Array | undefined,
  length: number,
  chunk: ArrayBuffer,
  { budget, bytesMax, declaredBytes }: BodyOptions,
): Uint8Array | undefined {
  const needed = length + chunk.byteLength;
  let target = buffer;
  if (target === undefined || target.length < needed) {
    const wanted = Math.max(needed, FIRST_BUFFER_BYTES, 2 * (buffer?.length ?? 0));
    const ceiling = Math.max(needed, declaredBytes > 0 ? declaredBytes : bytesMax);
    const capacity = Math.min(wanted, ceiling);
    if (!budget.take(capacity)) return undefined;
    target = new Uint8Array(capacity);
    if (buffer !== undefined) {
      target.set(buffer.subarray(0, length));
      budget.give(buffer.length);
    }
  }
  target.set(new Uint8Array(chunk), length);
  return target;
}
