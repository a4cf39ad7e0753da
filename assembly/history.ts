import { decodeText } from './historyText';
import {
  COUNT,
  HISTORY,
  HISTORY_BYTES,
  HISTORY_CHANCES,
  HISTORY_DAYS,
  HISTORY_NIGHTS,
  HISTORY_RECORDS,
  HISTORY_TARGETS,
  LABELS,
  LEVEL,
  MEASURED_BYTES,
  NOTED_SESSION,
  QUANTITIES,
  RECORDS,
  RECORD_LENGTH,
  RUN_COUNTS,
  RUN_MEANS,
  RUN_SPREADS,
  RUN_WEIGHTS,
  SCALARS,
  SESSIONS_MAX,
  SEX,
  SUMMARY_LENGTH,
  TARGETS,
  TARGET_LENGTH,
  TEXTS,
} from './layout';
import { BREATH_HIGH, BREATH_LOW, HEART_HIGH, HEART_LOW, SCALAR_BOUNDS, SCALAR_BOUNDS_LENGTH, SCORED_NUMBERS, SCORES } from './rules';
import { QUANTITY_BOUNDS } from './tables';

/** Reads and writes a history. src/night/history/form.ts draws the format. */

const DAY_LAST: i32 = 65_743;
const PAST_DAYS_MAX: f64 = 60;
const SCORE_MOST: u32 = 10_000;
const CHANCE_ONE: u32 = 10_000;
const CHANCE_UNKNOWN: u32 = 0xffff;
/** Bits of a session: its numbers, four levels, sex known, male, two labels; the first five numbers are times. */
const TIMES: i32 = 5;
const LEVELS_FROM: i32 = SCORED_NUMBERS;
const VALUES: i32 = LEVELS_FROM + 4;
const SEX_KNOWN: u32 = 1 << VALUES;
const SEX_MALE: u32 = SEX_KNOWN << 1;
const LABEL_HIGH: u32 = SEX_KNOWN << 2;
const BITS_END: u32 = LABEL_HIGH << 2;
const STAGES: u32 = 0b1110;
const IMPLIED: u32 = 0b1110_0001;

/** Where what follows the bits of a session is, from its beginning on: its day, scores, chances, and values. */
const DAY: usize = 3;
const SAID: usize = 6;
const CHANCES: usize = SAID + 2 * SCORES;
const NUMBERS: usize = CHANCES + 2 * LABELS;
const QUANTITY_BYTES: usize = 14;

/**
 * Whether the text from `start` to `end` is a history; its content is then at `HISTORY`. Does not check measurements:
 * notes where they begin and end.
 */
export function readHistory(start: usize, end: usize): bool {
  const bytesEnd = decodeText(start, end);
  return bytesEnd != 0 && readHistoryBytes(bytesEnd);
}

/** The same for the bytes from `HISTORY_BYTES` to `bytesEnd`, without their checksum. */
export function readHistoryBytes(bytesEnd: usize): bool {
  const count = <i32>load<u8>(HISTORY_BYTES);
  if (count == 0 || count > SESSIONS_MAX) return false;
  store<u32>(HISTORY, count);
  let at: usize = HISTORY_BYTES + 1;
  for (let index = 0; index < count && at != 0; index++) at = readSession(index, at);
  if (at == 0 || !areOrdered(count)) return false;
  at = readLongRun(at);
  if (at == 0) return false;
  store<u32>(TEXTS + (<usize>MEASURED_BYTES << 3), <u32>at);
  store<u32>(TEXTS + (<usize>MEASURED_BYTES << 3), <u32>bytesEnd, 4);
  return true;
}

/** Reads session `index`, which begins at `at`; returns where it ends, or 0 if it is invalid. So does `readLongRun`. */
function readSession(index: i32, at: usize): usize {
  const bits = load24(at);
  const day = <i32>load24(at + DAY) - 1;
  if (bits >= BITS_END || day > DAY_LAST) return 0;
  if ((bits & STAGES) == STAGES && (bits & IMPLIED) != 0) return 0;
  if ((bits & (SEX_KNOWN | SEX_MALE)) == SEX_MALE) return 0;
  store<f64>(HISTORY_DAYS + (<usize>index << 3), day < 0 ? NaN : <f64>day);
  return readSaid(index, bits, at) ? readValues(index, bits, at + NUMBERS) : 0;
}

function readSaid(index: i32, bits: u32, at: usize): bool {
  const target = targetOf(index);
  for (let score: usize = 0; score < <usize>SCORES; score++) {
    const hundredths = load<u16>(at + SAID + (score << 1));
    if (<u32>hundredths > SCORE_MOST) return false;
    store<f64>(target + (score << 3), <f64>hundredths / 100);
  }
  for (let label: usize = 0; label < <usize>LABELS; label++) {
    const chance = <u32>load<u16>(at + CHANCES + (label << 1));
    if (chance > CHANCE_ONE && chance != CHANCE_UNKNOWN) return false;
    const known = chance == CHANCE_UNKNOWN ? NaN : <f64>chance / CHANCE_ONE;
    store<f64>(chancesOf(index) + (label << 3), known);
    store<f64>(target + ((<usize>SCORES + label) << 3), bits & (LABEL_HIGH << <u32>label) ? 1 : -1);
  }
  return true;
}

