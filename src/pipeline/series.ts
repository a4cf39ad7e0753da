/** What counts as a believable sample of one kind of series, and how finely its percentiles are told apart. */
export interface SampleRange {
  readonly low: number;
  readonly high: number;
  /** Bins per unit of the percentile histogram; the bins are centred on the multiples of its inverse. */
  readonly binsPerUnit: number;
}

/** Plausible heart rates, in beats per minute. Wearables report whole beats: one bin each. */
export const HEART_RATE: SampleRange = { low: 25, high: 240, binsPerUnit: 1 };
/** Plausible respiratory rates, in breaths per minute. */
export const RESPIRATORY_RATE: SampleRange = { low: 3, high: 70, binsPerUnit: 4 };

/** A series is cut into twelve blocks: four make a third, the lowest is the nadir. */
const BLOCKS = 12;
const HISTOGRAM_BINS = 512;
const histogram = new Uint32Array(HISTOGRAM_BINS);
const blockSums = new Float64Array(BLOCKS);
const blockCounts = new Float64Array(BLOCKS);

/** From this many implausible samples on, more than half of a series is called a unit error. */
const UNIT_ERROR_SAMPLES_MIN = 3;

/** The statistics of one series; reused from series to series. All in the unit of the samples. */
export class SeriesSummary {
  /** Plausible samples; everything below is meaningful only where it is positive. */
  count = 0;
  /** Samples that are neither sentinels nor plausible. */
  implausible = 0;
  mean = 0;
  sd = 0;
  p10 = 0;
  p50 = 0;
  p90 = 0;
  slope = 0;
  rmssd = 0;
  /** Von Neumann ratio; 0 for a constant series. */
  irregularity = 0;
  first = 0;
  last = 0;
  nadir = 0;
  nadirAt = 0;

  /** Most of the samples lie where no such signal can: another unit, most likely. */
  get isUnitError(): boolean {
    return this.implausible >= UNIT_ERROR_SAMPLES_MIN && this.implausible > this.count;
  }
}

/**
 * Cleans and summarises `samples[start … end)` in one pass: sentinels (0, −1, −2, 255) and implausible samples
 * are left out, the rest keep their place in time.
 */
export function summarise(
  samples: Float32Array,
  start: number,
  end: number,
  range: SampleRange,
  summary: SeriesSummary,
): void {
  const { low, high, binsPerUnit } = range;
  const length = end - start;
  let count = 0;
  let implausible = 0;
  // Sums of deviations from the first plausible sample: squares of raw heart rates would lose digits.
  let origin = 0;
  let sum = 0;
  let sumOfSquares = 0;
  let sumOfTimes = 0;
  let sumOfSquaredTimes = 0;
  let sumOfProducts = 0;
  let successive = 0;
  let steps = 0;
  let smallest = Infinity;
  let largest = -Infinity;
  let previous = NaN;

  let index = start;
  for (let block = 0; block < BLOCKS; block++) {
    const blockEnd = start + Math.floor(((block + 1) * length) / BLOCKS);
    const countBefore = count;
    const sumBefore = sum;
    for (; index < blockEnd; index++) {
      const value = samples[index]!; // index < end ≤ samples.length
      if (!(value >= low && value <= high)) {
        if (!isSentinel(value)) implausible++;
        previous = NaN;
        continue;
      }
      if (count === 0) origin = value;
      count++;
      const deviation = value - origin;
      const time = index - start;
      sum += deviation;
      sumOfSquares += deviation * deviation;
      sumOfTimes += time;
      sumOfSquaredTimes += time * time;
      sumOfProducts += time * deviation;
      const step = value - previous;
      if (step === step) {
        successive += step * step;
        steps++;
      }
      previous = value;
      if (value < smallest) smallest = value;
      if (value > largest) largest = value;
      histogram[((value - low) * binsPerUnit + 0.5) | 0]!++; // (high − low) · binsPerUnit < HISTOGRAM_BINS
    }
    blockCounts[block] = count - countBefore;
    blockSums[block] = sum - sumBefore;
  }

  summary.count = count;
  summary.implausible = implausible;
  if (count === 0) return;

  const meanDeviation = sum / count;
  // Rounding may leave the variance of a constant series a hair below zero.
  const variance = Math.max(0, sumOfSquares / count - meanDeviation * meanDeviation);
  const timeVariance = sumOfSquaredTimes / count - (sumOfTimes / count) ** 2;
  const covariance = sumOfProducts / count - (sumOfTimes / count) * meanDeviation;
  const meanSquaredStep = steps > 0 ? successive / steps : 0;
  summary.mean = origin + meanDeviation;
  summary.sd = Math.sqrt(variance);
  summary.slope = timeVariance > 0 ? (covariance / timeVariance) * length : 0;
  summary.rmssd = Math.sqrt(meanSquaredStep);
  summary.irregularity = variance > 0 ? meanSquaredStep / variance : 0;
  summarisePercentiles(range, count, smallest, largest, summary);
  summariseCourse(origin, meanDeviation, summary);
}

