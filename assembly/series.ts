import {
  BLOCK_COUNTS,
  BLOCK_SUMS,
  COUNT,
  FIRST,
  HISTOGRAM,
  HISTOGRAM_ODD,
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

/** What the walk over a series gathers. All sums are of deviations from the first plausible sample, `origin`:
 * squares of raw heart rates would lose digits. */
let count: i32 = 0;
let implausible: i32 = 0;
let origin: f64 = 0;
let sum: f64 = 0;
let sumOfSquares: f64 = 0;
let sumOfTimes: f64 = 0;
let sumOfSquaredTimes: f64 = 0;
let sumOfProducts: f64 = 0;
let successive: f64 = 0;
let steps: i32 = 0;
let smallest: f32 = 0;
let largest: f32 = 0;

/**
 * Cleans and summarises the first `length` floats at `SAMPLES`: sentinels (0, −1, −2, 255) and implausible
 * samples are left out, the rest keep their place in time. Writes a summary at `summary`.
 */
export function summarise(length: i32, isHeart: bool, summary: usize): void {
  const low = isHeart ? HEART_LOW : BREATH_LOW;
  const high = isHeart ? HEART_HIGH : BREATH_HIGH;
  const binsPerUnit = isHeart ? HEART_BINS_PER_UNIT : BREATH_BINS_PER_UNIT;
  findExtremes(length);
  if (length > 0 && smallest >= low && largest <= high) gatherAll(length, <f64>low, binsPerUnit);
  else gatherPlausible(length, low, high, binsPerUnit);

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
  summarisePercentiles(summary, n, <f64>low, binsPerUnit, <f64>smallest, <f64>largest);
  summariseCourse(summary, mean);
}

/** Smallest and largest of all samples, plausible or not, four at a time. */
function findExtremes(length: i32): void {
  const fours = length & ~3;
  let low = f32x4.splat(Infinity);
  let high = f32x4.splat(-Infinity);
  let index: i32 = 0;
  for (; index < fours; index += 4) {
    const four = v128.load(SAMPLES + (<usize>index << 2));
    low = f32x4.pmin(low, four);
    high = f32x4.pmax(high, four);
  }
  low = f32x4.pmin(low, v128.shuffle<f32>(low, low, 2, 3, 0, 1));
  high = f32x4.pmax(high, v128.shuffle<f32>(high, high, 2, 3, 0, 1));
  smallest = min(f32x4.extract_lane(low, 0), f32x4.extract_lane(low, 1));
  largest = max(f32x4.extract_lane(high, 0), f32x4.extract_lane(high, 1));
  for (; index < length; index++) {
    const sample = load<f32>(SAMPLES + (<usize>index << 2));
    smallest = min(smallest, sample);
    largest = max(largest, sample);
  }
}

/** The usual case: every sample is plausible, so nothing need be asked of any of them. Two at a time. */
function gatherAll(length: i32, low: f64, binsPerUnit: f64): void {
  const n = <f64>length;
  // The step behind the last sample must count for nothing: the sample stands there once more.
  store<f32>(SAMPLES + (<usize>length << 2), load<f32>(SAMPLES + (<usize>(length - 1) << 2)));
  count = length;
  implausible = 0;
  origin = <f64>load<f32>(SAMPLES);
  sumOfTimes = (n * (n - 1)) / 2;
  sumOfSquaredTimes = ((n - 1) * n * (2 * n - 1)) / 6;
  steps = length - 1;

  const origins = f64x2.splat(origin);
  const lows = f64x2.splat(low - 0.5 / binsPerUnit);
  const scales = f64x2.splat(binsPerUnit);
  let squares = f64x2.splat(0);
  let products = f64x2.splat(0);
  let squaredSteps = f64x2.splat(0);
  let total: f64 = 0;
  let lastProducts: f64 = 0;
  let lastSquares: f64 = 0;
  let lastSteps: f64 = 0;
  let index: i32 = 0;
  for (let block: i32 = 0; block < BLOCKS; block++) {
    const end = ((block + 1) * length) / BLOCKS;
    const size = end - index;
    let sums = f64x2.splat(0);
    let times = f64x2.add(f64x2.splat(<f64>index), f64x2(0, 1));
    for (; index < end - 1; index += 2) {
      const at = SAMPLES + (<usize>index << 2);
      const pair = f64x2.promote_low_f32x4(v128.load64_zero(at));
      const next = f64x2.promote_low_f32x4(v128.load64_zero(at + 4));
      const deviations = f64x2.sub(pair, origins);
      const moves = f64x2.sub(next, pair);
      sums = f64x2.add(sums, deviations);
      squares = f64x2.add(squares, f64x2.mul(deviations, deviations));
      products = f64x2.add(products, f64x2.mul(deviations, times));
      squaredSteps = f64x2.add(squaredSteps, f64x2.mul(moves, moves));
      times = f64x2.add(times, f64x2.splat(2));
      const bins = i32x4.trunc_sat_f64x2_s_zero(f64x2.mul(f64x2.sub(pair, lows), scales));
      increment(HISTOGRAM, i32x4.extract_lane(bins, 0));
      increment(HISTOGRAM_ODD, i32x4.extract_lane(bins, 1));
    }
    let blockSum = f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
    if (index < end) {
      const at = SAMPLES + (<usize>index << 2);
      const value = <f64>load<f32>(at);
      const deviation = value - origin;
      const move = <f64>load<f32>(at + 4) - value;
      blockSum += deviation;
      lastSquares += deviation * deviation;
      lastProducts += deviation * <f64>index;
      lastSteps += move * move;
      increment(HISTOGRAM, <i32>((value - (low - 0.5 / binsPerUnit)) * binsPerUnit));
      index++;
    }
    total += blockSum;
    store<f64>(BLOCK_COUNTS + (<usize>block << 3), <f64>size);
    store<f64>(BLOCK_SUMS + (<usize>block << 3), blockSum);
  }
  sum = total;
  sumOfSquares = f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1) + lastSquares;
  sumOfProducts = f64x2.extract_lane(products, 0) + f64x2.extract_lane(products, 1) + lastProducts;
  successive = f64x2.extract_lane(squaredSteps, 0) + f64x2.extract_lane(squaredSteps, 1) + lastSteps;
}

