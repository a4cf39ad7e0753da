import { BLOCK, closes, lookAtBlock, opens, outsideOfStrings, startBlocks, whereEqual } from './blocks';
import { SERIES_ALIAS_LENGTH, measurementField, sessionField, targetField, topField } from './fields';
import { forgetKept, keepsFields, noteField } from './kept';
import { KEY, KEY_MAX, MISFITS, MISFITS_MAX, OUTLINE, SAMPLES, SERIES_ALIAS_INDEX, SERIES_INDEX } from './layout';
import { decodeNumber } from './number';
import { decodeArray } from './samples';
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  MINUS,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  ZERO,
  at,
  afterSpace,
  clear,
  hexDigit,
  inputStart,
  moveTo,
} from './text';

/**
 * Finds the known fields in a body that is valid JSON (`firstBadByte`) within the bounds of structure, so it checks
 * neither. Skips unknown fields and makes no values of them, so a body costs what its bytes cost.
 */

/** The kinds of objects, by the fields they may have. */
export const TOP: i32 = 0;
export const SESSION: i32 = 1;
export const TARGET: i32 = 2;
export const MEASUREMENT: i32 = 3;

/** Notes the whole body as the first element. */
export function outlineBody(): void {
  forgetOutline();
  const start = afterSpace(inputStart);
  note(0, start, afterValue(start));
}

/** Notes the fields of the object at `place`, the last one of duplicates; returns how many are unknown. */
export function outlineFields(place: usize, kind: i32): i32 {
  forgetOutline();
  const isKept = kind == TOP && keepsFields;
  if (isKept) forgetKept();
  let unknown: i32 = 0;
  let next = afterSpace(place + 1);
  // Each iteration starts at the quote of a key, and ends after a comma or at the bracket.
  while (load<u8>(next) == QUOTE) {
    const key = next + 1;
    const index = readField(kind, key);
    const keyEnd = afterKey - 1;
    const start = afterSpace(afterSpace(afterKey) + 1);
    const end = afterValue(start);
    if (index >= 0) note(index, start, end);
    else unknown++;
    if (isKept) noteField(key, keyEnd, start, end);
    next = afterSpace(end);
    if (load<u8>(next) == COMMA) next = afterSpace(next + 1);
  }
  return unknown;
}

/** Notes the elements of the array at `place`, up to `most`; returns their number. */
export function outlineElements(place: usize, most: i32): i32 {
  forgetOutline();
  let count: i32 = 0;
  let next = afterSpace(place + 1);
  while (count < most && load<u8>(next) != CLOSE_ARRAY) {
    const end = afterValue(next);
    note(count++, next, end);
    next = afterSpace(end);
    if (load<u8>(next) == COMMA) next = afterSpace(next + 1);
  }
  return count;
}

/** Clears up to `MISFITS`. */
function forgetOutline(): void {
  clear(OUTLINE, MISFITS - OUTLINE);
}

// @ts-ignore: decorator
@inline
function note(index: i32, start: usize, end: usize): void {
  const entry = OUTLINE + (<usize>index << 3);
  store<u32>(entry, <u32>start);
  store<u32>(entry, <u32>end, 4);
}

let afterKey: usize = 0;

/** The index of the key whose first letter is at `start`, or −1; `afterKey` is then after its closing quote. */
function readField(kind: i32, start: usize): i32 {
  let place = start;
  let byte = <u32>load<u8>(place);
  while (byte != QUOTE && byte != BACKSLASH && <i32>(place - start) <= KEY_MAX) byte = <u32>load<u8>(++place);
  if (byte == QUOTE) {
    afterKey = place + 1;
    return slotOf(kind, start, <i32>(place - start));
  }
  afterKey = afterString(start);
  const length = byte == BACKSLASH ? decodeKey(start) : -1;
  return length < 0 ? -1 : slotOf(kind, KEY, length);
}

function slotOf(kind: i32, key: usize, length: i32): i32 {
  if (kind == TOP) return topField(key, length);
  if (kind == TARGET) return targetField(key, length);
  if (kind == MEASUREMENT) return measurementField(key, length);
  const field = sessionField(key, length);
  const isAlias = field >= SERIES_INDEX && length == SERIES_ALIAS_LENGTH;
  return isAlias ? field - SERIES_INDEX + SERIES_ALIAS_INDEX : field;
}

