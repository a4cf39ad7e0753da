import { COUNT, IMPLAUSIBLE, LEVEL } from './layout';
import { addToBin, binOf, binShift, countFour, emptyBin, takeMedian } from './median';
import { BREATHS_MEDIAN_MAX, BREATH_HIGH, BREATH_LOW, HEART_HIGH, HEART_LOW, areSentinels } from './rules';

/**
 * A series is summarised by its level alone. Spread, successive differences, slope, trend and number of samples
 * depend on how a device samples and smooths; a median hardly does, and one wild sample does not move it.
 */

/** Wearables report whole beats: one histogram bin each. */
const HEART_BINS_PER_UNIT: f32 = 1;
const BREATH_BINS_PER_UNIT: f32 = 4;
/** Samples to leave out get a bin this far above the highest plausible sample. */
const UNREAD_ABOVE: f32 = 8;

/** With fewer samples the level is a mean: such samples are averages themselves, and a median would jump. */
const MEDIAN_SAMPLES_MIN: i32 = 12;
/** From this many on, that mean leaves out the smallest and the largest: one of them may be wild. */
const TRIMMED_SAMPLES_MIN: i32 = 5;

/**
 * A breathing series with a median above this may be heart rate: a histogram's median is right to a quarter of a
 * breath.
 */
const FAST_BREATHS_MIN: f64 = BREATHS_MEDIAN_MAX - 0.5;
/** Whether a breathing series since `forgetBreathing` was that fast. */
export let isBreathingFast: bool = false;

export function forgetBreathing(): void {
  isBreathingFast = false;
}

let count: i32 = 0;
let implausible: i32 = 0;
let smallest: f32 = 0;
let largest: f32 = 0;

/**
 * Cleans and summarises the `length` floats at `samples`, leaving out sentinels and implausible samples. Writes a
 * summary at `summary`, and over the 64 bytes after the samples. Returns whether all samples are plausible.
 */
export function summarise(samples: usize, length: i32, isHeart: bool, summary: usize): bool {
  const low = isHeart ? HEART_LOW : BREATH_LOW;
  const high = isHeart ? HEART_HIGH : BREATH_HIGH;
  const binsPerUnit = isHeart ? HEART_BINS_PER_UNIT : BREATH_BINS_PER_UNIT;
  padSamples(samples, length);
  findExtremes(samples, length);
  const arePlausible = length > 0 && smallest >= low && largest <= high;
  if (arePlausible) gatherAll(samples, length, low, binsPerUnit);
  else gatherPlausible(samples, length, low, high, binsPerUnit);

  put(summary, COUNT, <f64>count);
  put(summary, IMPLAUSIBLE, <f64>implausible);
  if (count == 0) {
    // Nothing of the series summarised here before may be passed on.
    put(summary, LEVEL, 0);
    return false;
  }
  const median = takeMedian(count, low, binsPerUnit, smallest, largest); // leaves the histogram empty
  if (!isHeart && median > FAST_BREATHS_MIN) isBreathingFast = true;
  put(summary, LEVEL, count < MEDIAN_SAMPLES_MIN ? trimmedMean(samples, length, low, high) : median);
  return arePlausible;
}

/**
 * Smallest and largest of all samples, if none is negative: bits then sort like their floats, and negative numbers
 * and NaN are out of any range here too. Sixteen at a time: `padSamples` filled the last ones.
 */
