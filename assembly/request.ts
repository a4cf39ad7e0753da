import {
  AGE,
  AWAKE,
  DEEP,
  DEEP_SHARE,
  HEIGHT,
  HR_DAY,
  HR_NIGHT,
  LIGHT,
  LIGHT_SHARE,
  POWERS_OF_TEN,
  RECORDS,
  RECORD_LENGTH,
  REM,
  REM_SHARE,
  RR_DAY,
  RR_NIGHT,
  SAMPLES,
  SCALARS,
  SESSIONS_MAX,
  SEX,
  SLEEP_TIME,
  SUMMARY_LENGTH,
  TARGETS,
  TARGET_LENGTH,
  WEIGHT,
} from './layout';
import { summarise } from './series';

/**
 * Reads a request of the contract's plain form: known fields, no escapes, ASCII, numbers without exponent and of
 * at most 15 digits, no field twice, every value in range. Whatever is not plainly that is refused here without a
 * reason, and the host reads it again with JSON.parse and the full schema: this reader only ever has to be right
 * about yes.
 *
 * Zero bytes follow the input, which no token accepts, so no scan looks where it ends.
 */

const QUOTE: u32 = 0x22;
const SPACE: u32 = 0x20;
const COMMA: u32 = 0x2c;
const MINUS: u32 = 0x2d;
const DOT: u32 = 0x2e;
const ZERO: u32 = 0x30;
const COLON: u32 = 0x3a;
const OPEN_ARRAY: u32 = 0x5b;
const BACKSLASH: u32 = 0x5c;
const CLOSE_ARRAY: u32 = 0x5d;
const OPEN_OBJECT: u32 = 0x7b;
const CLOSE_OBJECT: u32 = 0x7d;

/** A mantissa of so many digits is exact in an f64, and so is the power of ten below it. */
const DIGITS_MAX: usize = 15;

let at: usize = 0;
let daySamplesMax: i32 = 0;
let nightSamplesMax: i32 = 0;

/** Every text that `same` compares with. */
const NAMES: StaticArray<string> = [
  'current_session',
  'past_sessions',
  'past_targets',
  'past_target',
  'age',
  'sex',
  'HR_night',
  'RR_night',
  'HR_day_1h',
  'RR_day_1h',
  'height_cm',
  'weight_kg',
  'remPercentage',
  'deepPercentage',
  'remSleepSeconds',
  'lightPercentage',
  'sleepTimeSeconds',
  'deepSleepSeconds',
  'lightSleepSeconds',
  'awakeSleepSeconds',
  'memory',
  'stress',
  'C_SCORE',
  'valence',
  'arousal',
  'attention',
  'reasoning',
  '"High"',
  '"Low"',
  'true',
  'null',
  'false',
];

/**
 * The compiler lays a literal down once, in UTF-16. Written over by its own ASCII form, it can be compared with a
 * body eight bytes at a time. A name missing from the list is never recognised: such a body takes the exact path.
 */
function narrowNames(): void {
  for (let index = 0; index < NAMES.length; index++) {
    const name = unchecked(NAMES[index]);
    const text = changetype<usize>(name);
    for (let at: usize = 0; at < <usize>name.length; at++) store<u8>(text + at, load<u8>(text + (at << 1)));
  }
}

/** Fills the table that the decoder divides by, and prepares the names; once for each instance. */
export function initialise(dayMax: i32, nightMax: i32): void {
  assert(__data_end <= RECORDS);
  narrowNames();
  daySamplesMax = dayMax;
  nightSamplesMax = nightMax;
  let power: f64 = 1;
  for (let exponent: usize = 0; exponent < 16; exponent++) {
    store<f64>(POWERS_OF_TEN + (exponent << 3), power);
    power *= 10;
  }
}