/** Writes the key at `start` to `KEY` with escapes decoded; returns its length, or −1 if it can't be a known one. */
function decodeKey(start: usize): i32 {
  let place = start;
  let length: i32 = 0;
  for (; load<u8>(place) != QUOTE; length++) {
    if (length == KEY_MAX) return -1;
    let letter = <u32>load<u8>(place++);
    if (letter == BACKSLASH) {
      // Names have only letters, digits and underscores, so only this escape can occur in one.
      if (load<u8>(place) != 0x75) return -1; // u
      letter = (hexDigit(place + 1) << 12) | (hexDigit(place + 2) << 8) | (hexDigit(place + 3) << 4) | hexDigit(place + 4);
      place += 5;
    }
    if (letter >= 0x80) return -1;
    store<u8>(KEY + <usize>length, <u8>letter);
  }
  return length;
}

function afterValue(start: usize): usize {
  const byte = <u32>load<u8>(start);
  if (byte == QUOTE) return afterString(start + 1);
  if (byte == OPEN_OBJECT || byte == OPEN_ARRAY) return afterNested(start);
  let place = start;
  while (!endsScalar(<u32>load<u8>(place))) place++;
  return place;
}

// @ts-ignore: decorator
@inline
function endsScalar(byte: u32): bool {
  return byte <= 0x20 || byte == COMMA || byte == CLOSE_ARRAY || byte == CLOSE_OBJECT;
}

/** The position after the string whose first letter is at `start`. */
function afterString(start: usize): usize {
  let place = start;
  for (;;) {
    const bytes = v128.load(place);
    const ends = i8x16.bitmask(
      v128.or(i8x16.eq(bytes, i8x16.splat(<i8>QUOTE)), i8x16.eq(bytes, i8x16.splat(<i8>BACKSLASH))),
    );
    if (ends == 0) place += 16;
    else {
      place += <usize>ctz(ends);
      if (load<u8>(place) == QUOTE) break;
      place += 2;
    }
  }
  return place + 1;
}

/** The position after the object or array at `start`: where as many brackets have closed as have opened. */
function afterNested(start: usize): usize {
  let level: i32 = 0;
  let end: usize = 0;
  startBlocks();
  for (let block = start; end == 0; block += BLOCK) {
    lookAtBlock(block);
    const closed = <i32>popcnt(closes);
    if (level > closed) level += <i32>popcnt(opens) - closed;
    else {
      for (let left = opens | closes; left != 0 && end == 0; left &= left - 1) {
        level += (opens & left & -left) != 0 ? 1 : -1;
        if (level == 0) end = block + <usize>ctz(left) + 1;
      }
    }
  }
  return end;
}

/** The number at `place`, with the same result as JSON.parse. */
export function numberAt(place: usize): f64 {
  moveTo(place);
  return decodeNumber();
}

/**
 * Decodes the array at `place` to `SAMPLES`; returns its length, or −1 if it exceeds `samplesMax`. Elements that are
 * not finite numbers are noted in `MISFITS`.
 */
export function decodeSeries(place: usize, samplesMax: i32): i32 {
  store<i32>(MISFITS, 0);
  moveTo(place);
  const length = decodeArray(samplesMax);
  if (length >= 0) return length;
  const count = countElements(place);
  if (count > samplesMax) return -1;
  decodeElements(place);
  return count;
}

/** Elements of a non-empty array: one more than its own commas. */
function countElements(place: usize): i32 {
  let level: i32 = 0;
  let count: i32 = 1;
  startBlocks();
  for (let block = place; ; block += BLOCK) {
    lookAtBlock(block);
    let commas = whereEqual(block, COMMA) & outsideOfStrings();
    for (let left = opens | closes; left != 0; left &= left - 1) {
      const bit = left & -left;
      const before = bit - 1;
      if (level == 1) count += <i32>popcnt(commas & before);
      commas &= ~before;
      level += (opens & bit) != 0 ? 1 : -1;
      if (level == 0) return count;
    }
    if (level == 1) count += <i32>popcnt(commas);
  }
  return count;
}

/** Stops after as many misfits as are reported. */
function decodeElements(place: usize): void {
  let next = afterSpace(place + 1);
  for (let index: i32 = 0; ; index++) {
    const first = <u32>load<u8>(next);
    if (first == MINUS || first - ZERO <= 9) {
      const value = numberAt(next);
      if (abs(value) == Infinity) noteMisfit(index);
      store<f32>(SAMPLES + (<usize>index << 2), <f32>value);
      next = at;
    } else {
      noteMisfit(-index - 1);
      next = afterValue(next);
    }
    next = afterSpace(next);
    if (load<u8>(next) == CLOSE_ARRAY || load<i32>(MISFITS) == MISFITS_MAX) return;
    next = afterSpace(next + 1);
  }
}

/** `misfit` is the index of a number that is not finite, or −1 − index of an element that is not a number. */
function noteMisfit(misfit: i32): void {
  const count = load<i32>(MISFITS); // below MISFITS_MAX, see `decodeElements`
  store<i32>(MISFITS, count + 1);
  store<i32>(MISFITS + 4 + (<usize>count << 2), misfit);
}