function readValues(index: i32, bits: u32, start: usize): usize {
  let at = start;
  const record = recordOf(index);
  for (let scalar: usize = 0; scalar < <usize>SCALARS; scalar++) store<f64>(record + (scalar << 3), NaN);
  memory.fill(record + <usize>(SCALARS * 8), 0, 4 * SUMMARY_LENGTH * 8);
  for (let value = 0; value < LEVELS_FROM; value++) {
    if (!(bits & (1 << value))) continue;
    const number = value < TIMES ? <f64>load24(at) : load<f64>(at);
    at += value < TIMES ? 3 : 8;
    const bounds = changetype<usize>(SCALAR_BOUNDS) + <usize>(value * SCALAR_BOUNDS_LENGTH * 8);
    if (!isWithin(number, load<f64>(bounds), load<f64>(bounds, 8))) return 0;
    store<f64>(record + (<usize>value << 3), number);
  }
  for (let value = LEVELS_FROM; value < VALUES; value++) {
    if (!(bits & (1 << value))) continue;
    const level = load<f64>(at);
    at += 8;
    const isHeart = ((value - LEVELS_FROM) & 1) == 0;
    if (!isWithin(level, isHeart ? HEART_LOW : BREATH_LOW, isHeart ? HEART_HIGH : BREATH_HIGH)) return 0;
    const place = levelOf(record, value);
    store<f64>(place - ((LEVEL - COUNT) << 3), 1);
    store<f64>(place, level);
  }
  if (bits & SEX_KNOWN) store<f64>(record + (<usize>SEX << 3), bits & SEX_MALE ? 1 : -1);
  return at;
}

/** Whether dates ascend and none is too old for the newest. */
function areOrdered(count: i32): bool {
  let latest: f64 = -Infinity;
  let before: f64 = NaN;
  let earliest: f64 = Infinity;
  for (let index = 0; index < count; index++) {
    const day = load<f64>(HISTORY_DAYS + (<usize>index << 3));
    if (day <= before) return false; // false if either is undated
    before = day;
    if (day > latest) latest = day;
    if (day < earliest) earliest = day;
  }
  return !(latest - earliest > PAST_DAYS_MAX);
}

function readLongRun(start: usize): usize {
  const nights = <u32>load<u16>(start);
  store<u32>(HISTORY_NIGHTS, nights);
  let at = start + 2;
  if (nights == 0) {
    memory.fill(RUN_WEIGHTS, 0, <usize>QUANTITIES * (3 * 4 + 2));
    return at;
  }
  for (let quantity: usize = 0; quantity < <usize>QUANTITIES; quantity++, at += QUANTITY_BYTES) {
    const count = <u32>load<u16>(at);
    const weight = load<f32>(at, 2);
    const mean = load<f32>(at, 6);
    const spread = load<f32>(at, 10);
    const bounds = changetype<usize>(QUANTITY_BOUNDS) + quantity * 3 * 8;
    const isNever = count == 0;
    if (count > nights || !isWithin(weight, 0, count)) return 0;
    if (!isWithin(mean, isNever ? 0 : load<f64>(bounds), isNever ? 0 : load<f64>(bounds, 8))) return 0;
    if (!isWithin(spread, 0, isNever ? 0 : load<f64>(bounds, 16))) return 0;
    store<u16>(RUN_COUNTS + (quantity << 1), <u16>count);
    store<f32>(RUN_WEIGHTS + (quantity << 2), weight);
    store<f32>(RUN_MEANS + (quantity << 2), mean);
    store<f32>(RUN_SPREADS + (quantity << 2), spread);
  }
  return at;
}

/**
 * Writes the history at `HISTORY` to `HISTORY_BYTES`, without measurements; returns where it ends. Notes where session
 * `noted` begins.
 */
export function writeHistory(noted: i32): usize {
  const count = load<u32>(HISTORY);
  store<u8>(HISTORY_BYTES, <u8>count);
  let at: usize = HISTORY_BYTES + 1;
  for (let index = 0; index < <i32>count; index++) {
    if (index == noted) store<u32>(TEXTS + (<usize>NOTED_SESSION << 3), <u32>at);
    at = writeSession(index, at);
  }
  return writeLongRun(at);
}

