import { BACKSLASH, hexDigit } from './text';

/**
 * Fields of the body that the host has requested by name, to pass on. The host's table has an entry of four u32 for
 * each: start and end of its name, and, filled in here, start and end of its value; 0 if absent.
 */

let table: usize = 0;
let tableEnd: usize = 0;

/** The service requests none, so a field costs it only this check. */
export let keepsFields: bool = false;

export function keepFields(entries: usize, count: i32): void {
  table = entries;
  tableEnd = entries + (<usize>count << 4);
  keepsFields = count > 0;
}

export function forgetKept(): void {
  for (let entry = table; entry < tableEnd; entry += 16) store<u64>(entry, 0, 8);
}

/** Notes a field whose name was requested; if it occurs twice, the last one counts. */
export function noteField(key: usize, keyEnd: usize, value: usize, valueEnd: usize): void {
  for (let entry = table; entry < tableEnd; entry += 16) {
    if (!isNamed(key, keyEnd, load<u32>(entry), load<u32>(entry, 4))) continue;
    store<u32>(entry, <u32>value, 8);
    store<u32>(entry, <u32>valueEnd, 12);
  }
}

/** Whether a key, without its quotes but with its escapes, equals the name. */
function isNamed(key: usize, keyEnd: usize, name: usize, nameEnd: usize): bool {
  let place = key;
  let expected = name;
  while (place < keyEnd && expected < nameEnd) {
    let bytes = <u32>load<u8>(place);
    if (bytes == BACKSLASH) {
      bytes = utf8Of(codePointAt(place));
      place = afterEscape;
    } else place++;
    do {
      if (expected == nameEnd || load<u8>(expected) != <u8>bytes) return false;
      expected++;
      bytes >>= 8;
    } while (bytes != 0);
  }
  return place == keyEnd && expected == nameEnd;
}

let afterEscape: usize = 0;

/** The code point of the escape at `place`, joining surrogate pairs. */
function codePointAt(place: usize): u32 {
  const letter = <u32>load<u8>(place, 1);
  afterEscape = place + 2;
  if (letter != 0x75) return plainEscape(letter); // u
  const unit = unitAt(place);
  afterEscape = place + 6;
  if (unit >>> 10 != 0xd800 >>> 10 || load<u16>(afterEscape) != 0x755c) return unit; // \u
  const low = unitAt(afterEscape);
  if (low >>> 10 != 0xdc00 >>> 10) return unit;
  afterEscape += 6;
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

/** The UTF-8 bytes of a code point, first one lowest. */
function utf8Of(point: u32): u32 {
  if (point < 0x80) return point;
  const last = 0x80 | (point & 0x3f);
  if (point < 0x800) return 0xc0 | (point >> 6) | (last << 8);
  const third = 0x80 | ((point >> 6) & 0x3f);
  if (point < 0x10000) return 0xe0 | (point >> 12) | (third << 8) | (last << 16);
  return 0xf0 | (point >> 18) | ((0x80 | ((point >> 12) & 0x3f)) << 8) | (third << 16) | (last << 24);
}
