import { BASE64, CRC_TABLES, HISTORY_BYTES } from './layout';

/** The text of a history: a version, then base64url without padding; the decoded bytes end with a CRC-32. */

const TEXT_MAX: usize = 2_048;
/** "acu1", lowest byte first, and a dot. */
const VERSION: u32 = 0x31756361;
const VERSION_END: u32 = 0x2e;
const VERSION_LENGTH: usize = 5;
const CRC_LENGTH: usize = 4;
/** Bits that no base64url character decodes to. */
const INVALID: u32 = 0xc0;
const POLYNOMIAL: u32 = 0xedb8_8320;

export function fillHistoryTables(): void {
  memory.fill(BASE64, 0xff, 256);
  for (let value: usize = 0; value < 64; value++) store<u8>(BASE64 + characterOf(value), <u8>value);
  for (let byte: usize = 0; byte < 256; byte++) {
    let crc = <u32>byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
    store<u32>(CRC_TABLES + (byte << 2), crc);
  }
  // Each table is for a byte followed by one more zero byte than in the table before.
  for (let entry: usize = 256; entry < 8 * 256; entry++) {
    const before = load<u32>(CRC_TABLES + ((entry - 256) << 2));
    store<u32>(CRC_TABLES + (entry << 2), (before >>> 8) ^ tableAt(0, before));
  }
}

function characterOf(value: usize): usize {
  if (value < 26) return 0x41 + value; // A
  if (value < 52) return 0x61 + value - 26; // a
  if (value < 62) return 0x30 + value - 52; // 0
  return value == 62 ? 0x2d : 0x5f; // -, _
}

/**
 * Decodes the text from `start` to `end` to `HISTORY_BYTES`; returns where its bytes end there, or 0 if it is
 * invalid.
 */
export function decodeText(start: usize, end: usize): usize {
  if (end - start > TEXT_MAX || end - start < VERSION_LENGTH) return 0;
  if (load<u32>(start) != VERSION || <u32>load<u8>(start, 4) != VERSION_END) return 0;
  const after = decodeBase64(start + VERSION_LENGTH, end);
  if (after < HISTORY_BYTES + CRC_LENGTH) return 0;
  const bytesEnd = after - CRC_LENGTH;
  return load<u32>(bytesEnd) == crcOf(HISTORY_BYTES, bytesEnd) ? bytesEnd : 0;
}

/** Returns where the decoded bytes end, or 0 for an invalid character, or unused bits in the last one. */
function decodeBase64(start: usize, end: usize): usize {
  let into = HISTORY_BYTES;
  let from = start;
  let seen: u32 = 0;
  let valid = i8x16.splat(-1);
  for (; from + 16 <= end; from += 16, into += 12) {
    const characters = v128.load(from);
    const upper = isBetween(characters, 0x41, 0x5a);
    const lower = isBetween(characters, 0x61, 0x7a);
    const digit = isBetween(characters, 0x30, 0x39);
    const minus = i8x16.eq(characters, i8x16.splat(0x2d));
    const low = i8x16.eq(characters, i8x16.splat(0x5f));
    valid = v128.and(valid, v128.or(v128.or(v128.or(upper, lower), v128.or(digit, minus)), low));
    // From a character to its value.
    const shift = v128.or(
      v128.or(v128.and(upper, i8x16.splat(-65)), v128.and(lower, i8x16.splat(-71))),
      v128.or(v128.or(v128.and(digit, i8x16.splat(4)), v128.and(minus, i8x16.splat(17))), v128.and(low, i8x16.splat(-32))),
    );
    v128.store(into, packed(i8x16.add(characters, shift)));
  }
  if (!i8x16.all_true(valid)) return 0;
  for (; from + 4 <= end; from += 4, into += 3) {
    const one = valueAt(from);
    const two = valueAt(from + 1);
    const three = valueAt(from + 2);
    const four = valueAt(from + 3);
    seen |= one | two | three | four;
    store<u32>(into, bswap<u32>((one << 26) | (two << 20) | (three << 14) | (four << 8)));
  }
  const left = end - from;
  if (left == 1) return 0;
  if (left > 1) {
    const one = valueAt(from);
    const two = valueAt(from + 1);
    const three = left == 3 ? valueAt(from + 2) : 0;
    seen |= one | two | three;
    if ((left == 2 ? two & 15 : three & 3) != 0) return 0;
    store<u32>(into, bswap<u32>((one << 26) | (two << 20) | (three << 14)));
    into += left - 1;
  }
  return seen & INVALID ? 0 : into;
}

// @ts-ignore: decorator
@inline
function isBetween(characters: v128, first: i8, last: i8): v128 {
  return v128.and(i8x16.ge_s(characters, i8x16.splat(first)), i8x16.le_s(characters, i8x16.splat(last)));
}

/** The twelve bytes that sixteen six-bit values encode, and four unused ones. */
// @ts-ignore: decorator
@inline
function packed(values: v128): v128 {
  // Each 32 bits hold a, b, c, d, with a in the lowest byte: makes a·64 + b and c·64 + d, then 24 bits of all.
  const even = v128.and(values, i16x8.splat(0xff));
  const pairs = v128.or(i16x8.shl(even, 6), i16x8.shr_u(values, 8));
  const all = v128.or(i32x4.shl(v128.and(pairs, i32x4.splat(0xffff)), 12), i32x4.shr_u(pairs, 16));
  return v128.swizzle(all, i8x16(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
}

// @ts-ignore: decorator
@inline
function valueAt(place: usize): u32 {
  return <u32>load<u8>(BASE64 + <usize>load<u8>(place));
}

function crcOf(start: usize, end: usize): u32 {
  let crc: u32 = 0xffff_ffff;
  let place = start;
  for (; place + 8 <= end; place += 8) {
    const low = load<u32>(place) ^ crc;
    const high = load<u32>(place, 4);
    crc =
      tableAt(7, low) ^ tableAt(6, low >>> 8) ^ tableAt(5, low >>> 16) ^ tableAt(4, low >>> 24) ^
      tableAt(3, high) ^ tableAt(2, high >>> 8) ^ tableAt(1, high >>> 16) ^ tableAt(0, high >>> 24);
  }
  for (; place < end; place++) crc = (crc >>> 8) ^ tableAt(0, crc ^ <u32>load<u8>(place));
  return ~crc;
}

/** Looks up the table for a byte followed by that many bytes. */
// @ts-ignore: decorator
@inline
function tableAt(after: usize, byte: u32): u32 {
  return load<u32>(CRC_TABLES + (((after << 8) | (<usize>byte & 255)) << 2));
}
