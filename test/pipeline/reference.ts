import type { SeriesField } from '#acuity/contract/request.js';

/** The statistics of one series, computed the slow and obvious way. */
export interface Statistics {
  readonly count: number;
  readonly implausible: number;
  readonly mean: number;
  readonly sd: number;
  readonly p10: number;
  readonly p50: number;
  readonly p90: number;
  readonly slope: number;
  readonly rmssd: number;
  readonly irregularity: number;
  readonly first: number;
  readonly last: number;
  readonly nadir: number;
  readonly nadirAt: number;
}

/** A percentile may differ by the width of its histogram bin. */
export const PERCENTILE_TOLERANCE = { heart: 1, breath: 0.25 };

interface Timed {
  readonly time: number;
  readonly value: number;
}

export function isHeart(field: SeriesField): boolean {
  return field === 'HR_day_1h' || field === 'HR_night';
}

export function statistics(field: SeriesField, series: readonly number[]): Statistics {
  const [low, high] = isHeart(field) ? [25, 240] : [3, 70];
  const samples = series.map((value, time) => ({ time, value: Math.fround(value) }));
  const real = samples.filter(({ value }) => ![0, -1, -2, 255].includes(value));
  const kept = real.filter(({ value }) => value >= low && value <= high);
  const values = kept.map(({ value }) => value);
  const steps = kept.flatMap((sample, index) => {
    const before = kept[index - 1];
    return before?.time === sample.time - 1 ? [sample.value - before.value] : [];
  });
  const mean = average(values);
  const variance = average(values.map((value) => (value - mean) ** 2));
  const meanSquaredStep = steps.length > 0 ? average(steps.map((step) => step ** 2)) : 0;
  const blocks = Array.from({ length: 12 }, (_, block) => ({
    block,
    values: inBlocks(kept, series.length, block, block + 1),
  })).filter((block) => block.values.length > 0);
  const nadir = Math.min(...blocks.map((block) => average(block.values)));
  const lowest = blocks.find((block) => average(block.values) === nadir);
  const thirdFrom = (block: number): number => {
    const third = inBlocks(kept, series.length, block, block + 4);
    return third.length > 0 ? average(third) - mean : 0;
  };
  return {
    count: kept.length,
    implausible: real.length - kept.length,
    mean,
    sd: Math.sqrt(variance),
    p10: quantile(values, 0.1),
    p50: quantile(values, 0.5),
    p90: quantile(values, 0.9),
    slope: slope(kept) * series.length,
    rmssd: Math.sqrt(meanSquaredStep),
    irregularity: variance > 0 ? meanSquaredStep / variance : 0,
    first: thirdFrom(0),
    last: thirdFrom(8),
    nadir,
    nadirAt: ((lowest?.block ?? NaN) + 0.5) / 12,
  };
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The values in blocks `from … to` of twelve, by their place in the whole series. */
function inBlocks(kept: readonly Timed[], length: number, from: number, to: number): number[] {
  const start = Math.floor((from * length) / 12);
  const end = Math.floor((to * length) / 12);
  return kept.filter(({ time }) => time >= start && time < end).map(({ value }) => value);
}

/** The least value that at least this share of the values does not exceed. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-9) - 1)] ?? NaN;
}

/** Of the least-squares line, per sample. */
function slope(kept: readonly Timed[]): number {
  const meanTime = average(kept.map(({ time }) => time));
  const meanValue = average(kept.map(({ value }) => value));
  const covariance = average(kept.map(({ time, value }) => (time - meanTime) * (value - meanValue)));
  const variance = average(kept.map(({ time }) => (time - meanTime) ** 2));
  return variance > 0 ? covariance / variance : 0;
}
