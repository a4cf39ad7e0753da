import { BLOCK, whereEqual } from './blocks';
import { SAMPLES } from './layout';
import { decodeNumber } from './number';
import { CLOSE_ARRAY, COMMA, OPEN_ARRAY, SPACE, ZERO, at, afterSpace, inputEnd, moveTo, skipSpace, take } from './text';

/**
 * Decodes arrays of numbers. A series mixes `61.5`, `62` and `101.3`, and a branch for each form would be mispredicted
 * every few samples: usual forms are decoded without branches, four samples at a time.
 *
 * 1. `findEnds` writes the position of every comma, and of the closing bracket, to `SAMPLES`; one block at a
 *    time, in which at most `SAMPLES_SLACK` samples can end.
 * 2. `decodeTenths` takes four positions from there, reads the eight bytes before each, and writes four floats in
 *    their place. It checks that all four are usual: `d`, `dd` or `ddd`, with or without one decimal.
 * 3. `decodeThousandths` does the same for up to three decimals, as averages have, in one and a half times the
 *    steps. From the first four that are not tenths on, it decodes all samples of the array, tenths included.
 * 4. From the first four on that neither accepts, `decodeLong` decodes one by one: means of up to sixteen decimals as
 *    vectors, and any other form of JSON as a general number.
 *
 * A gap, -1, is none of these; `takeGaps` handles it.
 */

/** From the position that `findEnds` writes for a sample (eight bytes before its end) to the byte after its comma. */
const AFTER_END: usize = 9;

/** Decodes an array of numbers to `SAMPLES`; returns its length, or −1 if it is anything else or too long. */
export function decodeArray(samplesMax: i32): i32 {
  if (!take(OPEN_ARRAY)) return -1;
  skipSpace();
  if (take(CLOSE_ARRAY)) return 0;
  const from = at;
  const gap = firstGap(from);
  const length = gap > 2 ? findIndentedEnds(from, gap, samplesMax) : findEnds(from, gap == 2, samplesMax);
  if (length == TOO_LONG) return -1;
  if (length > 0 && decodeAtEnds(from, gap, length)) return length;
  // Samples with varying distances: rare enough to start again.
  return gap > 1 ? decodeMixed(from, samplesMax) : -1;
}

/** Returned by the finders of ends: the array is too long or does not end; or it is not in the expected form. */
const TOO_LONG: i32 = -1;
const NOT_INDENTED: i32 = 0;

/** Bytes from the end of the first sample to the second one: 1 for a comma alone, 2 with a space, more for lines. */
function firstGap(from: usize): i32 {
  const commas = whereEqual(from, COMMA);
  if (commas == 0) return 1;
  const comma = from + <usize>ctz(commas);
  const byte = <u32>load<u8>(comma + 1);
  if (byte > SPACE) return 1;
  if (byte == SPACE && <u32>load<u8>(comma + 2) > SPACE) return 2;
  const gap = <i32>(afterSpace(comma + 1) - comma);
  return gap > 2 ? gap : 1;
}

function decodeMixed(from: usize, samplesMax: i32): i32 {
  const length = findEnds(from, false, samplesMax);
  return length >= 0 && decodeAtEnds(from, 1, length) ? length : -1;
}

/**
 * Like `findEnds`, for an array with each sample on its own line. Only the number of white-space bytes is checked,
 * not where they are: the decoders accept no sample that contains one.
 */
function findIndentedEnds(from: usize, gap: i32, samplesMax: i32): i32 {
  const length = findEnds(from, false, samplesMax);
  if (length < 0) return TOO_LONG;
  const lastEnd = SAMPLES + (<usize>(length - 1) << 2);
  const bracket = <usize>load<u32>(lastEnd) + 8;
  let afterLast = bracket;
  while (afterLast > from && isSpace(<u32>load<u8>(afterLast - 1))) afterLast--;
  if (countSpaces(from, afterLast) != (length - 1) * (gap - 1)) return NOT_INDENTED;
  store<u32>(lastEnd, <u32>(afterLast - 8));
  return length;
}

// @ts-ignore: decorator
@inline
function isSpace(byte: u32): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09;
}

/** Bytes from `from` to `end` that are a space, a tab, or part of a line break. */
function countSpaces(from: usize, end: usize): i32 {
  // Each of those below 16 is at its own index, and no other.
  const controls = i8x16(-1, -1, -1, -1, -1, -1, -1, -1, -1, 9, 10, -1, -1, 13, -1, -1);
  let count: i32 = 0;
  let place = from;
  for (; place + 16 <= end; place += 16) {
    const bytes = v128.load(place);
    const spaces = v128.or(
      i8x16.eq(bytes, i8x16.splat(<i8>SPACE)),
      i8x16.eq(bytes, i8x16.swizzle(controls, bytes)),
    );
    count += popcnt(i8x16.bitmask(spaces));
  }
  for (; place < end; place++) count += i32(isSpace(<u32>load<u8>(place)));
  return count;
}

