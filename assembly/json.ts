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
  behindSpace,
  inputEnd,
  inputStart,
} from './text';

/**
 * The whole grammar: RFC 8259 in UTF-8. Nothing is read here; it is found where the bytes stop being JSON. Each
 * `behind…` gives the place behind its token, or 0 where there is none: then `badPlace` is the first byte that can't
 * continue it. The zero bytes behind the input are such bytes everywhere, so that nothing runs over the end.
 */

/** The first byte that was wrong; it means something behind a 0 only. */
export let badPlace: usize = 0;

/**
 * The offset of the first byte that can't continue a JSON text: the length where the text is cut short, the first
 * byte of an ill-formed UTF-8 sequence, −1 where everything is well. At most 64 levels, see `isWithinBounds`.
 */
export function firstBadByte(): i32 {
  const behind = behindValue(behindSpace(inputStart), LEVELS_MAX, usize.MAX_VALUE);
  if (behind == 0) return <i32>(badPlace - inputStart);
  const place = behindSpace(behind);
  return place == inputEnd ? -1 : <i32>(place - inputStart);
}

/** Levels that are open are bits of one number. */
const LEVELS_MAX: i32 = 64;

/** Behind the value at `from`, of at most `levelsMax` levels (64 at most), in which no value begins behind `limit`. */
export function behindValue(from: usize, levelsMax: i32, limit: usize): usize {
  // The levels that are open as bits, the innermost lowest: 1 an object, 0 an array.
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
      place = behindSpace(place + 1);
      if (load<u8>(place) != (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (isObject) place = behindKey(place);
        continue;
      }
    } else {
      place = behindScalar(place);
      if (place == 0) return 0;
    }
    // Behind a value, or in front of the bracket that closes an empty one.
    for (;;) {
      if (level == 0) return place;
      place = behindSpace(place);
      const next = <u32>load<u8>(place);
      const isObject = (objects & 1) != 0;
      if (next == COMMA) {
        place = behindSpace(place + 1);
        if (isObject) place = behindKey(place);
        else if (patience > 0) patience--;
        else {
          const start = place;
          place = behindSpace(behindNumbers(place));
          // Where they are few, looking for them costs more than it saves.
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

/** Behind `"key" :` and the space around. */
function behindKey(from: usize): usize {
  if (load<u8>(from) != QUOTE) return bad(from);
  let place = behindString(from + 1);
  if (place == 0) return 0;
  place = behindSpace(place);
  if (load<u8>(place) != COLON) return bad(place);
  return behindSpace(place + 1);
}

function behindScalar(place: usize): usize {
  switch (<u32>load<u8>(place)) {
    case QUOTE:
      return behindString(place + 1);
    case 0x74:
      return behindWord(place, 0x6575_7274, 4); // true
    case 0x66:
      return behindWord(place, 0x65_736c_6166, 5); // false
    case 0x6e:
      return behindWord(place, 0x6c6c_756e, 4); // null
  }
  return behindNumber(place);
}

/** `word` is its bytes, the first one lowest. */
function behindWord(place: usize, word: u64, length: i32): usize {
  const mask = ((<u64>1) << (<u64>length << 3)) - 1;
  const differing = (load<u64>(place) ^ word) & mask;
  return differing == 0 ? place + <usize>length : bad(place + <usize>(ctz(differing) >> 3));
}

/** Section 6: no leading zeros, no bare point, no plus sign in front. */
export function behindNumber(from: usize): usize {
  let place = from;
  if (load<u8>(place) == MINUS) place++;
  if (load<u8>(place) == ZERO) place++;
  else {
    place = behindDigits(place);
    if (place == 0) return 0;
  }
  if (load<u8>(place) == DOT) {
    place = behindDigits(place + 1);
    if (place == 0) return 0;
  }
  if ((<u32>load<u8>(place) | 0x20) != 0x65) return place;
  place++;
  const sign = <u32>load<u8>(place);
  return behindDigits(sign == PLUS || sign == MINUS ? place + 1 : place);
}

/**
 * Behind as many numbers with their commas as follow here, where nothing is unusual about them: up to 64 bytes at a
 * time without a branch for each number, whose forms no processor can guess. What it leaves is looked at one by one.
 *
 *   -61.5,62,0,7.25e-3, 8,   commas        may be followed by one space
 *   1.....1..1.1........1.   starts        a minus or a digit, and a zero with no digit behind it
 *   .1....1..1.1........1.   first digits
 *   ...............1......   letters e     at most one, behind a digit; behind it a digit, or a sign and a digit
 */
function behindNumbers(from: usize): usize {
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
    // What counts goes up to the last comma in front of anything else.
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
    const behindPoints = (~breaks + (points << 1)) & breaks;
    const behindLetters = (~breaks + (letters << 1)) & breaks;
    const wrong =
      (spaces & ~(commas << 1)) |
      (minuses & ~(starts | signs)) |
      (allPluses & counting & ~signs) |
      (firstDigits & ~digits) |
      (((firstDigits & whereEqual(place, ZERO)) << 1) & digits) |
      (points & ~((digits << 1) & (digits >>> 1))) |
      (letters & ~((digits << 1) & ((digits | signs) >>> 1))) |
      (signs & ~(digits >>> 1)) |
      (behindPoints & points) |
      (behindLetters & (points | letters));
    if (wrong != 0) break;
    place += <usize>last + 1;
    if (load<u8>(place) == SPACE) place++;
  }
  return place;
}

function behindDigits(from: usize): usize {
  let place = from;
  while (<u32>load<u8>(place) - ZERO <= 9) place++;
  return place == from ? bad(place) : place;
}

/** Section 7; `from` is behind the quote that begins it. */
export function behindString(from: usize): usize {
  let place = from;
  for (;;) {
    const bytes = v128.load(place);
    // What is beyond ASCII is negative.
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
      place = behindSpecial(place);
      if (place == 0) return 0;
    }
  }
  return place + 1;
}

/** Behind an escape, or a character beyond ASCII. */
function behindSpecial(place: usize): usize {
  const byte = <u32>load<u8>(place);
  if (byte == BACKSLASH) return behindEscape(place + 1);
  const length: usize = byte < 0x20 ? 0 : utf8Length(place, byte);
  return length == 0 ? bad(place) : min(place + length, inputEnd);
}

/** `place` is behind the backslash. */
function behindEscape(place: usize): usize {
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
 * Bytes of the UTF-8 sequence at `place` (Unicode table 3-7), or 0 where it is ill-formed. A sequence that the end
 * of the input cuts short is well-formed so far.
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