/** The number of past sessions of the request at `input`, or −1 where the exact path must look. */
export function read(input: usize, length: i32): i32 {
  at = input;
  let hasCurrent = false;
  let sessions: i32 = -1;
  let targets: i32 = -1;
  skipSpace();
  if (!take(OPEN_OBJECT)) return -1;
  do {
    const key = readKey();
    if (key == 0) return -1;
    if (isKey(key, 15, 'current_session')) {
      if (hasCurrent || !readSession(RECORDS)) return -1;
      hasCurrent = true;
    } else if (isKey(key, 13, 'past_sessions')) {
      if (sessions >= 0) return -1;
      sessions = readSessions();
      if (sessions < 0) return -1;
    } else if (isKey(key, 12, 'past_targets') || isKey(key, 11, 'past_target')) {
      // An alias beside the proper name is refused, by the exact path.
      if (targets >= 0) return -1;
      targets = readTargets();
      if (targets < 0) return -1;
    } else if (!skipScalar()) return -1;
    skipSpace();
  } while (take(COMMA));
  if (!take(CLOSE_OBJECT) || !hasCurrent) return -1;
  skipSpace();
  if (at != input + length) return -1;
  if (max(sessions, 0) != max(targets, 0)) return -1;
  return max(sessions, 0);
}

function readSessions(): i32 {
  if (takeNull()) return 0;
  if (!take(OPEN_ARRAY)) return -1;
  skipSpace();
  if (take(CLOSE_ARRAY)) return 0;
  let count: i32 = 0;
  do {
    if (count == SESSIONS_MAX - 1) return -1;
    count++;
    skipSpace();
    if (!readSession(RECORDS + <usize>(count * RECORD_LENGTH * 8))) return -1;
    skipSpace();
  } while (take(COMMA));
  return take(CLOSE_ARRAY) ? count : -1;
}

function readTargets(): i32 {
  if (takeNull()) return 0;
  if (!take(OPEN_ARRAY)) return -1;
  skipSpace();
  if (take(CLOSE_ARRAY)) return 0;
  let count: i32 = 0;
  do {
    if (count == SESSIONS_MAX - 1) return -1;
    skipSpace();
    if (!readTarget(TARGETS + <usize>(count * TARGET_LENGTH * 8))) return -1;
    count++;
    skipSpace();
  } while (take(COMMA));
  return take(CLOSE_ARRAY) ? count : -1;
}

/** Fields of a session as bits, the scalars first: a field met twice goes to the exact path. */
const SERIES_BIT: i32 = 16;

function readSession(record: usize): bool {
  for (let scalar: usize = 0; scalar < <usize>SCALARS; scalar++) store<f64>(record + (scalar << 3), NaN);
  for (let series: usize = 0; series < 4; series++) {
    store<f64>(summaryAt(record, <i32>series), 0); // COUNT
    store<f64>(summaryAt(record, <i32>series) + 8, 0); // IMPLAUSIBLE
  }
  if (!take(OPEN_OBJECT)) return false;
  skipSpace();
  if (take(CLOSE_OBJECT)) return true;
  let seen: u32 = 0;
  do {
    const key = readKey();
    if (key == 0) return false;
    const field = sessionField(key);
    if (field < 0) {
      if (!skipScalar()) return false;
    } else {
      if ((seen >>> field) & 1) return false;
      seen |= 1 << field;
      if (!readField(record, field)) return false;
    }
    skipSpace();
  } while (take(COMMA));
  return take(CLOSE_OBJECT);
}

