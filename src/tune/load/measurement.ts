import type { Target } from './connection.js';
import { quantileOf } from './statistics.js';

/** The figures of one load, on the callers' side. */
export interface Measurement {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  readonly p999Micros: number;
  /** Responses other than 200, requests without a response, broken connections. */
  readonly errors: number;
}

/** Quantiles of latencies in ms (ascending); NaN without any. */
export function latencyQuantiles(
  sortedMs: ArrayLike<number>,
): Pick<Measurement, 'p50Micros' | 'p99Micros' | 'p999Micros'> {
  const at = (share: number): number => (sortedMs.length === 0 ? NaN : quantileOf(sortedMs, share) * 1000);
  return { p50Micros: at(0.5), p99Micros: at(0.99), p999Micros: at(0.999) };
}

/** Keeps `connections` busy with one request each for `seconds`; the bodies alternate. */
export interface Load {
  readonly target: Target;
  readonly bodies: readonly string[];
  /** The bodies' type; JSON by default. */
  readonly mediaType?: string;
  readonly connections: number;
  readonly seconds: number;
}
