import { INPUT_PADDING, SESSIONS_MAX, SUMMARISED, TEXTS_LENGTH } from './layout';

/**
 * The bytes of the current request, and how far they are read. Zero bytes follow the input, and no token contains
 * one, so scans of a token need no check for the end.
 */

export const QUOTE: u32 = 0x22;
export const SPACE: u32 = 0x20;
export const PLUS: u32 = 0x2b;
export const COMMA: u32 = 0x2c;
export const MINUS: u32 = 0x2d;
export const DOT: u32 = 0x2e;
export const ZERO: u32 = 0x30;
export const COLON: u32 = 0x3a;
export const OPEN_ARRAY: u32 = 0x5b;
export const BACKSLASH: u32 = 0x5c;
export const CLOSE_ARRAY: u32 = 0x5d;
export const OPEN_OBJECT: u32 = 0x7b;
export const CLOSE_OBJECT: u32 = 0x7d;

/** The next byte to read; only this file advances it. */
export let at: usize = 0;
export let inputStart: usize = 0;
/** Where the zero bytes begin. */
export let inputEnd: usize = 0;

export function openText(input: usize, length: i32): void {
  at = input;
  inputStart = input;
  inputEnd = input + <usize>length;
  clear(inputEnd, INPUT_PADDING);
  clear(SUMMARISED, 2 * SESSIONS_MAX * 4 * 4 + <usize>TEXTS_LENGTH * 8); // LENGTHS and TEXTS follow it
}

/** Sets a multiple of 16 bytes to zero; too few for a call of the runtime to pay off. */
export function clear(from: usize, bytes: usize): void {
  for (let place = from; place < from + bytes; place += 16) v128.store(place, i32x4.splat(0));
}

// @ts-ignore: decorator
@inline
export function moveTo(place: usize): void {
  at = place;
}

// @ts-ignore: decorator
@inline
export function take(byte: u32): bool {
  if (<u32>load<u8>(at) != byte) return false;
  at++;
  return true;
}

export function hexDigit(place: usize): u32 {
  const byte = <u32>load<u8>(place);
  return byte <= 0x39 ? byte - ZERO : (byte | 0x20) - 0x57;
}

export function takeNull(): bool {
  if (load<u32>(at) != 0x6c6c_756e) return false; // "null"
  at += 4;
  return true;
}

// @ts-ignore: decorator
@inline
export function afterSpace(from: usize): usize {
  let place = from;
  const near = from + NEAR_SPACE;
  let byte = <u32>load<u8>(place);
  while (byte <= 0x20 && (byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09)) {
    if (place == near) return afterLongSpace(place);
    byte = <u32>load<u8>(++place);
  }
  return place;
}

/** More white space than an indented document has before a value. */
const NEAR_SPACE: usize = 64;

/** Like `afterSpace`, 16 bytes at a time. */
function afterLongSpace(from: usize): usize {
  let place = from;
  let others = 0;
  while (others == 0) {
    const bytes = v128.load(place);
    const isSpace = v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(0x20)), i8x16.eq(bytes, i8x16.splat(0x0a))),
      v128.or(i8x16.eq(bytes, i8x16.splat(0x0d)), i8x16.eq(bytes, i8x16.splat(0x09))),
    );
    others = ~i8x16.bitmask(isSpace) & 0xffff;
    if (others == 0) place += 16;
  }
  return place + <usize>ctz(others);
}

// @ts-ignore: decorator
@inline
export function skipSpace(): void {
  at = afterSpace(at);
}

/** Moves after the closing quote of a string; false for escapes, control characters and bytes beyond ASCII. */
export function skipString(): bool {
  let others: i32 = 0;
  for (let place = at; others == 0; place += 16) {
    const bytes = v128.load(place);
    const isOther = v128.or(i8x16.lt_s(bytes, i8x16.splat(0x20)), i8x16.eq(bytes, i8x16.splat(<i8>BACKSLASH)));
    others = i8x16.bitmask(isOther); // bytes beyond ASCII are negative
    const quotes = i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(<i8>QUOTE)));
    if (quotes != 0) {
      at = place + <usize>ctz(quotes) + 1;
      return (others & (quotes ^ (quotes - 1))) == 0;
    }
  }
  return false;
}