/** The field whose name lies at `key` (its length is `at` of the closing quote), or −1. */
function sessionField(key: usize): i32 {
  const length = keyLength;
  switch (length) {
    case 3:
      if (same(key, 'age', 3)) return AGE;
      if (same(key, 'sex', 3)) return SEX;
      return -1;
    case 8:
      if (same(key, 'HR_night', 8)) return SERIES_BIT + HR_NIGHT;
      if (same(key, 'RR_night', 8)) return SERIES_BIT + RR_NIGHT;
      return -1;
    case 9:
      if (same(key, 'HR_day_1h', 9)) return SERIES_BIT + HR_DAY;
      if (same(key, 'RR_day_1h', 9)) return SERIES_BIT + RR_DAY;
      if (same(key, 'height_cm', 9)) return HEIGHT;
      if (same(key, 'weight_kg', 9)) return WEIGHT;
      return -1;
    case 13:
      return same(key, 'remPercentage', 13) ? REM_SHARE : -1;
    case 14:
      return same(key, 'deepPercentage', 14) ? DEEP_SHARE : -1;
    case 15:
      if (same(key, 'remSleepSeconds', 15)) return REM;
      if (same(key, 'lightPercentage', 15)) return LIGHT_SHARE;
      return -1;
    case 16:
      if (same(key, 'sleepTimeSeconds', 16)) return SLEEP_TIME;
      if (same(key, 'deepSleepSeconds', 16)) return DEEP;
      return -1;
    case 17:
      if (same(key, 'lightSleepSeconds', 17)) return LIGHT;
      if (same(key, 'awakeSleepSeconds', 17)) return AWAKE;
      return -1;
  }
  return -1;
}

function readField(record: usize, field: i32): bool {
  if (takeNull()) return true;
  if (field >= SERIES_BIT) {
    const series = field - SERIES_BIT;
    const isHeart = series == HR_DAY || series == HR_NIGHT;
    const isDay = series == HR_DAY || series == RR_DAY;
    const length = decodeArray(isDay ? daySamplesMax : nightSamplesMax);
    if (length < 0) return false;
    summarise(length, isHeart, summaryAt(record, series));
    return true;
  }
  if (field == SEX) return readSex(record);
  const value = decodeNumber();
  if (!isInRange(field, value)) return false;
  store<f64>(record + (<usize>field << 3), value);
  return true;
}

/** The bounds of the contract; NaN, which the decoder gives for what it does not take, is in no range. */
function isInRange(field: i32, value: f64): bool {
  if (field <= AWAKE) return value >= 0 && value <= 172_800 && floor(value) == value;
  if (field <= LIGHT_SHARE) return value >= 0 && value <= 100;
  if (field == AGE) return value >= 0 && value <= 130;
  if (field == HEIGHT) return value >= 30 && value <= 272;
  return value >= 1 && value <= 650;
}

function readSex(record: usize): bool {
  if (load<u8>(at) != QUOTE || load<u8>(at + 2) != QUOTE) return false;
  const letter = load<u8>(at + 1);
  if (letter != 0x4d && letter != 0x46) return false; // M, F
  store<f64>(record + (<usize>SEX << 3), letter == 0x4d ? 1 : -1);
  at += 3;
  return true;
}

function readTarget(target: usize): bool {
  if (!take(OPEN_OBJECT)) return false;
  let seen: u32 = 0;
  do {
    const key = readKey();
    if (key == 0) return false;
    const field = targetField(key);
    if (field < 0) {
      if (!skipScalar()) return false;
    } else {
      if ((seen >>> field) & 1) return false;
      seen |= 1 << field;
      const value = field < 5 ? decodeNumber() : readLabel();
      if (!(value >= (field < 5 ? 0 : -1) && value <= 100)) return false;
      store<f64>(target + (<usize>field << 3), value);
    }
    skipSpace();
  } while (take(COMMA));
  return take(CLOSE_OBJECT) && seen == 0x7f;
}

function targetField(key: usize): i32 {
  switch (keyLength) {
    case 6:
      if (same(key, 'memory', 6)) return 2;
      if (same(key, 'stress', 6)) return 4;
      return -1;
    case 7:
      if (same(key, 'C_SCORE', 7)) return 0;
      if (same(key, 'valence', 7)) return 5;
      if (same(key, 'arousal', 7)) return 6;
      return -1;
    case 9:
      if (same(key, 'attention', 9)) return 1;
      if (same(key, 'reasoning', 9)) return 3;
      return -1;
  }
  return -1;
}

