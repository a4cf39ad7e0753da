import type { Target } from './connection.js';

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

/** Keeps `connections` busy with one request each for `seconds`; the bodies take turns. */
export interface Load {
  readonly target: Target;
  readonly bodies: readonly string[];
  readonly connections: number;
  readonly seconds: number;
}