/** Devices write 0, −1, −2 or 255 where they have no reading. */
function isSentinel(value: number): boolean {
  return value === 0 || value === -1 || value === -2 || value === 255;
}

/** Walks the occupied bins once, reads off three quantiles and leaves the histogram empty. */
function summarisePercentiles(
  range: SampleRange,
  count: number,
  smallest: number,
  largest: number,
  summary: SeriesSummary,
): void {
  const { low, binsPerUnit } = range;
  const firstBin = ((smallest - low) * binsPerUnit + 0.5) | 0;
  const lastBin = ((largest - low) * binsPerUnit + 0.5) | 0;
  const rank10 = count * 0.1;
  const rank50 = count * 0.5;
  const rank90 = count * 0.9;
  summary.p90 = largest;
  let below = 0;
  for (let bin = firstBin; bin <= lastBin; bin++) {
    const inBin = histogram[bin]!; // bin ≤ lastBin < HISTOGRAM_BINS
    if (inBin === 0) continue;
    histogram[bin] = 0;
    const upTo = below + inBin;
    if (below < rank10 && rank10 <= upTo) summary.p10 = within(range, bin, (rank10 - below) / inBin);
    if (below < rank50 && rank50 <= upTo) summary.p50 = within(range, bin, (rank50 - below) / inBin);
    if (below < rank90 && rank90 <= upTo) summary.p90 = within(range, bin, (rank90 - below) / inBin);
    below = upTo;
  }
  summary.p10 = clamp(summary.p10, smallest, largest);
  summary.p50 = clamp(summary.p50, smallest, largest);
  summary.p90 = clamp(summary.p90, smallest, largest);
}

/** The value that lies `share` of the way through `bin`. */
function within({ low, binsPerUnit }: SampleRange, bin: number, share: number): number {
  return low + (bin - 0.5 + share) / binsPerUnit;
}

function clamp(value: number, low: number, high: number): number {
  return value < low ? low : value > high ? high : value;
}

/** First and last third against the whole, and the lowest of the twelve blocks. */
function summariseCourse(origin: number, meanDeviation: number, summary: SeriesSummary): void {
  summary.first = thirdMean(0, meanDeviation) - meanDeviation;
  summary.last = thirdMean(BLOCKS - BLOCKS / 3, meanDeviation) - meanDeviation;
  let lowest = Infinity;
  for (let block = 0; block < BLOCKS; block++) {
    const mean = blockSums[block]! / blockCounts[block]!; // an empty block gives NaN and is passed over
    if (mean < lowest) {
      lowest = mean;
      summary.nadirAt = (block + 0.5) / BLOCKS;
    }
  }
  summary.nadir = origin + lowest;
}

/** Mean deviation of the third that begins at `block`, or `fallback` where it has no sample. */
function thirdMean(block: number, fallback: number): number {
  let sum = 0;
  let count = 0;
  for (let at = block; at < block + BLOCKS / 3; at++) {
    sum += blockSums[at]!; // at < BLOCKS
    count += blockCounts[at]!;
  }
  return count > 0 ? sum / count : fallback;
}