/**
 * Writes where each sample ends, less eight, as u32 to `SAMPLES`; returns their number, or −1 if there are too many
 * or the array does not end. With `isSpaced`, a comma counts only if a space follows it: any other stays inside a
 * sample, which no decoder accepts.
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
      ends = (ends | brackets) & (brackets ^ (brackets - 1)); // up to and including the first bracket
    }
    writeEnds(block - 8, ends, out);
    out += <usize>popcnt(ends) << 2;
    if (out > most) return -1;
    if (brackets != 0) return <i32>((out - SAMPLES) >>> 2);
  }
  return -1;
}

/** Writes eight at a time without a check: surplus entries are overwritten or never read. */
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

/** Whether a byte of the block is above the digits: true for the bracket, and for no comma, point, space or sign. */
// @ts-ignore: decorator
@inline
function hasAboveDigits(block: usize): bool {
  const first = i8x16.max_s(v128.load(block), v128.load(block, 16));
  const second = i8x16.max_s(v128.load(block, 32), v128.load(block, 48));
  return v128.any_true(i8x16.gt_s(i8x16.max_s(first, second), i8x16.splat(0x39)));
}

/** Turns the `length` ends at `SAMPLES` into samples and moves after the array; false if no decoder accepts them. */
function decodeAtEnds(from: usize, gap: i32, length: i32): bool {
  const end = SAMPLES + (<usize>length << 2);
  const lastEnd = <usize>load<u32>(end - 4);
  if (!decodeCoarsely(end, from, gap)) return false;
  moveTo(afterSpace(lastEnd + 8) + 1);
  return true;
}

