import { whereDigit, whereEqual, whereLetterE } from './blocks';
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  DOT,
  MINUS,
  OPEN_ARRAY,
  OPEN_OBJECT,
  PLUS,
  QUOTE,
  SPACE,
  ZERO,
  afterSpace,
  inputEnd,
  inputStart,
} from './text';

/**
 * Validates against the whole grammar: RFC 8259 in UTF-8. Reads no values, only finds where the bytes stop being
 * JSON. Each `after…` returns the position after its token, or 0 if there is none: then `badPlace` is the first byte
 * that can't continue it. The zero bytes after the input never continue a token, so no scan runs past the end.
 */

/** The first wrong byte; valid only after a returned 0. */
export let badPlace: usize = 0;

/**
 * The offset of the first byte that can't continue a JSON text: the length if the text is truncated, the first byte
 * of an ill-formed UTF-8 sequence, −1 for valid JSON. At most 64 levels, see `isWithinBounds`.
 */
export function firstBadByte(): i32 {
  const after = afterValue(afterSpace(inputStart), LEVELS_MAX, usize.MAX_VALUE);
  if (after == 0) return <i32>(badPlace - inputStart);
  const place = afterSpace(after);
  return place == inputEnd ? -1 : <i32>(place - inputStart);
}

/** Open levels are the bits of one number. */
const LEVELS_MAX: i32 = 64;

/**
 * The position after the value at `from`, with at most `levelsMax` levels (64 at most), in which no value begins
 * after `limit`.
 */
