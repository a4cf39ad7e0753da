import { isDoubtful } from './doubts';
import {
  CURRENT_SESSION_FIELD,
  EXPLAIN_FIELD,
  HISTORY_FIELD,
  MEASUREMENTS_FIELD,
  NIGHT_FIELD,
  PAST_SESSIONS_FIELD,
  sessionField,
  targetField,
  topField,
} from './fields';
import { afterString, afterValue } from './json';
import {
  COUNT,
  EXPLAIN,
  HR_DAY,
  HISTORY_TEXT,
  HR_NIGHT,
  LENGTHS,
  NIGHT_TEXT,
  QUANTITIES,
  RECORDING_INDEX,
  RECORDS,
  RECORD_LENGTH,
  RR_DAY,
  SAMPLES,
  SAMPLES_SLACK,
  SCALARS,
  SERIES_INDEX,
  SESSIONS_MAX,
  SEX,
  SUMMARISED,
  SUMMARY_LENGTH,
  TARGETS,
  TARGET_LENGTH,
  TEXTS,
  SLOW_NUMBERS,
  UNKNOWN_FIELDS,
} from './layout';
import { narrowNames, same } from './names';
import { fillHistoryTables } from './historyText';
import { decodeNumber, fillPowersOfTen, forgetLongNumbers, longNumbers } from './number';
import { forgetKept, keepsFields, noteField } from './kept';
import { REACTIONS_MAX, SCALAR_BOUNDS, SCALAR_BOUNDS_LENGTH, SCORES, SCORE_MAX, SCORE_MIN, TARGET_FIELDS } from './rules';
import { decodeArray } from './samples';
import { forgetBreathing, summarise } from './series';
import { QUANTITY_BOUNDS } from './tables';
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  at,
  clear,
  inputEnd,
  moveTo,
  openText,
  skipSpace,
  skipString,
  take,
  takeNull,
} from './text';

/**
 * Reads a request in the contract's plain form: known fields by names without escapes, unknown ones of any kind, no
 * duplicates, every value in range, no doubtful unit. Anything else is deferred, without a reason, to the exact path:
 * this reader accepts or defers, and what it accepts must be valid.
 */

let daySamplesMax: i32 = 0;
let nightSamplesMax: i32 = 0;
let unknownFields: i32 = 0;

/**
 * No ordinary caller sends more unknown fields: the exact path reads such a body, and this one loses no time. Up to
 * here, unknown fields alone can't reach the bounds of structure.
 */
const UNKNOWN_MAX: i32 = 256;

/**
 * Up to this much of objects and arrays in unknown fields, with any content, stays within the bounds of structure; so
 * does this many levels.
 */
const UNKNOWN_BYTES_MAX: usize = 8_192;
const UNKNOWN_LEVELS_MAX: i32 = 60;
let unknownBytes: usize = 0;
/** Samples of all series that are sentinels or implausible. */
let samplesLeftOut: i32 = 0;

/** Prepares the tables of the readers; call once per instance. */
export function initialise(dayMax: i32, nightMax: i32): usize {
  assert(__data_end <= RECORDS && QUANTITY_BOUNDS.length == 3 * QUANTITIES);
  narrowNames();
  fillPowersOfTen();
  fillHistoryTables();
  daySamplesMax = dayMax;
  nightSamplesMax = nightMax;
  const samplesMax = max(max(dayMax, nightMax), REACTIONS_MAX);
  return (SAMPLES + (<usize>(samplesMax + SAMPLES_SLACK) << 2) + 15) & ~15;
}

/** Returned by `read` if the current session has a recording, of which nothing is read here. */
export const DEFERRED_RECORDING: i32 = -2;
let hasRecording: bool = false;

