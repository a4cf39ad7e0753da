import { SAMPLES } from './layout';
import { decodeNumber } from './number';
import { CLOSE_ARRAY, COMMA, OPEN_ARRAY, SPACE, at, inputEnd, moveTo, skipSpace, take } from './text';

/**
 * The arrays of numbers. A series mixes `61.5`, `62` and `101.3`, and a branch for each form would be mispredicted
 * every few samples: what is usual is decoded without one, four samples at a time.
 *
 * 1. `findEnds` writes the place of every comma, and of the bracket that ends the array, to `SAMPLES`.
 * 2. `decodeFour` takes four places from there, looks at the eight bytes in front of each, and puts four floats in
 *    their stead. It sees whether all four were usual: `d`, `dd` or `ddd`, with or without one decimal.
 * 3. `decodeOneByOne` decodes four that were not, in any form that the plain form has.
 */

/** Bytes that are searched for commas at once; no more samples can end in them (`SAMPLES_SLACK`). */
const BLOCK: usize = 64;

/** From where `findEnds` says that a sample ends to what follows its comma: it names the eight bytes in front. */
const BEHIND: usize = 9;

/** Decodes an array of numbers to `SAMPLES`; returns its length, or −1 for what is not that or is too long. */
export function decodeArray(samplesMax: i32): i32 {
  if (!take(OPEN_ARRAY)) return -1;
  skipSpace();
  if (take(CLOSE_ARRAY)) return 0;
  const from = at;
  const isSpaced = isFirstCommaSpaced(from);
  const length = findEnds(from, isSpaced, samplesMax);
  if (length < 0) return -1;
  if (decodeAtEnds(from, isSpaced, length)) return length;
  // Commas of both kinds: rare enough to begin again.
  return isSpaced ? decodeMixed(from, samplesMax) : -1;
}

/** Whether the array is written with `, `. */
function isFirstCommaSpaced(from: usize): bool {
  const commas = i8x16.bitmask(i8x16.eq(v128.load(from), i8x16.splat(<i8>COMMA)));
  return commas != 0 && load<u8>(from + <usize>ctz(commas) + 1) == SPACE;
}

function decodeMixed(from: usize, samplesMax: i32): i32 {
  const length = findEnds(from, false, samplesMax);
  return length >= 0 && decodeAtEnds(from, false, length) ? length : -1;
}

/**
 * Writes where each sample ends, less eight, as u32 to `SAMPLES`; returns how many there are, or −1 where they are
 * too many or the array does not end. With `isSpaced`, a comma counts only with a space behind it: any other is
 * left inside of a sample, which no decoder takes.
 */
function findEnds(from: usize, isSpaced: bool, samplesMax: i32): i32 {
  const most = SAMPLES + (<usize>samplesMax << 2);
  let out = SAMPLES;
  for (let block = from; block < inputEnd; block += BLOCK) {
    let ends = whereEqual(block, COMMA);
    if (isSpaced) ends &= whereEqual(block + 1, SPACE);
    let brackets: u64 = 0;
    if (hasAboveDigits(block)) {
      brackets = whereEqual(block, CLOSE_ARRAY);
      ends = (ends | brackets) & (brackets ^ (brackets - 1)); // up to the first bracket, and with it
    }
    writeEnds(block - 8, ends, out);
    out += <usize>popcnt(ends) << 2;
    if (out > most) return -1;
    if (brackets != 0) return <i32>((out - SAMPLES) >>> 2);
  }
  return -1;
}

/** Eight at a time without asking: what is written behind the last one is written over or never read. */
// @ts-ignore: decorator
@inline
function writeEnds(base: usize, bits: u64, out: usize): void {
  do {
    store<u32>(out, <u32>(base + <usize>ctz(bits)));
    bits &= bits - 1;
    store<u32>(out, <u32>(base + <usize>ctz(bits)), 4);
    bits &= bits - 1;
    store<u32>(out, <u32>(base + <usize>ctz(bits)), 8);
    bits &= bits - 1;
    store<u32>(out, <u32>(base + <usize>ctz(bits)), 12);
    bits &= bits - 1;
    store<u32>(out, <u32>(base + <usize>ctz(bits)), 16);
    bits &= bits - 1;
    store<u32>(out, <u32>(base + <usize>ctz(bits)), 20);
    bits &= bits - 1;
    store<u32>(out, <u32>(base + <usize>ctz(bits)), 24);
    bits &= bits - 1;
    store<u32>(out, <u32>(base + <usize>ctz(bits)), 28);
    bits &= bits - 1;
    out += 32;
  } while (bits != 0);
}

/** The bytes of a block that are `byte`, a bit each. */
// @ts-ignore: decorator
@inline
function whereEqual(block: usize, byte: u32): u64 {
  const bytes = i8x16.splat(<i8>byte);
  return (
    <u64>i8x16.bitmask(i8x16.eq(v128.load(block), bytes)) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.load(block, 16), bytes))) << 16) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.load(block, 32), bytes))) << 32) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.load(block, 48), bytes))) << 48)
  );
}

/** Whether a byte of the block lies above the digits: the bracket does, and no comma, point, space or sign. */
// @ts-ignore: decorator
@inline
function hasAboveDigits(block: usize): bool {
  const first = i8x16.max_s(v128.load(block), v128.load(block, 16));
  const second = i8x16.max_s(v128.load(block, 32), v128.load(block, 48));
  return v128.any_true(i8x16.gt_s(i8x16.max_s(first, second), i8x16.splat(0x39)));
}

