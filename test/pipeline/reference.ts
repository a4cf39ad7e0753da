import type { SeriesField } from '#rules/fields.js';

/** The statistics of one series, computed the slow and obvious way. */
export interface Statistics {
  readonly count: number;
  readonly implausible: number;
  readonly level: number;
}

/** A median is read off a histogram: it may differ by the width of a bin. */
export const LEVEL_TOLERANCE = { heart: 1, breath: 0.25 };
/** From so many samples on the level is a median. */
export const MEDIAN_SAMPLES_MIN = 12;

export function isHeart(field: SeriesField): boolean {
  return field === 'HR_day_1h' || field === 'HR_night';
}

export function statistics(field: SeriesField, series: readonly number[]): Statistics {
  const [low, high] = isHeart(field) ? [25, 240] : [3, 70];
  const samples = series.map((value) => Math.fround(value));
  const real = samples.filter((value) => ![0, -1, -2, 255].includes(value));
  const kept = real.filter((value) => value >= low && value <= high);
  const sorted = kept.toSorted((one, other) => one - other);
  const level = sorted.length < MEDIAN_SAMPLES_MIN ? trimmedMean(sorted) : median(sorted);
  return { count: kept.length, implausible: real.length - kept.length, level };
}

/** Without the extremes where five or more are left. */
function trimmedMean(sorted: readonly number[]): number {
  const inner = sorted.length < 5 ? sorted : sorted.slice(1, -1);
  return inner.reduce((sum, value) => sum + value, 0) / inner.length;
}

/** The least value that at least half of the values do not exceed. */
function median(sorted: readonly number[]): number {
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN;
}
