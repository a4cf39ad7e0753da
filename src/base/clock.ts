/** The source of time. Injected, so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970, fractions included. Follows the wall clock, so it may jump. */
  nowMs(): number;
  /** Milliseconds since an arbitrary fixed moment, fractions included. Never goes back. */
  monotonicMs(): number;
}

export const systemClock: Clock = Object.freeze({
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
});
