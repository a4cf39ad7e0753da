import { BACKSLASH, CLOSE_OBJECT, OPEN_OBJECT, QUOTE } from './text';

/**
 * Scans text in blocks of 64 bytes for brackets outside of strings, one bit per byte. The text need not be JSON:
 * outside of strings a backslash means nothing, inside it escapes the next byte.
 */

/** Bytes of a block. */
export const BLOCK: usize = 64;

/** In the current block: brackets that open and close something, and quotes that begin or end a string. */
export let opens: u64 = 0;
export let closes: u64 = 0;
export let quotes: u64 = 0;

let isInString: bool = false;
let wasInString: bool = false;
/** The first bit is set if the block before ended with an unescaped backslash. */
let escaped: u64 = 0;

/** Call before the first block; it starts outside of strings. */
export function startBlocks(): void {
  isInString = false;
  escaped = 0;
}

/** Scans the block at `place`, which must follow the previous one; bytes after the input are zero. */
export function lookAtBlock(place: usize): void {
  const allQuotes = whereEqual(place, QUOTE);
  const backslashes = whereEqual(place, BACKSLASH);
  wasInString = isInString;
  // Without backslashes, opening and closing quotes alternate.
  if ((backslashes | escaped) == 0) {
    quotes = allQuotes;
    isInString = wasInString != ((popcnt(allQuotes) & 1) != 0);
  } else quotes = withoutEscaped(allQuotes, backslashes);

  const brackets = whereEitherCase(place, OPEN_OBJECT);
  const otherBrackets = whereEitherCase(place, CLOSE_OBJECT);
  if ((brackets | otherBrackets) == 0) {
    opens = 0;
    closes = 0;
    return;
  }
  const outside = outsideOfStrings();
  opens = brackets & outside;
  closes = otherBrackets & outside;
}

/** The bytes of the current block outside of strings; some quotes are among them. */
export function outsideOfStrings(): u64 {
  const inside = quotes == 0 ? 0 : fromEachToNext(quotes);
  return wasInString ? inside : ~inside;
}

/** The quotes that begin or end a string; byte by byte, since a backslash counts only inside strings. */
function withoutEscaped(allQuotes: u64, backslashes: u64): u64 {
  let found: u64 = 0;
  let left = (allQuotes | backslashes) & ~escaped;
  escaped = 0;
  while (left != 0) {
    const bit = left & -left;
    left ^= bit;
    if ((allQuotes & bit) != 0) {
      found |= bit;
      isInString = !isInString;
    } else if (isInString) {
      const next = bit << 1;
      if (next == 0) escaped = 1;
      left &= ~next;
    }
  }
  return found;
}

/** Sets all bits from each odd set bit (the first, third, …) up to the next set bit. */
// @ts-ignore: decorator
@inline
function fromEachToNext(bits: u64): u64 {
  let spread = bits ^ (bits << 1);
  spread ^= spread << 2;
  spread ^= spread << 4;
  spread ^= spread << 8;
  spread ^= spread << 16;
  return spread ^ (spread << 32);
}

/** The digits of a block, one bit per byte. */
// @ts-ignore: decorator
@inline
export function whereDigit(block: usize): u64 {
  const zeros = i8x16.splat(0x30);
  const ten = i8x16.splat(10);
  return (
    <u64>i8x16.bitmask(i8x16.lt_u(i8x16.sub(v128.load(block), zeros), ten)) |
    ((<u64>i8x16.bitmask(i8x16.lt_u(i8x16.sub(v128.load(block, 16), zeros), ten))) << 16) |
    ((<u64>i8x16.bitmask(i8x16.lt_u(i8x16.sub(v128.load(block, 32), zeros), ten))) << 32) |
    ((<u64>i8x16.bitmask(i8x16.lt_u(i8x16.sub(v128.load(block, 48), zeros), ten))) << 48)
  );
}

/** The bytes of a block equal to `byte`, one bit per byte. */
// @ts-ignore: decorator
@inline
export function whereEqual(block: usize, byte: u32): u64 {
  const bytes = i8x16.splat(<i8>byte);
  return (
    <u64>i8x16.bitmask(i8x16.eq(v128.load(block), bytes)) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.load(block, 16), bytes))) << 16) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.load(block, 32), bytes))) << 32) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.load(block, 48), bytes))) << 48)
  );
}

/** The bytes of a block equal to `e` or `E`. */
// @ts-ignore: decorator
@inline
export function whereLetterE(block: usize): u64 {
  return whereEitherCase(block, 0x65);
}

/** The white space of JSON in a block. */
export function whereSpace(block: usize): u64 {
  return whereEqual(block, 0x20) | whereEqual(block, 0x0a) | whereEqual(block, 0x0d) | whereEqual(block, 0x09);
}

/** Like `whereEqual`, for two bytes that differ in one bit: a letter in both cases, or both kinds of brackets. */
// @ts-ignore: decorator
@inline
function whereEitherCase(block: usize, byte: u32): u64 {
  const bytes = i8x16.splat(<i8>byte);
  const either = i8x16.splat(0x20);
  return (
    <u64>i8x16.bitmask(i8x16.eq(v128.or(v128.load(block), either), bytes)) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.or(v128.load(block, 16), either), bytes))) << 16) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.or(v128.load(block, 32), either), bytes))) << 32) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.or(v128.load(block, 48), either), bytes))) << 48)
  );
}
