import { BLOCK, whereEqual } from './blocks';
import { SAMPLES } from './layout';
import { decodeNumber } from './number';
import { CLOSE_ARRAY, COMMA, OPEN_ARRAY, SPACE, at, inputEnd, moveTo, skipSpace, take } from './text';

/**
 * The arrays of numbers. A series mixes `61.5`, `62` and `101.3`, and a branch for each form would be mispredicted
 * every few samples: what is usual is decoded without one, four samples at a time.
 *
 * 1. `findEnds` writes the place of every comma, and of the bracket that ends the array, to `SAMPLES`; a block at a
 *    time, in which no more samples can end than `SAMPLES_SLACK`.
 * 2. `decodeTenths` takes four places from there, looks at the eight bytes in front of each, and puts four floats in
 *    their stead. It sees whether all four were usual: `d`, `dd` or `ddd`, with or without one decimal.
 * 3. `decodeThousandths` does the same for up to three decimals, in half as many steps again: averages are written
 *    so. From the first four that are not tenths on, an array is decoded with it, tenths and all.
 * 4. `decodeOneByOne` decodes four that neither takes, in any form that JSON has.
 */

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
  const end = SAMPLES + (<usize>length << 2);
  const lastEnd = <usize>load<u32>(end - 4);
  if (!decodeCoarsely(end, from, isSpaced ? 2 : 1)) return false;
  moveTo(lastEnd + BEHIND);
  return true;
}

/** Decodes all samples, whose ends lie up to `end`: as tenths, as far as they are usual. */
function decodeCoarsely(end: usize, from: usize, gap: i32): bool {
  const rest = <i32>((end - SAMPLES) >>> 2) & 3;
  let before = i32x4.splat(<i32>(from - BEHIND) - gap + 1);
  let place = SAMPLES;
  for (const fours = end - (<usize>rest << 2); place < fours; place += 16) {
    const ends = v128.load(place);
    const starts = v128.shuffle<i32>(before, ends, 3, 4, 5, 6);
    if (v128.any_true(decodeTenths(place, starts, ends, gap))) {
      v128.store(place, ends);
      return decodeFinely(place, end, before, from, gap);
    }
    before = ends;
  }
  if (rest == 0) return true;
  const lanes = i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(rest));
  const ends = lastEnds(place, rest, lanes);
  const starts = v128.shuffle<i32>(before, ends, 3, 4, 5, 6);
  if (!v128.any_true(v128.and(decodeTenths(place, starts, ends, gap), lanes))) return true;
  v128.store(place, ends);
  return decodeFinely(place, end, before, from, gap);
}

/** Decodes the samples whose ends lie from `place` to `end`, of which `before` are the four ends in front. */
function decodeFinely(place: usize, end: usize, before: v128, from: usize, gap: i32): bool {
  const rest = <i32>((end - place) >>> 2) & 3;
  for (const fours = end - (<usize>rest << 2); place < fours; place += 16) {
    const ends = v128.load(place);
    const starts = v128.shuffle<i32>(before, ends, 3, 4, 5, 6);
    if (v128.any_true(decodeThousandths(place, starts, ends, gap))) {
      if (!decodeOneByOne(place, 4, max(from, startOf(starts)), i32x4.extract_lane(ends, 3))) return false;
    }
    before = ends;
  }
  if (rest == 0) return true;
  const lanes = i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(rest));
  const ends = lastEnds(place, rest, lanes);
  const starts = v128.shuffle<i32>(before, ends, 3, 4, 5, 6);
  if (!v128.any_true(v128.and(decodeThousandths(place, starts, ends, gap), lanes))) return true;
  return decodeOneByOne(place, rest, max(from, startOf(starts)), i32x4.extract_lane(ends, 3));
}

/** The last ends, fewer than four. Behind them lies anything: those lanes are given the last one. */
// @ts-ignore: decorator
@inline
function lastEnds(place: usize, count: i32, lanes: v128): v128 {
  const last = v128.load32_splat(place + (<usize>(count - 1) << 2));
  const ends = v128.bitselect(v128.load(place), last, lanes);
  v128.store(place, ends);
  return ends;
}

/**
 * Turns the four ends at `place` into samples; returns bits in the lanes that are not usual, where the sample means
 * nothing. `starts` are the ends of the samples before, `gap` the bytes between two samples.
 *
 *   the eight bytes     ? ? ? ? ? , 6 2      ? ? , 1 0 1 . 3      number of a byte: 0 … 7
 *   text                H T U t
 *     of a whole        , 6 2 0   (5 6 7 and a zero)
 *     of tenths         1 0 1 3   (3 4 5 7, without the point in 6)
 *   valid               0 F F F              F F F F              by the number of digits, from the length
 *   pairs               (10 H + T, 10 U + t), in the high bytes
 *
 * Two places call it, and have to: where only the loop did, V8 made its constants anew in every turn.
 */