function findExtremes(samples: usize, length: i32): void {
  let low = v128.load(samples);
  let high = low;
  const end = samples + (<usize>length << 2);
  for (let place = samples; place < end; place += 64) {
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

/** Whether the first `length` floats at `samples` are all finite: their exponent contains a zero. */
export function areFinite(samples: usize, length: i32): bool {
  const exponent = i32x4.splat(0x7f800000);
  let found = i32x4.splat(0);
  padSamples(samples, length);
  const end = samples + (<usize>length << 2);
  for (let place = samples; place < end; place += 16) {
    found = v128.or(found, i32x4.eq(v128.and(v128.load(place), exponent), exponent));
  }
  return !v128.any_true(found);
}

/** Repeats the first sample after the last one, as far as vectors read. */
function padSamples(samples: usize, length: i32): void {
  const first = f32x4.splat(load<f32>(samples));
  const end = samples + (<usize>length << 2);
  v128.store(end, first);
  v128.store(end, first, 16);
  v128.store(end, first, 32);
  v128.store(end, first, 48);
}

/** The usual case: every sample is plausible, so none needs a check. Four at a time. */
function gatherAll(samples: usize, length: i32, low: f32, binsPerUnit: f32): void {
  count = length;
  implausible = 0;
  const shift = binShift(low, binsPerUnit);
  const shifts = f32x4.splat(shift);
  const scales = f32x4.splat(binsPerUnit);
  const end = samples + (<usize>length << 2);
  for (let place = samples; place < end; place += 16) countFour(v128.load(place), scales, shifts);
  // The samples added by `padSamples` counted in the bin of the first sample.
  const padding = -length & 3;
  if (padding > 0) addToBin(binOf(load<f32>(samples), binsPerUnit, shift), -padding);
}

/** Some samples are to be left out: they are counted in a bin that is cleared afterwards. Also four at a time. */
function gatherPlausible(samples: usize, length: i32, low: f32, high: f32, binsPerUnit: f32): void {
  const end = samples + (<usize>length << 2);
  v128.store(end, i32x4.splat(0)); // a sentinel, so that padding does not count as a sample
  const shift = binShift(low, binsPerUnit);
  const shifts = f32x4.splat(shift);
  const scales = f32x4.splat(binsPerUnit);
  const lows = f32x4.splat(low);
  const highs = f32x4.splat(high);
  const unread = high + UNREAD_ABOVE;
  let counts = i32x4.splat(0);
  let sentinels = i32x4.splat(0);
  let least = highs;
  let most = lows;
  for (let place = samples; place < end; place += 16) {
    const four = v128.load(place);
    const plausible = v128.and(f32x4.ge(four, lows), f32x4.le(four, highs));
    countFour(v128.bitselect(four, f32x4.splat(unread), plausible), scales, shifts);
    counts = i32x4.sub(counts, plausible);
    sentinels = i32x4.sub(sentinels, areSentinels(four));
    least = f32x4.min(least, v128.bitselect(four, highs, plausible));
    most = f32x4.max(most, v128.bitselect(four, lows, plausible));
  }
  const padding = -length & 3;
  count = sumOf(counts);
  implausible = length + padding - count - sumOf(sentinels);
  smallest = leastOf(least);
  largest = -leastOf(f32x4.neg(most));
  emptyBin(binOf(unread, binsPerUnit, shift));
}

// @ts-ignore: decorator
@inline
function sumOf(lanes: v128): i32 {
  const halves = i32x4.add(lanes, v128.shuffle<i32>(lanes, lanes, 2, 3, 2, 3));
  return i32x4.extract_lane(halves, 0) + i32x4.extract_lane(halves, 1);
}

// @ts-ignore: decorator
@inline
function leastOf(lanes: v128): f32 {
  const halves = f32x4.min(lanes, v128.shuffle<i32>(lanes, lanes, 2, 3, 2, 3));
  return min(f32x4.extract_lane(halves, 0), f32x4.extract_lane(halves, 1));
}

/** Mean of few samples, without the smallest and the largest if enough are left. */
function trimmedMean(samples: usize, length: i32, low: f32, high: f32): f64 {
  let sum: f64 = 0;
  const end = samples + (<usize>length << 2);
  for (let place = samples; place < end; place += 4) {
    const sample = load<f32>(place);
    if (sample >= low && sample <= high) sum += <f64>sample;
  }
  if (count < TRIMMED_SAMPLES_MIN) return sum / <f64>count;
  return (sum - <f64>smallest - <f64>largest) / <f64>(count - 2);
}

// @ts-ignore: decorator
@inline
function put(summary: usize, field: i32, value: f64): void {
  store<f64>(summary + (<usize>field << 3), value);
}