/** 1 for "High", −1 for "Low", else NaN. */
function readLabel(): f64 {
  if (same(at, '"High"', 6)) {
    at += 6;
    return 1;
  }
  if (same(at, '"Low"', 5)) {
    at += 5;
    return -1;
  }
  return NaN;
}

let keyLength: i32 = 0;

/** Reads `"key":` and the space around; returns where the key begins, or 0. Sets `keyLength`. */
function readKey(): usize {
  skipSpace();
  if (!take(QUOTE)) return 0;
  const start = at;
  if (!skipString()) return 0;
  keyLength = <i32>(at - 1 - start);
  skipSpace();
  if (!take(COLON)) return 0;
  skipSpace();
  return start;
}

/** Goes behind the quote that ends a string; false at escapes, control characters and beyond ASCII. */
function skipString(): bool {
  let byte = <u32>load<u8>(at++);
  while (byte != QUOTE) {
    if (byte - 0x20 >= 0x60 || byte == BACKSLASH) return false; // below 0x20 wraps around
    byte = <u32>load<u8>(at++);
  }
  return true;
}

/** Goes behind the value of a field that nobody reads; objects and arrays are left to the exact path. */
function skipScalar(): bool {
  if (take(QUOTE)) return skipString();
  if (same(at, 'true', 4) || same(at, 'null', 4)) {
    at += 4;
    return true;
  }
  if (same(at, 'false', 5)) {
    at += 5;
    return true;
  }
  const value = decodeNumber();
  return value == value;
}

function takeNull(): bool {
  if (load<u32>(at) != 0x6c6c_756e) return false; // "null"
  at += 4;
  return true;
}

/** Decodes one number; NaN for anything else, for exponents, and for more than 15 digits. */
function decodeNumber(): f64 {
  const negative = load<u8>(at) == MINUS;
  if (negative) at++;
  const start = at;
  let digit = <u32>load<u8>(at) - ZERO;
  if (digit > 9) return NaN;
  let mantissa: u64 = digit;
  for (;;) {
    digit = <u32>load<u8>(++at) - ZERO;
    if (digit > 9) break;
    mantissa = mantissa * 10 + digit;
  }
  let digits = at - start;
  if (digits > 1 && load<u8>(start) == ZERO) return NaN; // RFC 8259 section 6: no leading zeros
  let value: f64;
  if (load<u8>(at) == DOT) {
    const point = at;
    for (;;) {
      digit = <u32>load<u8>(++at) - ZERO;
      if (digit > 9) break;
      mantissa = mantissa * 10 + digit;
    }
    const decimals = at - point - 1;
    digits += decimals;
    if (decimals == 0 || digits > DIGITS_MAX) return NaN;
    value = <f64>(<i64>mantissa) / load<f64>(POWERS_OF_TEN + (decimals << 3));
  } else {
    if (digits > DIGITS_MAX) return NaN;
    value = <f64>(<i64>mantissa);
  }
  if ((<u32>load<u8>(at) | 0x20) == 0x65) return NaN; // an exponent
  return negative ? -value : value;
}

