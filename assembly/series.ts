import {
  BLOCK_COUNTS,
  BLOCK_SUMS,
  COUNT,
  FIRST,
  IMPLAUSIBLE,
  IRREGULARITY,
  LAST,
  MEAN,
  NADIR,
  NADIR_AT,
  RMSSD,
  SAMPLES,
  SD,
  SLOPE,
  SUMMARY_LENGTH,
} from './layout';
import { addToBin, binOf, binShift, countFour, summarisePercentiles } from './percentiles';

/** A series is cut into twelve blocks: four make a third, the lowest is the nadir. */
const BLOCKS: i32 = 12;
const BLOCKS_PER_THIRD: i32 = 4;

/** Plausible heart rates, beats per minute. Wearables report whole beats: a histogram bin each. */
const HEART_LOW: f32 = 25;
const HEART_HIGH: f32 = 240;
const HEART_BINS_PER_UNIT: f32 = 1;
/** Plausible respiratory rates, breaths per minute. */
const BREATH_LOW: f32 = 3;
const BREATH_HIGH: f32 = 70;
const BREATH_BINS_PER_UNIT: f32 = 4;

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
 * Running sums of the deviations, f64x2 each: those of the even samples and of the odd ones in front of a pair. They
 * lie behind the samples.
 */
let prefixSums: usize = 0;

/** Sets aside room for the running sums of a series of `samples`; returns what lies behind. */
export function placeSums(at: usize, samples: i32): usize {
  prefixSums = at;
  return at + (<usize>(samples + 8) << 3); // eight bytes a sample, filled up to four, and one in front of all
}

/**
 * Cleans and summarises the first `length` floats at `SAMPLES`: sentinels (0, −1, −2, 255) and implausible
 * samples are left out, the rest keep their place in time. Writes a summary at `summary`.
 */
export function summarise(length: i32, isHeart: bool, summary: usize): void {
  const low = isHeart ? HEART_LOW : BREATH_LOW;
  const high = isHeart ? HEART_HIGH : BREATH_HIGH;
  const binsPerUnit = isHeart ? HEART_BINS_PER_UNIT : BREATH_BINS_PER_UNIT;
  padSamples(length);
  findExtremes(length);
  if (length > 0 && smallest >= low && largest <= high) gatherAll(length, low, binsPerUnit);
  else gatherPlausible(length, low, high, binsPerUnit);

  put(summary, COUNT, <f64>count);
  put(summary, IMPLAUSIBLE, <f64>implausible);
  if (count == 0) {
    // Nothing of the series that was summarised here before may be handed on.
    memory.fill(summary + (<usize>MEAN << 3), 0, <usize>(SUMMARY_LENGTH - MEAN) << 3);
    return;
  }

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
  summarisePercentiles(summary, count, low, binsPerUnit, smallest, largest);
  summariseCourse(summary, mean);
}

/**
 * Smallest and largest of all samples, as long as none is negative: bits compare as their floats do then, and what
 * is negative or not a number is out of any range here too. Sixteen at a time: `padSamples` filled the last ones up.
 */
function findExtremes(length: i32): void {
  let low = v128.load(SAMPLES);
  let high = low;
  const end = SAMPLES + (<usize>length << 2);
  for (let place = SAMPLES; place < end; place += 64) {
    const one = v128.load(place);
    const two = v128.load(place, 16);
    const three = v128.load(place, 32);
    const four = v128.load(place, 48);
    low = i32x4.min_s(low, i32x4.min_s(i32x4.min_s(one, two), i32x4.min_s(three, four)));
    high = i32x4.max_s(high, i32x4.max_s(i32x4.max_s(one, two), i32x4.max_s(three, four)));
  }
  low = i32x4.min_s(low, v128.shuffle<i32>(low, low, 2, 3, 0, 1));
  low = i32x4.min_s(low, v128.shuffle<i32>(low, low, 1, 0, 3, 2));
  high = i32x4.max_s(high, v128.shuffle<i32>(high, high, 2, 3, 0, 1));
  high = i32x4.max_s(high, v128.shuffle<i32>(high, high, 1, 0, 3, 2));
  smallest = f32x4.extract_lane(low, 0);
  largest = f32x4.extract_lane(high, 0);
}

/** Repeats the first sample behind the last one, as far as anyone reads: as the origin it deviates by nothing. */
function padSamples(length: i32): void {
  const first = f32x4.splat(load<f32>(SAMPLES));
  const end = SAMPLES + (<usize>length << 2);
  v128.store(end, first);
  v128.store(end, first, 16);
  v128.store(end, first, 32);
  v128.store(end, first, 48);
}

/**
 * The usual case: every sample is plausible, so nothing need be asked of any of them. Four at a time, in one pass
 * that leaves the running sums behind. Their own sum counts each deviation once for every pair from its own on,
 * which is all that the products with time need.
 */