/** The number of past sessions of the request at `input`, or −1, or the above, to defer to the exact path. */
export function read(input: usize, length: i32): i32 {
  openText(input, length);
  unknownFields = 0;
  unknownBytes = 0;
  samplesLeftOut = 0;
  hasRecording = false;
  forgetLongNumbers();
  forgetKept();
  let hasCurrent = false;
  let sessions: i32 = -1;
  let targets: i32 = -1;
  let explain: i32 = -1;
  let hasMeasurements = false;
  skipSpace();
  if (!take(OPEN_OBJECT)) return -1;
  do {
    const key = readKey();
    if (key == 0) return -1;
    const keyEnd = key + <usize>keyLength;
    const value = at;
    const field = topField(key, keyLength);
    if (field == CURRENT_SESSION_FIELD) {
      if (hasCurrent) return -1;
      if (!readSession(0)) return hasRecording ? DEFERRED_RECORDING : -1;
      hasCurrent = true;
    } else if (field == PAST_SESSIONS_FIELD) {
      if (sessions >= 0) return -1;
      sessions = readSessions();
      if (sessions < 0) return -1;
    } else if (field == EXPLAIN_FIELD) {
      if (explain >= 0) return -1;
      explain = readFlag();
      if (explain < 0) return -1;
    } else if (field == HISTORY_FIELD) {
      if (!readText(HISTORY_TEXT)) return -1;
    } else if (field == NIGHT_FIELD) {
      if (!readText(NIGHT_TEXT)) return -1;
    } else if (field == MEASUREMENTS_FIELD) {
      // Measurements are sent once each: the exact path reads them.
      if (hasMeasurements || !skipNone()) return -1;
      hasMeasurements = true;
    } else if (field >= 0) {
      // An alias and the proper name together: the exact path decides.
      if (targets >= 0) return -1;
      targets = readTargets();
      if (targets < 0) return -1;
    } else if (!skipUnknown()) return -1;
    if (keepsFields) noteField(key, keyEnd, value, at);
    skipSpace();
  } while (take(COMMA));
  if (!take(CLOSE_OBJECT) || !hasCurrent) return -1;
  skipSpace();
  if (at != inputEnd) return -1;
  if (max(sessions, 0) != max(targets, 0)) return -1;
  store<i32>(UNKNOWN_FIELDS, unknownFields);
  store<i32>(EXPLAIN, max(explain, 0));
  store<i32>(SLOW_NUMBERS, longNumbers + (samplesLeftOut >> 2));
  return max(sessions, 0);
}

/** 1 for true, 0 for false and null, −1 for anything else. */
function readFlag(): i32 {
  if (takeNull()) return 0;
  if (same(at, 'true', 4)) {
    moveTo(at + 4);
    return 1;
  }
  if (same(at, 'false', 5)) {
    moveTo(at + 5);
    return 0;
  }
  return -1;
}

/** Notes where a string is; null means absent. False for anything else, and for a second string. */
function readText(text: i32): bool {
  const entry = TEXTS + (<usize>text << 3);
  if (load<u32>(entry) != 0) return false;
  if (takeNull()) return true;
  if (!take(QUOTE)) return false;
  const start = at;
  if (!skipString()) return false;
  store<u32>(entry, <u32>start);
  store<u32>(entry, <u32>(at - 1), 4);
  return true;
}