/** Some samples are to be left out: each is looked at. */
function gatherPlausible(length: i32, low: f32, high: f32, binsPerUnit: f64): void {
  const start = <f64>low - 0.5 / binsPerUnit;
  count = 0;
  implausible = 0;
  origin = 0;
  sum = 0;
  sumOfSquares = 0;
  sumOfTimes = 0;
  sumOfSquaredTimes = 0;
  sumOfProducts = 0;
  successive = 0;
  steps = 0;
  smallest = Infinity;
  largest = -Infinity;
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
      increment(HISTOGRAM, <i32>((value - start) * binsPerUnit));
    }
    store<f64>(BLOCK_COUNTS + (<usize>block << 3), <f64>(count - countBefore));
    store<f64>(BLOCK_SUMS + (<usize>block << 3), sum - sumBefore);
  }
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
  const start = low - 0.5 / binsPerUnit;
  const firstBin = <i32>((smallest - start) * binsPerUnit);
  const lastBin = <i32>((largest - start) * binsPerUnit);
  const rank10 = n * 0.1;
  const rank50 = n * 0.5;
  const rank90 = n * 0.9;
  put(summary, P90, largest);
  let below: f64 = 0;
  for (let bin = firstBin; bin <= lastBin; bin++) {
    const at = HISTOGRAM + (<usize>bin << 2);
    const odd = HISTOGRAM_ODD + (<usize>bin << 2);
    const inBin = <f64>(load<u32>(at) + load<u32>(odd));
    if (inBin == 0) continue;
    store<u32>(at, 0);
    store<u32>(odd, 0);
    const upTo = below + inBin;
    const binStart = start + <f64>bin / binsPerUnit;
    const perSample = 1 / (inBin * binsPerUnit);
    if (below < rank10 && rank10 <= upTo) {
      put(summary, P10, clamp(binStart + (rank10 - below) * perSample, smallest, largest));
    }
    if (below < rank50 && rank50 <= upTo) {
      put(summary, P50, clamp(binStart + (rank50 - below) * perSample, smallest, largest));
    }
    if (below < rank90 && rank90 <= upTo) {
      put(summary, P90, clamp(binStart + (rank90 - below) * perSample, smallest, largest));
    }
    below = upTo;
  }
}

/** First and last third against the whole, and the lowest of the twelve blocks. */
function summariseCourse(summary: usize, mean: f64): void {
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
function increment(table: usize, bin: i32): void {
  const at = table + (<usize>bin << 2);
  store<u32>(at, load<u32>(at) + 1);
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
