/** Memory for a `TraceLimit`. */
export function allocateTraceLimit(): SharedArrayBuffer {
  return new SharedArrayBuffer(Uint32Array.BYTES_PER_ELEMENT);
}

/** Both halves of the one word: the second, and how many were traced in it. */
const HALF_BITS = 16;
const HALF = 1 << HALF_BITS;

/**
 * Bounds the requests that the process traces in one second of the clock: the sampled flag is the caller's, what
 * tracing costs is ours. Second and count are one word, which the event loops share, so that the bound is exact.
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

  /** Counts one more; false where it is one too many. */
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