/** Turns the `length` ends at `SAMPLES` into samples and goes behind the array; false for what no decoder takes. */
function decodeAtEnds(from: usize, isSpaced: bool, length: i32): bool {
  const gap = isSpaced ? 2 : 1;
  const gaps = i32x4.splat(gap + 1);
  const lastEnd = load<u32>(SAMPLES + (<usize>(length - 1) << 2));
  let before = i32x4.splat(<i32>(from - BEHIND) - gap + 1);
  let place = SAMPLES;
  for (const end = SAMPLES + (<usize>(length & ~3) << 2); place < end; place += 16) {
    const ends = v128.load(place);
    const starts = v128.shuffle<i32>(before, ends, 3, 4, 5, 6);
    if (v128.any_true(decodeFour(place, starts, ends, gaps))) {
      if (!decodeOneByOne(place, 4, max(from, startOf(starts)), i32x4.extract_lane(ends, 3))) return false;
    }
    before = ends;
  }
  const rest = length & 3;
  if (rest > 0) {
    // Behind the last end lies anything: those lanes read what the last one reads.
    const lanes = i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(rest));
    const ends = v128.bitselect(v128.load(place), i32x4.splat(lastEnd), lanes);
    v128.store(place, ends);
    const starts = v128.shuffle<i32>(before, ends, 3, 4, 5, 6);
    if (v128.any_true(v128.and(decodeFour(place, starts, ends, gaps), lanes))) {
      if (!decodeOneByOne(place, rest, max(from, startOf(starts)), lastEnd)) return false;
    }
  }
  moveTo(<usize>lastEnd + BEHIND);
  return true;
}

/**
 * Turns the four ends at `place` into samples; returns bits in the lanes that are not usual, where the sample means
 * nothing. `starts` are the ends of the samples before, `gaps` the bytes between two samples, and one more.
 *
 *   the eight bytes     ? ? ? ? ? , 6 2      ? ? , 1 0 1 . 3      number of a byte: 0 … 7
 *   text                H T U t
 *     of a whole        , 6 2 0   (5 6 7 and a zero)
 *     of tenths         1 0 1 3   (3 4 5 7, without the point in 6)
 *   valid               0 F F F              F F F F              by the number of digits, from the length
 *   pairs               (10 H + T, 10 U + t), in the high bytes
 */
// @ts-ignore: decorator
@inline
function decodeFour(place: usize, starts: v128, ends: v128, gaps: v128): v128 {
  const one = v128.load64_lane(load<u32>(place, 4), v128.load64_zero(load<u32>(place)), 1);
  const other = v128.load64_lane(load<u32>(place, 12), v128.load64_zero(load<u32>(place, 8)), 1);
  const tails = v128.shuffle<i32>(one, other, 1, 3, 5, 7);
  const points = i32x4.eq(v128.and(tails, i32x4.splat(0x00_ff_00_00)), i32x4.splat(0x00_2e_00_00));
  const tenths = v128.or(
    i8x16.swizzle(one, i8x16(3, 4, 5, 7, 11, 12, 13, 15, -1, -1, -1, -1, -1, -1, -1, -1)),
    i8x16.swizzle(other, i8x16(-1, -1, -1, -1, -1, -1, -1, -1, 3, 4, 5, 7, 11, 12, 13, 15)),
  );
  const wholes = v128.or(i32x4.shr_u(tails, 8), i32x4.splat(0x30_00_00_00));
  const text = v128.bitselect(tenths, wholes, points);

  // Digits in front of the point, less one: 0, 1 or 2. A point is −1 here, and takes itself and a digit away.
  const digits = i32x4.add(i32x4.sub(i32x4.sub(ends, starts), gaps), i32x4.shl(points, 1));
  const valid = i8x16.gt_s(
    i8x16.swizzle(digits, i8x16(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12)),
    i8x16(1, 0, -1, -2, 1, 0, -1, -2, 1, 0, -1, -2, 1, 0, -1, -2),
  );
  const values = v128.and(v128.xor(text, i8x16.splat(0x30)), valid);
  const pairs = i16x8.mul(values, i16x8.splat(0x0a01));
  const sums = i32x4.dot_i16x8_s(i16x8.shr_u(pairs, 8), i16x8(100, 1, 100, 1, 100, 1, 100, 1));
  // A division rounds once, as JSON.parse and Math.fround do (no tenth lies midway between two floats).
  v128.store(place, f32x4.div(f32x4.convert_i32x4_s(sums), f32x4.splat(10)));

  // No leading zeros: `valid` is 0, −256 or −1 here, and the product 0, or the pair of `01`, or that of `10`.
  const least = i16x8.mul(valid, i16x8(-0x0a01, 0, -0x0a01, 0, -0x0a01, 0, -0x0a01, 0));
  const isLeadingZero = i16x8.gt_s(least, pairs);
  const isNoDigit = i8x16.sub_sat_u(values, i8x16.splat(9));
  const isTooLong = i16x8.sub_sat_u(digits, i16x8(2, 0, 2, 0, 2, 0, 2, 0)); // or empty: then it is negative
  return v128.or(v128.or(isNoDigit, isTooLong), isLeadingZero);
}

/** What follows the comma before the first of four; in front of `from` for the first of an array with spaces. */
// @ts-ignore: decorator
@inline
function startOf(starts: v128): usize {
  return <usize>i32x4.extract_lane(starts, 0) + BEHIND;
}

/**
 * Decodes `count` samples of any form. Whatever follows a sample is skipped unseen: only where it was an end each
 * time does the last step lead behind `end`.
 */
function decodeOneByOne(place: usize, count: i32, start: usize, end: u32): bool {
  moveTo(start);
  for (let index: i32 = 0; index < count; index++) {
    skipSpace();
    const value = decodeNumber();
    if (value != value) return false;
    store<f32>(place + (<usize>index << 2), <f32>value);
    skipSpace();
    moveTo(at + 1);
  }
  return at == <usize>end + BEHIND;
}