/** Decodes all samples, with ends up to `end`: as tenths, while they have the usual form. */
function decodeCoarsely(end: usize, from: usize, gap: i32): bool {
  const rest = <i32>((end - SAMPLES) >>> 2) & 3;
  let before = i32x4.splat(<i32>(from - AFTER_END) - gap + 1);
  let place = SAMPLES;
  for (const fours = end - (<usize>rest << 2); place < fours; place += 16) {
    const ends = v128.load(place);
    const starts = v128.shuffle<i32>(before, ends, 3, 4, 5, 6);
    const unusual = decodeTenths(place, starts, ends, gap);
    if (v128.any_true(unusual) && !takeGaps(place, starts, ends, gap, unusual)) {
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

/** Decodes the samples with ends from `place` to `end`; `before` are the four ends before them. */
function decodeFinely(place: usize, end: usize, before: v128, from: usize, gap: i32): bool {
  const rest = <i32>((end - place) >>> 2) & 3;
  for (const fours = end - (<usize>rest << 2); place < fours; place += 16) {
    const ends = v128.load(place);
    const starts = v128.shuffle<i32>(before, ends, 3, 4, 5, 6);
    const unusual = decodeThousandths(place, starts, ends, gap);
    if (v128.any_true(unusual) && !takeGaps(place, starts, ends, gap, unusual)) {
      v128.store(place, ends);
      return decodeLong(place, end, before, from, gap);
    }
    before = ends;
  }
  if (rest == 0) return true;
  const lanes = i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(rest));
  const ends = lastEnds(place, rest, lanes);
  const starts = v128.shuffle<i32>(before, ends, 3, 4, 5, 6);
  if (!v128.any_true(v128.and(decodeThousandths(place, starts, ends, gap), lanes))) return true;
  v128.store(place, ends);
  return decodeLong(place, end, before, from, gap);
}

/** `-1`, as a device writes a gap, as a pair of bytes, first one lowest. */
const GAP_TEXT: u32 = 0x312d;

/** Writes the sample of each `unusual` lane if it is a gap; false if one is not. */
function takeGaps(place: usize, starts: v128, ends: v128, gap: i32, unusual: v128): bool {
  const lengths = lengthsLessOne(starts, ends, gap);
  const texts = i32x4(
    <i32>load<u16>(<usize>i32x4.extract_lane(starts, 0) + <usize>(gap + 8)),
    <i32>load<u16>(<usize>i32x4.extract_lane(starts, 1) + <usize>(gap + 8)),
    <i32>load<u16>(<usize>i32x4.extract_lane(starts, 2) + <usize>(gap + 8)),
    <i32>load<u16>(<usize>i32x4.extract_lane(starts, 3) + <usize>(gap + 8)),
  );
  const gaps = v128.and(i32x4.eq(lengths, i32x4.splat(1)), i32x4.eq(texts, i32x4.splat(GAP_TEXT)));
  const isOther = v128.andnot(i32x4.ne(unusual, i32x4.splat(0)), gaps);
  if (v128.any_true(isOther)) return false;
  v128.store(place, v128.bitselect(f32x4.splat(-1), v128.load(place), gaps));
  return true;
}

/**
 * Decodes the samples with ends from `place` to `end`, one at a time; `before` are the four ends before them. For
 * means with all their decimals.
 */
function decodeLong(place: usize, end: usize, before: v128, from: usize, gap: i32): bool {
  let start = max(from, <usize>i32x4.extract_lane(before, 3) + <usize>(gap + 8));
  for (; place < end; place += 4) {
    const sampleEnd = <usize>load<u32>(place) + 8;
    let sample = decodeMean(start, <i32>(sampleEnd - start));
    if (sample != sample) {
      sample = decodeOne(start, sampleEnd, gap);
      if (sample != sample) return false;
    }
    store<f32>(place, sample);
    start = sampleEnd + <usize>gap;
  }
  return true;
}

/** The last ends, fewer than four. The memory after them is undefined, so those lanes get the last one. */
// @ts-ignore: decorator
@inline
function lastEnds(place: usize, count: i32, lanes: v128): v128 {
  const last = v128.load32_splat(place + (<usize>(count - 1) << 2));
  const ends = v128.bitselect(v128.load(place), last, lanes);
  v128.store(place, ends);
  return ends;
}

/**
 * Turns the four ends at `place` into samples; returns set bits in the lanes that are not usual, whose samples are
 * invalid. `starts` are the ends of the previous samples, `gap` the bytes between two samples.
 *
 *   the eight bytes     ? ? ? ? ? , 6 2      ? ? , 1 0 1 . 3      number of a byte: 0 … 7
 *   text                H T U t
 *     of an integer     , 6 2 0   (5 6 7 and a zero)
 *     of tenths         1 0 1 3   (3 4 5 7, without the point in 6)
 *   valid               0 F F F              F F F F              by the number of digits, from the length
 *   pairs               (10 H + T, 10 U + t), in the high bytes
 *
 * Keep both call sites: with the loop's alone, V8 rebuilt its constants in every iteration.
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

  // Digits before the point, less one: 0, 1 or 2. A point is −1 here, and removes itself and a digit.
  const digits = i32x4.add(lengthsLessOne(starts, ends, gap), i32x4.shl(points, 1));
  const valid = i8x16.gt_s(
    i8x16.swizzle(digits, i8x16(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12)),
    i8x16(1, 0, -1, -2, 1, 0, -1, -2, 1, 0, -1, -2, 1, 0, -1, -2),
  );
  const values = v128.and(v128.xor(text, i8x16.splat(0x30)), valid);
  const pairs = i16x8.mul(values, i16x8.splat(0x0a01));
  const sums = i32x4.dot_i16x8_s(i16x8.shr_u(pairs, 8), i16x8(100, 1, 100, 1, 100, 1, 100, 1));
  // A division rounds once, as JSON.parse and Math.fround together do (no tenth is exactly between two floats).
  v128.store(place, f32x4.div(f32x4.convert_i32x4_s(sums), f32x4.splat(10)));

  // No leading zeros: `valid` is 0, −256 or −1 here, and the product 0, or the pair of `01`, or that of `10`.
  const least = i16x8.mul(valid, i16x8(-0x0a01, 0, -0x0a01, 0, -0x0a01, 0, -0x0a01, 0));
  const isLeadingZero = i16x8.gt_s(least, pairs);
  const isNoDigit = i8x16.sub_sat_u(values, i8x16.splat(9));
  const isTooLong = i16x8.sub_sat_u(digits, i16x8(2, 0, 2, 0, 2, 0, 2, 0)); // or empty: then it is negative
  return v128.or(v128.or(isNoDigit, isTooLong), isLeadingZero);
}

/**
 * Like `decodeTenths`, for up to three decimals. Here the bytes begin at the start of a sample, so its first byte
 * that is not a digit (the point, or the byte after the sample) says by how much they are moved.
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
  // Also rounds once: no thousandth below 1000 is within a double's rounding error of the midpoint of two floats.
  v128.store(place, f32x4.div(f32x4.convert_i32x4_s(sums), f32x4.splat(1000)));

  // After moving, an integer ends in byte 2; with a point, which counts as −4 here, decimals end in 4, 5 or 6.
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

/** For two samples, their bytes in the order `H T U t . ? h k`; zero where a sample has none. */
// @ts-ignore: decorator
@inline
function moved(bytes: v128, digits: v128, moves: v128): v128 {
  const valid = i8x16.gt_s(digits, i8x16(-1, 0, 1, 2, 3, 4, 5, 6, -1, 0, 1, 2, 3, 4, 5, 6));
  const sources = i8x16.sub(i8x16(0, 1, 2, 4, 3, 7, 5, 6, 0, 1, 2, 4, 3, 7, 5, 6), moves);
  // Indexes before the first byte stay negative in both halves, which gives zero.
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

/** The length of each of four samples, less one. */
// @ts-ignore: decorator
@inline
function lengthsLessOne(starts: v128, ends: v128, gap: i32): v128 {
  return i32x4.sub(i32x4.sub(ends, starts), i32x4.splat(gap + 1));
}

/** Bytes of a mean: three digits, a point, and as many decimals as fit one vector. */
const DECIMALS_MAX: i32 = 16;

/**
 * The sample of `length` bytes at `start`, with one to three digits before the point and up to sixteen after it, or a
 * gap; NaN for anything else, and where the last bits of a double decide.
 *
 *   61.53333333333333    integer part 61, decimals in two numbers of eight digits: 53333333 and 33333300
 *   value                whole + (high · 10^8 + low) · 10^−16, error at most 3 units of a double's last place
 *
 * A float drops 29 bits of a double. Such an error matters only if those are within 8 of their midpoint; then the
 * double must be the one of JSON.parse.
 */
// @ts-ignore: decorator
@inline
function decodeMean(start: usize, length: i32): f32 {
  const head = load<u32>(start);
  const points = head ^ 0x2e2e_2e2e;
  const found = (points - 0x0101_0101) & ~points & 0x8080_8080;
  const digits = found == 0 ? min(length, 4) : min(length, <i32>(ctz(found) >>> 3));
  if (<u32>(digits - 1) > 2) return load<u16>(start) == GAP_TEXT && length == 2 ? -1 : NaN;
  // The digits before the point, moved to the end of four bytes, padded with zeros.
  const moves = <u32>(32 - (digits << 3));
  const whole = (head << moves) ^ (0x3030_3030 << moves);
  if ((((whole + 0x7676_7676) | whole) & 0x8080_8080) != 0) {
    return load<u16>(start) == GAP_TEXT && length == 2 ? -1 : NaN;
  }
  if (digits > 1 && (head & 0xff) == ZERO) return NaN;
  const wholes = <i32>((whole >>> 8) & 0xff) * 100 + <i32>((whole >>> 16) & 0xff) * 10 + <i32>(whole >>> 24);
  if (digits == length) return <f32>wholes;

  const decimals = length - digits - 1;
  if (<u32>(decimals - 1) >= <u32>DECIMALS_MAX) return NaN;
  const text = v128.xor(v128.load(start + <usize>(digits + 1)), i8x16.splat(0x30));
  const valid = i8x16.gt_s(
    i8x16.splat(<i8>decimals),
    i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
  );
  const values = v128.and(text, valid);
  if (v128.any_true(i8x16.gt_u(values, i8x16.splat(9)))) return NaN;
  const pairs = i16x8.shr_u(i16x8.mul(values, i16x8.splat(0x0a01)), 8);
  const fours = i32x4.dot_i16x8_s(pairs, i16x8(100, 1, 100, 1, 100, 1, 100, 1));
  const eights = i32x4.dot_i16x8_s(
    i16x8.narrow_i32x4_s(fours, fours),
    i16x8(10000, 1, 10000, 1, 10000, 1, 10000, 1),
  );
  const high = <f64>i32x4.extract_lane(eights, 0);
  const low = <f64>i32x4.extract_lane(eights, 1);
  const value = <f64>wholes + (high * 1e8 + low) * 1e-16;
  const dropped = <i32>(<u32>reinterpret<u64>(value) & 0x1fff_ffff);
  return abs(dropped - 0x1000_0000) <= NEAR_MIDDLE ? NaN : <f32>value;
}

/** Units of a double's last place around the midpoint between two floats. */
const NEAR_MIDDLE: i32 = 8;

/** A sample of any form between the two positions; NaN if it is not one, or not finite. */
function decodeOne(start: usize, end: usize, gap: i32): f32 {
  moveTo(start);
  const isIndented = gap > 2; // the spaces are counted then
  if (!isIndented) skipSpace();
  const value = decodeNumber();
  if (!isIndented) skipSpace();
  return at == end && abs(value) < Infinity ? <f32>value : NaN;
}
