/** Quantiles, spreads, and whether the machine is busy. */
import { availableParallelism, loadavg } from 'node:os';

/** Repetitions of one measurement: their median, and how far they spread. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** @throws RangeError for no values */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: quantileOf(sorted, 0.5), min: quantileOf(sorted, 0), max: quantileOf(sorted, 1) };
}

/** A quantile of `sorted` (ascending), interpolated between two values. */
export function quantileOf(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) throw new RangeError('no values');
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? NaN;
  const above = sorted[Math.ceil(place)] ?? NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/** Other work on this machine, if it exceeds the cores: figures then decide little. */
export function busyMachine([load = 0] = loadavg(), cores = availableParallelism()): string | undefined {
  return load > cores ? `the load average is ${load.toFixed(1)} on ${cores} cores` : undefined;
}