function gatherAll(length: i32, low: f32, binsPerUnit: f32): void {
  const n = <f64>length;
  count = length;
  implausible = 0;
  const first = load<f32>(SAMPLES);
  const final = load<f32>(SAMPLES + (<usize>(length - 1) << 2));
  origin = <f64>first;
  sumOfTimes = (n * (n - 1)) / 2;
  sumOfSquaredTimes = ((n - 1) * n * (2 * n - 1)) / 6;
  steps = length - 1;
  const shift = binShift(low, binsPerUnit);
  const shifts = f32x4.splat(shift);
  const scales = f32x4.splat(binsPerUnit);
  const origins = f64x2.splat(origin);
  let squares = f64x2.splat(0);
  let otherSquares = f64x2.splat(0);
  let squaredSteps = f64x2.splat(0);
  let otherSteps = f64x2.splat(0);
  let sums = f64x2.splat(0);
  let sumsOfSums = f64x2.splat(0);
  let previous = f64x2.splat(0);
  let prefix = prefixSums;
  v128.store(prefix, sums);
  const end = SAMPLES + (<usize>length << 2);
  for (let place = SAMPLES; place < end; place += 16) {
    const four = v128.load(place);
    countFour(four, scales, shifts);
    const two = f64x2.sub(f64x2.promote_low_f32x4(four), origins);
    const others = f64x2.sub(f64x2.promote_low_f32x4(v128.shuffle<i32>(four, four, 2, 3, 2, 3)), origins);
    squares = f64x2.add(squares, f64x2.mul(two, two));
    otherSquares = f64x2.add(otherSquares, f64x2.mul(others, others));
    const moves = f64x2.sub(two, v128.shuffle<i64>(previous, two, 1, 2));
    const otherMoves = f64x2.sub(others, v128.shuffle<i64>(two, others, 1, 2));
    previous = others;
    squaredSteps = f64x2.add(squaredSteps, f64x2.mul(moves, moves));
    otherSteps = f64x2.add(otherSteps, f64x2.mul(otherMoves, otherMoves));
    sums = f64x2.add(sums, two);
    v128.store(prefix, sums, 16);
    sumsOfSums = f64x2.add(sumsOfSums, sums);
    sums = f64x2.add(sums, others);
    v128.store(prefix, sums, 32);
    sumsOfSums = f64x2.add(sumsOfSums, sums);
    prefix += 32;
  }
  // What `padSamples` filled up counted in the bin of the first sample, and as a step back to it. (The step is at
  // most the sum that it is in, so nothing falls below zero.)
  const padding = -length & 3;
  if (padding > 0) addToBin(binOf(first, binsPerUnit, shift), -padding);
  const wrongStep = padding > 0 ? <f64>final - origin : 0;
  const pairs = <f64>((length + padding) >>> 1);
  sum = both(sums);
  sumOfSquares = both(f64x2.add(squares, otherSquares));
  sumOfProducts = 2 * (pairs * sum - both(sumsOfSums)) + f64x2.extract_lane(sums, 1);
  successive = both(f64x2.add(squaredSteps, otherSteps)) - wrongStep * wrongStep;
  sumBlocks(length);
}

// @ts-ignore: decorator
@inline
function both(lanes: v128): f64 {
  return f64x2.extract_lane(lanes, 0) + f64x2.extract_lane(lanes, 1);
}

/** The blocks of a series without gaps, from the running sums. */
function sumBlocks(length: i32): void {
  let index: u32 = 0;
  let before: f64 = 0;
  for (let block: u32 = 0; block < <u32>BLOCKS; block++) {
    const end = ((block + 1) * <u32>length) / <u32>BLOCKS;
    const odd = <f64>load<f32>(SAMPLES + ((<usize>end & ~1) << 2)) - origin;
    const upTo = both(v128.load(prefixSums + (<usize>(end >>> 1) << 4))) + (end & 1 ? odd : 0);
    store<f64>(BLOCK_COUNTS + (<usize>block << 3), <f64>(end - index));
    store<f64>(BLOCK_SUMS + (<usize>block << 3), upTo - before);
    index = end;
    before = upTo;
  }
}

/** Some samples are to be left out: each is looked at. */
function gatherPlausible(length: i32, low: f32, high: f32, binsPerUnit: f32): void {
  const shift = binShift(low, binsPerUnit);
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
      addToBin(binOf(sample, binsPerUnit, shift), 1);
    }
    store<f64>(BLOCK_COUNTS + (<usize>block << 3), <f64>(count - countBefore));
    store<f64>(BLOCK_SUMS + (<usize>block << 3), sum - sumBefore);
  }
}

/** Devices write 0, −1, −2 or 255 where they have no reading. */
function isSentinel(sample: f32): bool {
  return sample == 0 || sample == -1 || sample == -2 || sample == 255;
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
function put(summary: usize, field: i32, value: f64): void {
  store<f64>(summary + (<usize>field << 3), value);
}