export function afterValue(from: usize, levelsMax: i32, limit: usize): usize {
  // The open levels as bits, innermost lowest: 1 for an object, 0 for an array.
  let objects: u64 = 0;
  let level: i32 = 0;
  let patience: i32 = 0;
  let place = from;
  while (place != 0) {
    // A value begins here.
    if (place > limit) return bad(place);
    const byte = <u32>load<u8>(place);
    if (byte == OPEN_OBJECT || byte == OPEN_ARRAY) {
      if (level == levelsMax) return bad(place);
      const isObject = byte == OPEN_OBJECT;
      objects = (objects << 1) | u64(isObject);
      level++;
      place = afterSpace(place + 1);
      if (load<u8>(place) != (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (isObject) place = afterKey(place);
        continue;
      }
    } else {
      place = afterScalar(place);
      if (place == 0) return 0;
    }
    // After a value, or before the bracket that closes an empty one.
    for (;;) {
      if (level == 0) return place;
      place = afterSpace(place);
      const next = <u32>load<u8>(place);
      const isObject = (objects & 1) != 0;
      if (next == COMMA) {
        place = afterSpace(place + 1);
        if (isObject) place = afterKey(place);
        else if (patience > 0) patience--;
        else {
          const start = place;
          place = afterSpace(afterNumbers(place));
          // If there are few, searching for them costs more than it saves.
          if (place - start < 16) patience = 16;
        }
        break;
      }
      if (next != (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) return bad(place);
      place++;
      level--;
      objects >>>= 1;
    }
  }
  return 0;
}

function bad(place: usize): usize {
  badPlace = place;
  return 0;
}

/** The position after `"key" :` and its white space. */
function afterKey(from: usize): usize {
  if (load<u8>(from) != QUOTE) return bad(from);
  let place = afterString(from + 1);
  if (place == 0) return 0;
  place = afterSpace(place);
  if (load<u8>(place) != COLON) return bad(place);
  return afterSpace(place + 1);
}

function afterScalar(place: usize): usize {
  switch (<u32>load<u8>(place)) {
    case QUOTE:
      return afterString(place + 1);
    case 0x74:
      return afterWord(place, 0x6575_7274, 4); // true
    case 0x66:
      return afterWord(place, 0x65_736c_6166, 5); // false
    case 0x6e:
      return afterWord(place, 0x6c6c_756e, 4); // null
  }
  return afterNumber(place);
}

/** `word` is its bytes, first one lowest. */
function afterWord(place: usize, word: u64, length: i32): usize {
  const mask = ((<u64>1) << (<u64>length << 3)) - 1;
  const differing = (load<u64>(place) ^ word) & mask;
  return differing == 0 ? place + <usize>length : bad(place + <usize>(ctz(differing) >> 3));
}

/** Section 6: no leading zeros, no bare point, no leading plus sign. */
export function afterNumber(from: usize): usize {
  let place = from;
  if (load<u8>(place) == MINUS) place++;
  if (load<u8>(place) == ZERO) place++;
  else {
    place = afterDigits(place);
    if (place == 0) return 0;
  }
  if (load<u8>(place) == DOT) {
    place = afterDigits(place + 1);
    if (place == 0) return 0;
  }
  if ((<u32>load<u8>(place) | 0x20) != 0x65) return place;
  place++;
  const sign = <u32>load<u8>(place);
  return afterDigits(sign == PLUS || sign == MINUS ? place + 1 : place);
}

/**
 * The position after all numbers and commas that follow here in their usual forms: up to 64 bytes at a time, without
 * a branch for each number, which no processor could predict. The numbers that it leaves are checked one by one.
 *
 *   -61.5,62,0,7.25e-3, 8,   commas        may be followed by one space
 *   1.....1..1.1........1.   starts        a minus or a digit, and a zero with no digit after it
 *   .1....1..1.1........1.   first digits
 *   ...............1......   letters e     at most one, after a digit; after it a digit, or a sign and a digit
 */
function afterNumbers(from: usize): usize {
  let place = from;
  for (;;) {
    const allCommas = whereEqual(place, COMMA);
    const allDigits = whereDigit(place);
    const allPoints = whereEqual(place, DOT);
    const allMinuses = whereEqual(place, MINUS);
    const allSpaces = whereEqual(place, SPACE);
    const allLetters = whereLetterE(place);
    const allPluses = whereEqual(place, PLUS);
    const others = ~(allCommas | allDigits | allPoints | allMinuses | allSpaces | allLetters | allPluses);
    // Considers everything up to the last comma before any other byte.
    const commas = allCommas & (others == 0 ? u64.MAX_VALUE : (others & -others) - 1);
    if (commas == 0) break;
    const last = 63 - clz(commas);
    const counting = u64.MAX_VALUE >>> (63 - last);
    const digits = allDigits & counting;
    const points = allPoints & counting;
    const minuses = allMinuses & counting;
    const spaces = allSpaces & counting;
    const letters = allLetters & counting;
    const signs = (minuses | allPluses) & counting & (letters << 1);
    const starts = (((commas << 1) & ~spaces) | (spaces << 1) | 1) & counting;
    const firstDigits = (starts & ~minuses) | ((starts & minuses) << 1);
    const breaks = commas | points | letters;
    // From each point or letter on, the carry runs through digits and a sign up to the next break.
    const afterPoints = (~breaks + (points << 1)) & breaks;
    const afterLetters = (~breaks + (letters << 1)) & breaks;
    const wrong =
      (spaces & ~(commas << 1)) |
      (minuses & ~(starts | signs)) |
      (allPluses & counting & ~signs) |
      (firstDigits & ~digits) |
      (((firstDigits & whereEqual(place, ZERO)) << 1) & digits) |
      (points & ~((digits << 1) & (digits >>> 1))) |
      (letters & ~((digits << 1) & ((digits | signs) >>> 1))) |
      (signs & ~(digits >>> 1)) |
      (afterPoints & points) |
      (afterLetters & (points | letters));
    if (wrong != 0) break;
    place += <usize>last + 1;
    if (load<u8>(place) == SPACE) place++;
  }
  return place;
}

function afterDigits(from: usize): usize {
  let place = from;
  while (<u32>load<u8>(place) - ZERO <= 9) place++;
  return place == from ? bad(place) : place;
}

/** Section 7; `from` is after the opening quote. */
export function afterString(from: usize): usize {
  let place = from;
  for (;;) {
    const bytes = v128.load(place);
    // Bytes beyond ASCII are negative.
    const special = i8x16.bitmask(
      v128.or(
        i8x16.lt_s(bytes, i8x16.splat(0x20)),
        v128.or(i8x16.eq(bytes, i8x16.splat(<i8>QUOTE)), i8x16.eq(bytes, i8x16.splat(<i8>BACKSLASH))),
      ),
    );
    if (special == 0) place += 16;
    else {
      place += <usize>ctz(special);
      if (load<u8>(place) == QUOTE) break;
      place = afterSpecial(place);
      if (place == 0) return 0;
    }
  }
  return place + 1;
}

/** The position after an escape, or after a character beyond ASCII. */
function afterSpecial(place: usize): usize {
  const byte = <u32>load<u8>(place);
  if (byte == BACKSLASH) return afterEscape(place + 1);
  const length: usize = byte < 0x20 ? 0 : utf8Length(place, byte);
  return length == 0 ? bad(place) : min(place + length, inputEnd);
}

/** `place` is after the backslash. */
function afterEscape(place: usize): usize {
  switch (<u32>load<u8>(place)) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return place + 1;
    case 0x75: // u
      for (let digit: usize = 1; digit <= 4; digit++) {
        const byte = <u32>load<u8>(place + digit);
        if (byte - ZERO > 9 && (byte | 0x20) - 0x61 > 5) return bad(place + digit);
      }
      return place + 5;
  }
  return bad(place);
}

/**
 * The length of the UTF-8 sequence at `place` (Unicode table 3-7), or 0 if it is ill-formed. A sequence cut short by
 * the end of the input counts as well-formed so far.
 */
function utf8Length(place: usize, first: u32): usize {
  if (first < 0xc2 || first > 0xf4) return 0;
  const length: usize = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (place + 1 >= inputEnd) return length;
  const second = <u32>load<u8>(place + 1);
  if (first == 0xe0 && second < 0xa0) return 0; // overlong
  if (first == 0xed && second > 0x9f) return 0; // surrogates
  if (first == 0xf0 && second < 0x90) return 0; // overlong
  if (first == 0xf4 && second > 0x8f) return 0; // beyond U+10FFFF
  for (let index: usize = 1; index < length; index++) {
    if (place + index < inputEnd && (load<u8>(place + index) & 0xc0) != 0x80) return 0;
  }
  return length;
}