/** Decodes an array of numbers to `SAMPLES`; returns its length, or −1 for what is not that or is too long. */
function decodeArray(samplesMax: i32): i32 {
  if (!take(OPEN_ARRAY)) return -1;
  skipSpace();
  if (take(CLOSE_ARRAY)) return 0;
  let out: usize = SAMPLES;
  const end = SAMPLES + (<usize>samplesMax << 2);
  let from = at;
  while (out < end) {
    // Series keep to a form, so each form has a loop of its own; `, ` is as common as `,`.
    let word = load<u64>(from);
    while (isTensTenthComma(word) && out < end) {
      // A tenth is inexact, but its product is exact after rounding to f32 for integers below 100,000.
      const tenths = (<i32>word & 0x0f) * 100 + (<i32>(word >>> 8) & 0x0f) * 10 + (<i32>(word >>> 24) & 0x0f);
      store<f32>(out, <f32>(<f64>tenths * 0.1));
      out += 4;
      from += 5;
      if (load<u8>(from) == SPACE) from++;
      word = load<u64>(from);
    }
    while (isTensComma(<u32>word) && out < end) {
      store<f32>(out, <f32>((<i32>word & 0x0f) * 10 + (<i32>(word >>> 8) & 0x0f)));
      out += 4;
      from += 3;
      if (load<u8>(from) == SPACE) from++;
      word = load<u64>(from);
    }
    if (out == end) break;
    const next = decodeSample(from, out);
    from = at;
    out += 4;
    if (next != COMMA) return next == CLOSE_ARRAY ? <i32>((out - SAMPLES) >>> 2) : -1;
    if (load<u8>(from) == SPACE) from++;
  }
  return -1;
}

/**
 * Whether the next bytes are two digits, the first no zero, a point, a digit and a comma: most breathing rates.
 * Each byte's high half is compared at once; adding 6 carries a low half above 9 into it. (Least significant
 * byte first: `14.3,` is 0x2c_33_2e_34_31.)
 */
// @ts-ignore: decorator
@inline
function isTensTenthComma(word: u64): bool {
  return (
    ((word & 0xff_f0_ff_f0_f0) == 0x2c_30_2e_30_30) &
    (((word + 0x06_00_06_06) & 0xf0_00_f0_f0) == 0x30_00_30_30) &
    ((word & 0x0f) != 0)
  );
}

/** Whether the next bytes are two digits, the first no zero, and a comma: most heart rates. */
// @ts-ignore: decorator
@inline
function isTensComma(word: u32): bool {
  return (
    ((word & 0xff_f0_f0) == 0x2c_30_30) &
    (((word + 0x06_06) & 0xf0_f0) == 0x30_30) &
    ((word & 0x0f) != 0)
  );
}

/** Decodes any number to `out` and goes behind what follows it; returns that, or 0 for what is no number. */
function decodeSample(from: usize, out: usize): u32 {
  at = from;
  skipSpace();
  const value = decodeNumber();
  if (value != value) return 0;
  store<f32>(out, <f32>value);
  skipSpace();
  return <u32>load<u8>(at++);
}

// @ts-ignore: decorator
@inline
function summaryAt(record: usize, series: i32): usize {
  return record + <usize>((SCALARS + series * SUMMARY_LENGTH) << 3);
}

// @ts-ignore: decorator
@inline
function take(byte: u32): bool {
  if (<u32>load<u8>(at) != byte) return false;
  at++;
  return true;
}

// @ts-ignore: decorator
@inline
function skipSpace(): void {
  let byte = <u32>load<u8>(at);
  while (byte <= 0x20 && (byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09)) {
    byte = <u32>load<u8>(++at);
  }
}

// @ts-ignore: decorator
@inline
function isKey(key: usize, length: i32, name: string): bool {
  return keyLength == length && same(key, name, length);
}

/** Whether the bytes at `pointer` are those of `name`, ASCII of `length`; eight at a time, the last ones twice. */
function same(pointer: usize, name: string, length: i32): bool {
  const narrow = changetype<usize>(name); // see `narrowNames`
  if (length < 8) {
    const mask = ((<u64>1) << (<u64>length << 3)) - 1;
    return ((load<u64>(pointer) ^ load<u64>(narrow)) & mask) == 0;
  }
  const last = <usize>(length - 8);
  if (load<u64>(pointer) != load<u64>(narrow)) return false;
  if (load<u64>(pointer + last) != load<u64>(narrow + last)) return false;
  return length <= 16 || load<u64>(pointer + 8) == load<u64>(narrow + 8);
}
