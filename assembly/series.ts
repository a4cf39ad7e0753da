import {
  BLOCK_COUNTS,
  BLOCK_SUMS,
  COUNT,
  FIRST,
  HISTOGRAM,
  IMPLAUSIBLE,
  IRREGULARITY,
  LAST,
  MEAN,
  NADIR,
  NADIR_AT,
  P10,
  P50,
  P90,
  RMSSD,
  SAMPLES,
  SD,
  SLOPE,
} from './layout';

/** A series is cut into twelve blocks: four make a third, the lowest is the nadir. */
const BLOCKS: i32 = 12;
const BLOCKS_PER_THIRD: i32 = 4;

/** Plausible heart rates, beats per minute. Wearables report whole beats: a histogram bin each. */
const HEART_LOW: f32 = 25;
const HEART_HIGH: f32 = 240;
const HEART_BINS_PER_UNIT: f64 = 1;
/** Plausible respiratory rates, breaths per minute. */
const BREATH_LOW: f32 = 3;
const BREATH_HIGH: f32 = 70;
const BREATH_BINS_PER_UNIT: f64 = 4;

/**
 * Cleans and summarises the first `length` floats at `SAMPLES` in one pass: sentinels (0, −1, −2, 255) and
 * implausible samples are left out, the rest keep their place in time. Writes a summary at `summary`.
 */
export function summarise(length: i32, isHeart: bool, summary: usize): void {
  const low = isHeart ? HEART_LOW : BREATH_LOW;
  const high = isHeart ? HEART_HIGH : BREATH_HIGH;
  const binsPerUnit = isHeart ? HEART_BINS_PER_UNIT : BREATH_BINS_PER_UNIT;
  const lowest = <f64>low;
  let count: i32 = 0;
  let implausible: i32 = 0;
  // Sums of deviations from the first plausible sample: squares of raw heart rates would lose digits.
  let origin: f64 = 0;
  let sum: f64 = 0;
  let sumOfSquares: f64 = 0;
  let sumOfTimes: f64 = 0;
  let sumOfSquaredTimes: f64 = 0;
  let sumOfProducts: f64 = 0;
  let successive: f64 = 0;
  let steps: i32 = 0;
  let smallest: f32 = Infinity;
  let largest: f32 = -Infinity;
  let previous: f64 = 0;
  let hasPrevious = false;

  let index: i32 = 0;
  for (let block: i32 = 0; block < BLOCKS; block++) {
    const blockEnd = ((block + 1) * length) / BLOCKS;
    const countBefore = count;
    const sumBefore = sum;
    for (; index < blockEnd; index++) {
      const sample = load<f32>(SAMPLES + (<usize>index << 2));
      if (!(sample >= low && sample <= high)) {
        if (!isSentinel(sample)) implausible++;
        hasPrevious = false;
        continue;
      }
      const value = <f64>sample;
      if (count == 0) origin = value;
      count++;
      const deviation = value - origin;
      const time = <f64>index;
      sum += deviation;
      sumOfSquares += deviation * deviation;
      sumOfTimes += time;
      sumOfSquaredTimes += time * time;
      sumOfProducts += time * deviation;
      if (hasPrevious) {
        const step = value - previous;
        successive += step * step;
        steps++;
      }
      previous = value;
      hasPrevious = true;
      smallest = min(smallest, sample);
      largest = max(largest, sample);
      const bin = HISTOGRAM + (<usize>(<i32>((value - lowest) * binsPerUnit + 0.5)) << 2);
      store<u32>(bin, load<u32>(bin) + 1);
    }
    store<f64>(BLOCK_COUNTS + (<usize>block << 3), <f64>(count - countBefore));
    store<f64>(BLOCK_SUMS + (<usize>block << 3), sum - sumBefore);
  }

  put(summary, COUNT, <f64>count);
  put(summary, IMPLAUSIBLE, <f64>implausible);
  if (count == 0) return;

  const n = <f64>count;
  const mean = sum / n;
  // Rounding may leave the variance of a constant series a hair below zero.
  const variance = max<f64>(0, sumOfSquares / n - mean * mean);
  const meanTime = sumOfTimes / n;
  const timeVariance = sumOfSquaredTimes / n - meanTime * meanTime;
  const covariance = sumOfProducts / n - meanTime * mean;
  const meanSquaredStep = steps > 0 ? successive / <f64>steps : 0;
  put(summary, MEAN, origin + mean);
  put(summary, SD, sqrt(variance));
  put(summary, SLOPE, timeVariance > 0 ? (covariance / timeVariance) * <f64>length : 0);
  put(summary, RMSSD, sqrt(meanSquaredStep));
  put(summary, IRREGULARITY, variance > 0 ? meanSquaredStep / variance : 0);
  summarisePercentiles(summary, n, lowest, binsPerUnit, <f64>smallest, <f64>largest);
  summariseCourse(summary, origin, mean);
}

