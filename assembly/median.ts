import { CUMULATIVE, HISTOGRAM, HISTOGRAM_BINS } from './layout';

/**
 * The median from a histogram. `HISTOGRAM` is four tables, one for each of four neighbouring samples, so that equal
 * neighbours need not wait for each other's increment; all are zero between two series.
 *
 * A bin is identified by its byte offset in a table. Bins begin half a bin below the lowest plausible sample.
 */

export const TABLE_BYTES: usize = HISTOGRAM_BINS << 2;

/** A float of this binade has the integer above 512 in nine bits of its mantissa, from bit 14 on. */
const BINADE: f32 = 512;
const BIN_SHIFT: i32 = 12; // two less: the byte offset, at four bytes per bin
const BIN_MASK: i32 = 0x1ff << 2;

/** Shifts the lowest plausible sample, in bins, to the middle of the first bin of the binade. */
// @ts-ignore: decorator
@inline
export function binShift(low: f32, binsPerUnit: f32): f32 {
  return BINADE + 0.5 - low * binsPerUnit;
}

/** The bin of a plausible sample. The addition rounds up by less than 1/8192 of a bin. */
// @ts-ignore: decorator
@inline
export function binOf(sample: f32, binsPerUnit: f32, shift: f32): usize {
  return <usize>((reinterpret<i32>(sample * binsPerUnit + shift) >>> BIN_SHIFT) & BIN_MASK);
}

/** Counts four plausible samples. */
// @ts-ignore: decorator
@inline
export function countFour(samples: v128, binsPerUnit: v128, shift: v128): void {
  const places = f32x4.add(f32x4.mul(samples, binsPerUnit), shift);
  const bins = v128.and(i32x4.shr_u(places, BIN_SHIFT), i32x4.splat(BIN_MASK));
  const two = <u64>i64x2.extract_lane(bins, 0);
  const others = <u64>i64x2.extract_lane(bins, 1);
  const first = <usize>(<u32>two);
  const second = <usize>(two >>> 32);
  const third = <usize>(<u32>others);
  const fourth = <usize>(others >>> 32);
  store<u32>(first, load<u32>(first, HISTOGRAM) + 1, HISTOGRAM);
  store<u32>(second, load<u32>(second, HISTOGRAM + TABLE_BYTES) + 1, HISTOGRAM + TABLE_BYTES);
  store<u32>(third, load<u32>(third, HISTOGRAM + 2 * TABLE_BYTES) + 1, HISTOGRAM + 2 * TABLE_BYTES);
  store<u32>(fourth, load<u32>(fourth, HISTOGRAM + 3 * TABLE_BYTES) + 1, HISTOGRAM + 3 * TABLE_BYTES);
}

/**
 * Adds to the count of a bin. A negative `count` may come first: unsigned counts wrap around, and the sum is right.
 */
// @ts-ignore: decorator
@inline
export function addToBin(bin: usize, count: i32): void {
  store<i32>(bin, load<i32>(bin, HISTOGRAM) + count, HISTOGRAM);
}

// @ts-ignore: decorator
@inline
export function emptyBin(bin: usize): void {
  store<u32>(bin, 0, HISTOGRAM);
  store<u32>(bin, 0, HISTOGRAM + TABLE_BYTES);
  store<u32>(bin, 0, HISTOGRAM + 2 * TABLE_BYTES);
  store<u32>(bin, 0, HISTOGRAM + 3 * TABLE_BYTES);
}

/** Finds the median of `n` samples in the bins from `smallest` to `largest`, and clears them. */
export function takeMedian(n: i32, low: f32, binsPerUnit: f32, smallest: f32, largest: f32): f64 {
  const shift = binShift(low, binsPerUnit);
  const first = binOf(smallest, binsPerUnit, shift) & ~15;
  const last = binOf(largest, binsPerUnit, shift);
  const ranks = i32x4.splat((n + 1) / 2); // rounded up: a sum of counts is an integer
  const zero = i32x4.splat(0);
  let below = zero;
  let carry = zero;
  v128.store(CUMULATIVE + first - 16, zero);
  for (let bin = first; bin <= last; bin += 16) {
    let sums = takeFourBins(bin);
    sums = i32x4.add(sums, v128.shuffle<i32>(zero, sums, 0, 4, 5, 6));
    sums = i32x4.add(sums, v128.shuffle<i32>(zero, sums, 0, 0, 4, 5));
    sums = i32x4.add(sums, carry);
    v128.store(CUMULATIVE + bin, sums);
    carry = v128.shuffle<i32>(sums, sums, 3, 3, 3, 3);
    below = i32x4.sub(below, i32x4.lt_s(sums, ranks));
  }
  const start = <f64>low - 0.5 / <f64>binsPerUnit;
  const median = start + placeOf(first, below, <f64>n * 0.5) / <f64>binsPerUnit;
  return max(<f64>smallest, min(<f64>largest, median));
}

/** Returns the counts of four bins and clears them. */
// @ts-ignore: decorator
@inline
function takeFourBins(bin: usize): v128 {
  const zero = i32x4.splat(0);
  const sums = i32x4.add(
    i32x4.add(v128.load(bin, HISTOGRAM), v128.load(bin, HISTOGRAM + TABLE_BYTES)),
    i32x4.add(v128.load(bin, HISTOGRAM + 2 * TABLE_BYTES), v128.load(bin, HISTOGRAM + 3 * TABLE_BYTES)),
  );
  v128.store(bin, zero, HISTOGRAM);
  v128.store(bin, zero, HISTOGRAM + TABLE_BYTES);
  v128.store(bin, zero, HISTOGRAM + 2 * TABLE_BYTES);
  v128.store(bin, zero, HISTOGRAM + 3 * TABLE_BYTES);
  return sums;
}

/** The position of `rank`, in bins and fractions, given how many samples are below bin `first`. */
// @ts-ignore: decorator
@inline
function placeOf(first: usize, below: v128, rank: f64): f64 {
  const halves = i32x4.add(below, v128.shuffle<i32>(below, below, 2, 3, 2, 3));
  const bins = i32x4.extract_lane(halves, 0) + i32x4.extract_lane(halves, 1);
  const bin = first + (<usize>bins << 2);
  const before = load<i32>(CUMULATIVE + bin - 4);
  const inBin = load<i32>(CUMULATIVE + bin) - before;
  return <f64>(<i32>(bin >>> 2)) + (rank - <f64>before) / <f64>inBin;
}