// @ts-ignore: decorator
@inline
function decodeTenths(place: usize, starts: v128, ends: v128, gap: i32): v128 {
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
  const digits = i32x4.add(lengthsLessOne(starts, ends, gap), i32x4.shl(points, 1));
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

/**
 * As `decodeTenths`, for up to three decimals. Here the bytes are those from the start of a sample on, so that its
 * first byte that is no digit, the point or what follows the sample, says by how much they are moved.
 *
 *   the eight bytes     1 0 1 . 3 2 5 ,      6 2 . 0 8 , 6 2      7 , 6 1 . 5 , 8      number of a byte: 0 … 7
 *   moved by            0                    1                    2
 *   text                1 0 1 3 . ? 2 5      _ 6 2 0 . ? 8 _      _ _ 7 _ _ ? _ _      H T U t . ? h k
 *   pairs               (10 H + T, 10 U + t) and (?, 10 h + k), in the high bytes
 */
// @ts-ignore: decorator
@inline
function decodeThousandths(place: usize, starts: v128, ends: v128, gap: i32): v128 {
  const first = <usize>i32x4.extract_lane(starts, 0) + <usize>gap;
  const second = <usize>load<u32>(place) + <usize>gap;
  const third = <usize>load<u32>(place, 4) + <usize>gap;
  const fourth = <usize>load<u32>(place, 8) + <usize>gap;
  const one = v128.xor(v128.load64_lane(second, v128.load64_zero(first, 8), 1, 8), i8x16.splat(0x30));
  const other = v128.xor(v128.load64_lane(fourth, v128.load64_zero(third, 8), 1, 8), i8x16.splat(0x30));

  const heads = v128.shuffle<i32>(one, other, 0, 2, 4, 6);
  const steps = v128.and(i8x16.gt_s(heads, i8x16.splat(9)), i32x4.splat(0x00_01_02_00));
  const ifSecond = i32x4.shr_u(steps, 8);
  const moves = v128.and(i8x16.max_u(ifSecond, i32x4.shr_u(steps, 16)), i32x4.splat(0xff));
  const digits = lengthsLessOne(starts, ends, gap);
  const texts = moved(one, spreadLow(digits), spreadLow(moves));
  const otherTexts = moved(other, spreadHigh(digits), spreadHigh(moves));
  const wholes = v128.shuffle<i32>(texts, otherTexts, 0, 2, 4, 6);
  const decimals = v128.shuffle<i32>(texts, otherTexts, 1, 3, 5, 7);

  const pairs = i16x8.shr_u(i16x8.mul(wholes, i16x8.splat(0x0a01)), 8);
  const lastPairs = i32x4.shr_u(i16x8.mul(decimals, i16x8.splat(0x0a01)), 24);
  const sums = i32x4.add(i32x4.dot_i16x8_s(pairs, i16x8(10000, 100, 10000, 100, 10000, 100, 10000, 100)), lastPairs);
  // Rounds once too: no thousandth below 1000 is as near to the middle of two floats as a double's rounding reaches.
  v128.store(place, f32x4.div(f32x4.convert_i32x4_s(sums), f32x4.splat(1000)));

  // Moved, a whole ends in byte 2, and with a point, which counts for −4 here, decimals end in 4, 5 or 6.
  const points = v128.and(i8x16.eq(decimals, i8x16.splat(0x2e ^ 0x30)), i32x4.splat(0xfc));
  const lastBytes = i8x16.add(i8x16.add_sat_u(digits, moves), points);
  const isWrongLength = i8x16.sub_sat_u(lastBytes, i32x4.splat(2)); // or empty: then `digits` is all ones
  const isLeadingZero = i8x16.sub_sat_u(i32x4.splat(1), v128.or(heads, ifSecond));
  const isNoDigit = v128.or(
    i8x16.sub_sat_u(wholes, i8x16.splat(9)),
    i8x16.sub_sat_u(decimals, i32x4.splat(0x09_09_ff_ff)),
  );
  return v128.or(v128.or(isNoDigit, isWrongLength), isLeadingZero);
}

/** Of two samples, the bytes that are theirs in the order `H T U t . ? h k`; zero where one has none. */
// @ts-ignore: decorator
@inline
function moved(bytes: v128, digits: v128, moves: v128): v128 {
  const valid = i8x16.gt_s(digits, i8x16(-1, 0, 1, 2, 3, 4, 5, 6, -1, 0, 1, 2, 3, 4, 5, 6));
  const sources = i8x16.sub(i8x16(0, 1, 2, 4, 3, 7, 5, 6, 0, 1, 2, 4, 3, 7, 5, 6), moves);
  // What would lie in front of the first byte stays negative in both halves, which gives zero.
  return i8x16.swizzle(v128.and(bytes, valid), v128.or(sources, i64x2(0, 0x08_08_08_08_08_08_08_08)));
}

/** The low bytes of the first two lanes, eight times each. */
// @ts-ignore: decorator
@inline
function spreadLow(lanes: v128): v128 {
  return i8x16.swizzle(lanes, i8x16(0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4));
}

/** The low bytes of the last two lanes, eight times each. */
// @ts-ignore: decorator
@inline
function spreadHigh(lanes: v128): v128 {
  return i8x16.swizzle(lanes, i8x16(8, 8, 8, 8, 8, 8, 8, 8, 12, 12, 12, 12, 12, 12, 12, 12));
}

/** Bytes of each of four samples, less one. */
// @ts-ignore: decorator
@inline
function lengthsLessOne(starts: v128, ends: v128, gap: i32): v128 {
  return i32x4.sub(i32x4.sub(ends, starts), i32x4.splat(gap + 1));
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
    if (!(abs(value) < Infinity)) return false;
    store<f32>(place + (<usize>index << 2), <f32>value);
    skipSpace();
    moveTo(at + 1);
  }
  return at == <usize>end + BEHIND;
}