/** Writes session `index` to `at`; returns where it ends. So does `writeLongRun`. */
function writeSession(index: i32, start: usize): usize {
  const record = recordOf(index);
  const target = targetOf(index);
  const bits = bitsOf(record, target);
  const day = load<f64>(HISTORY_DAYS + (<usize>index << 3));
  store24(start, bits);
  store24(start + DAY, isNaN(day) ? 0 : <u32>day + 1);
  for (let score: usize = 0; score < <usize>SCORES; score++)
    store<u16>(start + SAID + (score << 1), rounded(load<f64>(target + (score << 3)) * 100));
  for (let label: usize = 0; label < <usize>LABELS; label++) {
    const chance = load<f64>(chancesOf(index) + (label << 3));
    store<u16>(start + CHANCES + (label << 1), isNaN(chance) ? <u16>CHANCE_UNKNOWN : rounded(chance * CHANCE_ONE));
  }
  let at = start + NUMBERS;
  for (let value = 0; value < VALUES; value++) {
    if (!(bits & (1 << value))) continue;
    const number = load<f64>(value < LEVELS_FROM ? record + (<usize>value << 3) : levelOf(record, value));
    if (value < TIMES) store24(at, <u32>number);
    else store<f64>(at, number + 0); // no −0
    at += value < TIMES ? 3 : 8;
  }
  return at;
}

/** Which numbers of a session are present, its sex and labels. With all three stages, what they imply is left out. */
function bitsOf(record: usize, target: usize): u32 {
  let bits: u32 = 0;
  for (let value = 0; value < LEVELS_FROM; value++)
    if (!isNaN(load<f64>(record + (<usize>value << 3)))) bits |= 1 << value;
  for (let value = LEVELS_FROM; value < VALUES; value++)
    if (load<f64>(levelOf(record, value) - ((LEVEL - COUNT) << 3)) > 0) bits |= 1 << value;
  if ((bits & STAGES) == STAGES) bits &= ~IMPLIED;
  const sex = load<f64>(record + (<usize>SEX << 3));
  if (!isNaN(sex)) bits |= sex > 0 ? SEX_KNOWN | SEX_MALE : SEX_KNOWN;
  for (let label = 0; label < LABELS; label++)
    if (load<f64>(target + (<usize>(SCORES + label) << 3)) > 0) bits |= LABEL_HIGH << label;
  return bits;
}

/** Moves the sessions from index `from` on to index `to`. */
export function moveSessions(from: i32, to: i32): void {
  const count = load<i32>(HISTORY) - from;
  memory.copy(HISTORY_DAYS + (<usize>to << 3), HISTORY_DAYS + (<usize>from << 3), <usize>count << 3);
  memory.copy(recordOf(to), recordOf(from), count * RECORD_LENGTH * 8);
  memory.copy(targetOf(to), targetOf(from), count * TARGET_LENGTH * 8);
  memory.copy(chancesOf(to), chancesOf(from), count * LABELS * 8);
}

/** Makes the sessions from `first` up to `index` the request's past, and its own, unscored, session `index` if kept. */
export function placeSession(first: i32, index: i32, isKept: bool, day: f64): void {
  memory.copy(RECORDS + RECORD_LENGTH * 8, recordOf(first), (index - first) * RECORD_LENGTH * 8);
  memory.copy(TARGETS, targetOf(first), (index - first) * TARGET_LENGTH * 8);
  if (!isKept) return;
  store<f64>(HISTORY_DAYS + (<usize>index << 3), day);
  memory.copy(recordOf(index), RECORDS, RECORD_LENGTH * 8);
  memory.fill(targetOf(index), 0, TARGET_LENGTH * 8);
  memory.fill(chancesOf(index), 0, LABELS * 8);
}

function recordOf(index: i32): usize {
  return HISTORY_RECORDS + <usize>(index * RECORD_LENGTH * 8);
}

function targetOf(index: i32): usize {
  return HISTORY_TARGETS + <usize>(index * TARGET_LENGTH * 8);
}

function chancesOf(index: i32): usize {
  return HISTORY_CHANCES + <usize>(index * LABELS * 8);
}

/** Where the level of a series is in `record`: value `value` of a session. */
function levelOf(record: usize, value: i32): usize {
  return record + <usize>((SCALARS + (value - LEVELS_FROM) * SUMMARY_LENGTH + LEVEL) << 3);
}

function writeLongRun(start: usize): usize {
  const nights = load<u32>(HISTORY_NIGHTS);
  store<u16>(start, <u16>nights);
  let at = start + 2;
  if (nights == 0) return at;
  for (let quantity: usize = 0; quantity < <usize>QUANTITIES; quantity++, at += QUANTITY_BYTES) {
    store<u16>(at, load<u16>(RUN_COUNTS + (quantity << 1)));
    store<f32>(at, load<f32>(RUN_WEIGHTS + (quantity << 2)), 2);
    store<f32>(at, load<f32>(RUN_MEANS + (quantity << 2)) + 0, 6); // no −0
    store<f32>(at, load<f32>(RUN_SPREADS + (quantity << 2)), 10);
  }
  return at;
}

/** To the nearest whole number; of two the higher, as in JavaScript. */
function rounded(value: f64): u16 {
  return <u16>Math.round(value);
}

/** False for NaN, and for −0, which would be a second encoding of 0. */
// @ts-ignore: decorator
@inline
function isWithin(value: f64, least: f64, most: f64): bool {
  return value >= least && value <= most && reinterpret<u64>(value) != 0x8000_0000_0000_0000;
}

function load24(at: usize): u32 {
  return load<u32>(at) & 0xff_ffff;
}

/** The byte after it is written next. */
function store24(at: usize, value: u32): void {
  store<u32>(at, value);
}
