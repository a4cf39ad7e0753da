import type { Target } from './connection.js';
import { quantileOf } from './statistics.js';

/** What one load run saw from the callers' side. */
export interface Measurement {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  readonly p999Micros: number;
  /** Answers other than 200, requests without an answer, broken connections. */
  readonly errors: number;
  /** The answers among them, where the generator counts them; `requests` holds them too then. */
  readonly refused?: number;
}

/** What is said of latencies in milliseconds, ascending; NaN where there are none. */
export function latencyQuantiles(
  sortedMs: ArrayLike<number>,
): Pick<Measurement, 'p50Micros' | 'p99Micros' | 'p999Micros'> {
  const at = (share: number): number => (sortedMs.length === 0 ? NaN : quantileOf(sortedMs, share) * 1000);
  return { p50Micros: at(0.5), p99Micros: at(0.99), p999Micros: at(0.999) };
}

/** Keeps `connections` busy with one request each for `seconds`; the bodies take turns. */
export interface Load {
  readonly target: Target;
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}
