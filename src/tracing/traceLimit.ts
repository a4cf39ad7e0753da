/** Memory for a `TraceLimit`. */
export function allocateTraceLimit(): SharedArrayBuffer {
  return new SharedArrayBuffer(Uint32Array.BYTES_PER_ELEMENT);
}

/** The two halves of the word: the second, and how many requests were traced in it. */
const HALF_BITS = 16;
const HALF = 1 << HALF_BITS;

/**
 * Bounds the requests that the process traces per second of the clock: callers set the sampled flag, but tracing
 * costs us. Second and count share one word that all event loops update, so the bound is exact.
 */
export class TraceLimit {
  private readonly word: Uint32Array;

  /** On memory from `allocateTraceLimit`; `max` is less than 2^16. */
  constructor(
    memory: SharedArrayBuffer,
    private readonly max: number,
  ) {
    this.word = new Uint32Array(memory);
  }

  /** Counts one more; false if that exceeds the bound. */
  take(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000) % HALF;
    for (;;) {
      const before = Atomics.load(this.word, 0);
      const taken = before >>> HALF_BITS === second ? before % HALF : 0;
      if (taken >= this.max) return false;
      const after = second * HALF + taken + 1;
      if (Atomics.compareExchange(this.word, 0, before, after) === before) return true;
    }
  }
}