/** Skips null or an empty array; false for anything else. */
function skipNone(): bool {
  if (takeNull()) return true;
  if (!take(OPEN_ARRAY)) return false;
  skipSpace();
  return take(CLOSE_ARRAY);
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
    if (!readSession(count)) return -1;
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

function readSession(session: i32): bool {
  const record = RECORDS + <usize>(session * RECORD_LENGTH * 8);
  for (let scalar: usize = 0; scalar < <usize>SCALARS; scalar++) store<f64>(record + (scalar << 3), NaN);
  // Clear all of it: otherwise an empty series would pass on data of the previous request.
  clear(summaryAt(record, 0), 4 * SUMMARY_LENGTH * 8);
  forgetBreathing();
  if (!take(OPEN_OBJECT)) return false;
  skipSpace();
  if (take(CLOSE_OBJECT)) return true;
  let seen: u32 = 0;
  do {
    const key = readKey();
    if (key == 0) return false;
    const field = sessionField(key, keyLength);
    if (field < 0) {
      if (!skipUnknown()) return false;
    } else {
      // A duplicate field, under either name: the exact path decides.
      if ((seen >>> field) & 1) return false;
      seen |= 1 << field;
      if (field >= SERIES_INDEX) {
        if (!readSeries(record, session, field - SERIES_INDEX)) return false;
      } else if (!readScalar(record, field)) return false;
    }
    skipSpace();
  } while (take(COMMA));
  return take(CLOSE_OBJECT) && !isDoubtful(record);
}

function readSeries(record: usize, session: i32, series: i32): bool {
  if (takeNull()) return true;
  const isHeart = series == HR_DAY || series == HR_NIGHT;
  const isDay = series == HR_DAY || series == RR_DAY;
  const start = at;
  const length = decodeArray(isDay ? daySamplesMax : nightSamplesMax);
  if (length < 0) return false;
  const summary = summaryAt(record, series);
  summarise(SAMPLES, length, isHeart, summary);
  samplesLeftOut += length - <i32>load<f64>(summary, COUNT << 3);
  const place = <usize>(session * 4 + series) << 2;
  store<u32>(SUMMARISED + place, <u32>start);
  store<u32>(LENGTHS + place, <u32>length);
  return true;
}

function readScalar(record: usize, field: i32): bool {
  if (takeNull()) return true;
  if (field >= SEX) {
    hasRecording = field == RECORDING_INDEX;
    return !hasRecording && readSex(record);
  }
  const value = decodeNumber();
  if (!isInRange(field, value)) return false;
  store<f64>(record + (<usize>field << 3), value);
  return true;
}

/** NaN, which the decoder returns for anything it does not accept, is in no range. */
function isInRange(field: i32, value: f64): bool {
  const bounds = changetype<usize>(SCALAR_BOUNDS) + ((<usize>field * SCALAR_BOUNDS_LENGTH) << 3);
  if (!(value >= load<f64>(bounds) && value <= load<f64>(bounds, 8))) return false;
  return load<f64>(bounds, 16) == 0 || floor(value) == value;
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
    const field = targetField(key, keyLength);
    if (field < 0) {
      if (!skipUnknown()) return false;
    } else {
      if ((seen >>> field) & 1) return false;
      seen |= 1 << field;
      const value = field < SCORES ? decodeNumber() : readLabel();
      if (!(value >= (field < SCORES ? SCORE_MIN : -1) && value <= SCORE_MAX)) return false;
      store<f64>(target + (<usize>field << 3), value);
    }
    skipSpace();
  } while (take(COMMA));
  return take(CLOSE_OBJECT) && seen == (1 << TARGET_FIELDS) - 1;
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

/** Reads `"key":` with its white space; returns where the key begins, or 0. Sets `keyLength`. */
function readKey(): usize {
  skipSpace();
  if (!take(QUOTE)) return 0;
  const start = at;
  if (!skipString() && !skipOddKey(start)) return 0;
  keyLength = <i32>(at - 1 - start);
  skipSpace();
  if (!take(COLON)) return 0;
  skipSpace();
  return start;
}

/**
 * Skips a key with escapes or characters beyond ASCII, which is unknown as written; false if it is no key, or if an
 * escape may encode a letter of a name.
 */
function skipOddKey(start: usize): bool {
  const after = afterString(start);
  if (after == 0) return false;
  for (let place = start; place < after; place++) {
    if (load<u8>(place) == BACKSLASH && load<u8>(++place) == 0x75) return false; // u
  }
  moveTo(after);
  return true;
}

/** Skips the value of an unknown field, if it is valid JSON. */
function skipUnknown(): bool {
  if (++unknownFields > UNKNOWN_MAX) return false;
  const start = at;
  const after = afterValue(start, UNKNOWN_LEVELS_MAX, start + UNKNOWN_BYTES_MAX);
  if (after == 0) return false;
  moveTo(after);
  const byte = <u32>load<u8>(start);
  if (byte == OPEN_OBJECT || byte == OPEN_ARRAY) unknownBytes += after - start;
  return unknownBytes <= UNKNOWN_BYTES_MAX;
}

// @ts-ignore: decorator
@inline
function summaryAt(record: usize, series: i32): usize {
  return record + <usize>((SCALARS + series * SUMMARY_LENGTH) << 3);
}
