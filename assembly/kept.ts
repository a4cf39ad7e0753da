import { BACKSLASH, hexDigit } from './text';

/**
 * Fields of the body that the host has asked for by name, to be handed on. The host's table has an entry of
 * four u32 for each: where its name begins and ends, and, noted here, where its value does; 0 where there is none.
 */

let table: usize = 0;
let tableEnd: usize = 0;

/** The service asks for none: no field costs it more than this look. */
export let keepsFields: bool = false;

export function keepFields(entries: usize, count: i32): void {
  table = entries;
  tableEnd = entries + (<usize>count << 4);
  keepsFields = count > 0;
}

export function forgetKept(): void {
  for (let entry = table; entry < tableEnd; entry += 16) store<u64>(entry, 0, 8);
}

/** Notes a field whose name was asked for; of two of one name the last. */
export function noteField(key: usize, keyEnd: usize, value: usize, valueEnd: usize): void {
  for (let entry = table; entry < tableEnd; entry += 16) {
    if (!isNamed(key, keyEnd, load<u32>(entry), load<u32>(entry, 4))) continue;
    store<u32>(entry, <u32>value, 8);
    store<u32>(entry, <u32>valueEnd, 12);
  }
}

/** Whether a key, without its quotes but with its escapes, means the name. */
function isNamed(key: usize, keyEnd: usize, name: usize, nameEnd: usize): bool {
  let place = key;
  let expected = name;
  while (place < keyEnd && expected < nameEnd) {
    let bytes = <u32>load<u8>(place);
    if (bytes == BACKSLASH) {
      bytes = utf8Of(codePointAt(place));
      place = behindEscape;
    } else place++;
    do {
      if (expected == nameEnd || load<u8>(expected) != <u8>bytes) return false;
      expected++;
      bytes >>= 8;
    } while (bytes != 0);
  }
  return place == keyEnd && expected == nameEnd;
}

let behindEscape: usize = 0;

/** What the escape at `place` stands for, both halves of a pair together. */
function codePointAt(place: usize): u32 {
  const letter = <u32>load<u8>(place, 1);
  behindEscape = place + 2;
  if (letter != 0x75) return plainEscape(letter); // u
  const unit = unitAt(place);
  behindEscape = place + 6;
  if (unit >>> 10 != 0xd800 >>> 10 || load<u16>(behindEscape) != 0x755c) return unit; // \u
  const low = unitAt(behindEscape);
  if (low >>> 10 != 0xdc00 >>> 10) return unit;
  behindEscape += 6;
  return 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
}

function unitAt(place: usize): u32 {
  return (hexDigit(place + 2) << 12) | (hexDigit(place + 3) << 8) | (hexDigit(place + 4) << 4) | hexDigit(place + 5);
}

function plainEscape(letter: u32): u32 {
  switch (letter) {
    case 0x62: // b
      return 0x08;
    case 0x66: // f
      return 0x0c;
    case 0x6e: // n
      return 0x0a;
    case 0x72: // r
      return 0x0d;
    case 0x74: // t
      return 0x09;
  }
  return letter;
}

/** The bytes of a character, the first one lowest. */
function utf8Of(point: u32): u32 {
  if (point < 0x80) return point;
  const last = 0x80 | (point & 0x3f);
  if (point < 0x800) return 0xc0 | (point >> 6) | (last << 8);
  const third = 0x80 | ((point >> 6) & 0x3f);
  if (point < 0x10000) return 0xe0 | (point >> 12) | (third << 8) | (last << 16);
  return 0xf0 | (point >> 18) | ((0x80 | ((point >> 12) & 0x3f)) << 8) | (third << 16) | (last << 24);
}