/** Devices write 0, −1, −2 or 255 where they have no reading. */
function isSentinel(sample: f32): bool {
  return sample == 0 || sample == -1 || sample == -2 || sample == 255;
}

/** Walks the occupied bins once, reads off three quantiles and leaves the histogram empty. */
function summarisePercentiles(
  summary: usize,
  n: f64,
  low: f64,
  binsPerUnit: f64,
  smallest: f64,
  largest: f64,
): void {
  const firstBin = <i32>((smallest - low) * binsPerUnit + 0.5);
  const lastBin = <i32>((largest - low) * binsPerUnit + 0.5);
  const rank10 = n * 0.1;
  const rank50 = n * 0.5;
  const rank90 = n * 0.9;
  put(summary, P90, largest);
  let below: f64 = 0;
  for (let bin = firstBin; bin <= lastBin; bin++) {
    const at = HISTOGRAM + (<usize>bin << 2);
    const inBin = <f64>load<u32>(at);
    if (inBin == 0) continue;
    store<u32>(at, 0);
    const upTo = below + inBin;
    const start = low + (<f64>bin - 0.5) / binsPerUnit;
    const perSample = 1 / (inBin * binsPerUnit);
    if (below < rank10 && rank10 <= upTo) {
      put(summary, P10, clamp(start + (rank10 - below) * perSample, smallest, largest));
    }
    if (below < rank50 && rank50 <= upTo) {
      put(summary, P50, clamp(start + (rank50 - below) * perSample, smallest, largest));
    }
    if (below < rank90 && rank90 <= upTo) {
      put(summary, P90, clamp(start + (rank90 - below) * perSample, smallest, largest));
    }
    below = upTo;
  }
}

/** First and last third against the whole, and the lowest of the twelve blocks. */
function summariseCourse(summary: usize, origin: f64, mean: f64): void {
  put(summary, FIRST, thirdMean(0, mean) - mean);
  put(summary, LAST, thirdMean(BLOCKS - BLOCKS_PER_THIRD, mean) - mean);
  let lowest: f64 = Infinity;
  for (let block: i32 = 0; block < BLOCKS; block++) {
    const count = load<f64>(BLOCK_COUNTS + (<usize>block << 3));
    if (count == 0) continue;
    const blockMean = load<f64>(BLOCK_SUMS + (<usize>block << 3)) / count;
    if (blockMean < lowest) {
      lowest = blockMean;
      put(summary, NADIR_AT, (<f64>block + 0.5) / <f64>BLOCKS);
    }
  }
  put(summary, NADIR, origin + lowest);
}

/** Mean deviation of the third that begins at `block`, or `fallback` where it has no sample. */
function thirdMean(block: i32, fallback: f64): f64 {
  let sum: f64 = 0;
  let count: f64 = 0;
  for (let at = block; at < block + BLOCKS_PER_THIRD; at++) {
    sum += load<f64>(BLOCK_SUMS + (<usize>at << 3));
    count += load<f64>(BLOCK_COUNTS + (<usize>at << 3));
  }
  return count > 0 ? sum / count : fallback;
}

// @ts-ignore: decorator
@inline
function put(summary: usize, field: i32, value: f64): void {
  store<f64>(summary + (<usize>field << 3), value);
}

// @ts-ignore: decorator
@inline
function clamp(value: f64, low: f64, high: f64): f64 {
  return max(low, min(high, value));
}
