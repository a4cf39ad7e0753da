import type { Mode } from './mode.js';
import type { BenchPayload } from './payload.js';
import type { Result } from './result.js';

/** Identifies a series of measurements: the repetitions of one peer in one cell. */
export interface SeriesKey {
  readonly peer: string;
  readonly mode: Mode;
  readonly payload: BenchPayload;
  readonly connections: number;
}

/** The repetitions of a series in order; empty if it was not measured. */
export function seriesOf(results: readonly Result[], key: SeriesKey): Result[] {
  return results.filter(
    ({ peer, mode, payload, connections }) =>
      peer === key.peer && mode === key.mode && payload === key.payload && connections === key.connections,
  );
}

export function throughputOf({ requests, seconds }: Result): number {
  return requests / seconds;
}

/** Answers with 200 per second, where others may be refused. */
export function goodputOf({ requests, refused = 0, seconds }: Result): number {
  return (requests - refused) / seconds;
}
