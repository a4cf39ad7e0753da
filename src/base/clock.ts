/** Where time comes from. Injected, so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970, fractions included. Follows the wall clock, so it may jump. */
  nowMs(): number;
  /** Milliseconds since some fixed moment, fractions included. Never goes back. */
  monotonicMs(): number;
}

export interface ManualClock extends Clock {
  /** Moves both readings on. */
  advance(ms: number): void;
}

export const systemClock: Clock = Object.freeze({
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
});

/** A clock that stands still until it is told otherwise. */
export function manualClock(startMs = 0): ManualClock {
  let elapsedMs = 0;
  return {
    nowMs: () => startMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError('a clock is only moved forward');
      elapsedMs += ms;
    },
  };
}
