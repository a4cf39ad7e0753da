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
  RECORDS,
  RECORD_LENGTH,
  REM,
  REM_SHARE,
  RR_DAY,
  RR_NIGHT,
  SAMPLES,
  SAMPLES_SLACK,
  SCALARS,
  SESSIONS_MAX,
  SEX,
  SLEEP_TIME,
  SUMMARY_LENGTH,
  TARGETS,
  TARGET_LENGTH,
  WEIGHT,
} from './layout';
import { narrowNames, same } from './names';
import { decodeNumber, fillPowersOfTen } from './number';
import { decodeArray } from './samples';
import { summarise } from './series';
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  at,
  inputEnd,
  moveTo,
  openText,
  skipSpace,
  skipString,
  take,
  takeNull,
} from './text';

/**
 * Reads a request of the contract's plain form: known fields, no escapes, ASCII, numbers without exponent and of
 * at most 15 digits, no field twice, every value in range. Whatever is not plainly that is refused here without a
 * reason, and the host reads it again with JSON.parse and the full schema: this reader only ever has to be right
 * about yes.
 */

let daySamplesMax: i32 = 0;
let nightSamplesMax: i32 = 0;

/** Prepares the tables of the readers; once for each instance. */
export function initialise(dayMax: i32, nightMax: i32): usize {
  assert(__data_end <= RECORDS);
  narrowNames();
  fillPowersOfTen();
  daySamplesMax = dayMax;
  nightSamplesMax = nightMax;
  const samplesMax = max(dayMax, nightMax);
  return (SAMPLES + (<usize>(samplesMax + SAMPLES_SLACK) << 2) + 15) & ~15;
}

/** The number of past sessions of the request at `input`, or −1 where the exact path must look. */
export function read(input: usize, length: i32): i32 {
  openText(input, length);
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
  if (at != inputEnd) return -1;
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
  moveTo(at + 3);
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
    moveTo(at + 6);
    return 1;
  }
  if (same(at, '"Low"', 5)) {
    moveTo(at + 5);
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

/** Goes behind the value of a field that nobody reads; objects and arrays are left to the exact path. */
function skipScalar(): bool {
  if (take(QUOTE)) return skipString();
  if (same(at, 'true', 4) || same(at, 'null', 4)) {
    moveTo(at + 4);
    return true;
  }
  if (same(at, 'false', 5)) {
    moveTo(at + 5);
    return true;
  }
  const value = decodeNumber();
  return value == value;
}

// @ts-ignore: decorator
@inline
function summaryAt(record: usize, series: i32): usize {
  return record + <usize>((SCALARS + series * SUMMARY_LENGTH) << 3);
}

// @ts-ignore: decorator
@inline
function isKey(key: usize, length: i32, name: string): bool {
  return keyLength == length && same(key, name, length);
}
