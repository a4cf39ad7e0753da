import { decodeText } from './historyText';
import {
  COUNT,
  HISTORY,
  HISTORY_BYTES,
  HISTORY_CHANCES,
  HISTORY_DAYS,
  HISTORY_RECORDS,
  HISTORY_TARGETS,
  LABELS,
  LEVEL,
  MEASURED_BYTES,
  NOTED_SESSION,
  QUANTITIES,
  RECORD_LENGTH,
  RUN_COUNTS,
  RUN_MEANS,
  RUN_SPREADS,
  RUN_WEIGHTS,
  SCALARS,
  SESSIONS_MAX,
  SEX,
  SUMMARY_LENGTH,
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

/** Where the next byte is read or written. */
let at: usize = 0;

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
  at = HISTORY_BYTES;
  const count = <i32>take8();
  if (count == 0 || count > SESSIONS_MAX) return false;
  store<u32>(HISTORY, count);
  for (let index = 0; index < count; index++) if (!readSession(index)) return false;
  if (!areOrdered(count) || !readLongRun()) return false;
  store<u32>(TEXTS + (<usize>MEASURED_BYTES << 3), <u32>at);
  store<u32>(TEXTS + (<usize>MEASURED_BYTES << 3), <u32>bytesEnd, 4);
  return true;
}

function readSession(index: i32): bool {
  const bits = take24();
  const day = <i32>take24() - 1;
  if (bits >= BITS_END || day > DAY_LAST) return false;
  if ((bits & STAGES) == STAGES && (bits & IMPLIED) != 0) return false;
  if ((bits & (SEX_KNOWN | SEX_MALE)) == SEX_MALE) return false;
  store<f64>(HISTORY_DAYS + (<usize>index << 3), day < 0 ? NaN : <f64>day);
  return readSaid(index, bits) && readValues(index, bits);
}

function readSaid(index: i32, bits: u32): bool {
  const target = HISTORY_TARGETS + <usize>(index * TARGET_LENGTH * 8);
  for (let score = 0; score < SCORES; score++) {
    const hundredths = take16();
    if (hundredths > SCORE_MOST) return false;
    store<f64>(target + (<usize>score << 3), <f64>hundredths / 100);
  }
  for (let label = 0; label < LABELS; label++) {
    const chance = take16();
    if (chance > CHANCE_ONE && chance != CHANCE_UNKNOWN) return false;
    const known = chance == CHANCE_UNKNOWN ? NaN : <f64>chance / CHANCE_ONE;
    store<f64>(HISTORY_CHANCES + <usize>((index * LABELS + label) * 8), known);
    store<f64>(target + <usize>((SCORES + label) * 8), bits & (LABEL_HIGH << label) ? 1 : -1);
  }
  return true;
}

function readValues(index: i32, bits: u32): bool {
  const record = HISTORY_RECORDS + <usize>(index * RECORD_LENGTH * 8);
  for (let scalar: usize = 0; scalar < <usize>SCALARS; scalar++) store<f64>(record + (scalar << 3), NaN);
  memory.fill(record + <usize>(SCALARS * 8), 0, 4 * SUMMARY_LENGTH * 8);
  for (let value = 0; value < LEVELS_FROM; value++) {
    if (!(bits & (1 << value))) continue;
    const number = value < TIMES ? <f64>take24() : takeDouble();
    const bounds = changetype<usize>(SCALAR_BOUNDS) + <usize>(value * SCALAR_BOUNDS_LENGTH * 8);
    if (!isWithin(number, load<f64>(bounds), load<f64>(bounds, 8))) return false;
    store<f64>(record + (<usize>value << 3), number);
  }
  for (let series = 0; series < VALUES - LEVELS_FROM; series++) {
    if (!(bits & (1 << (LEVELS_FROM + series)))) continue;
    const level = takeDouble();
    const isHeart = (series & 1) == 0;
    if (!isWithin(level, isHeart ? HEART_LOW : BREATH_LOW, isHeart ? HEART_HIGH : BREATH_HIGH)) return false;
    const place = levelOf(record, LEVELS_FROM + series);
    store<f64>(place - ((LEVEL - COUNT) << 3), 1);
    store<f64>(place, level);
  }
  if (bits & SEX_KNOWN) store<f64>(record + (<usize>SEX << 3), bits & SEX_MALE ? 1 : -1);
  return true;
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

function readLongRun(): bool {
  const nights = take16();
  store<u32>(HISTORY, nights, 4);
  if (nights == 0) {
    memory.fill(RUN_WEIGHTS, 0, <usize>QUANTITIES * (3 * 4 + 2));
    return true;
  }
  for (let quantity: usize = 0; quantity < <usize>QUANTITIES; quantity++) {
    const count = take16();
    const weight = takeFloat();
    const mean = takeFloat();
    const spread = takeFloat();
    const bounds = changetype<usize>(QUANTITY_BOUNDS) + quantity * 3 * 8;
    const isNever = count == 0;
    if (count > nights || !isWithin(weight, 0, count)) return false;
    if (!isWithin(mean, isNever ? 0 : load<f64>(bounds), isNever ? 0 : load<f64>(bounds, 8))) return false;
    if (!isWithin(spread, 0, isNever ? 0 : load<f64>(bounds, 16))) return false;
    store<u16>(RUN_COUNTS + (quantity << 1), <u16>count);
    store<f32>(RUN_WEIGHTS + (quantity << 2), weight);
    store<f32>(RUN_MEANS + (quantity << 2), mean);
    store<f32>(RUN_SPREADS + (quantity << 2), spread);
  }
  return true;
}

/**
 * Writes the history at `HISTORY` to `HISTORY_BYTES`, without measurements; returns where it ends. Notes where session
 * `noted` begins.
 */
export function writeHistory(noted: i32): usize {
  at = HISTORY_BYTES;
  const count = load<u32>(HISTORY);
  put8(count);
  for (let index = 0; index < <i32>count; index++) {
    if (index == noted) store<u32>(TEXTS + (<usize>NOTED_SESSION << 3), <u32>at);
    writeSession(index);
  }
  writeLongRun();
  return at;
}

function writeSession(index: i32): void {
  const record = HISTORY_RECORDS + <usize>(index * RECORD_LENGTH * 8);
  const target = HISTORY_TARGETS + <usize>(index * TARGET_LENGTH * 8);
  const bits = bitsOf(record, target);
  const day = load<f64>(HISTORY_DAYS + (<usize>index << 3));
  put24(bits);
  put24(isNaN(day) ? 0 : <u32>day + 1);
  for (let score = 0; score < SCORES; score++) put16(rounded(load<f64>(target + (<usize>score << 3)) * 100));
  for (let label = 0; label < LABELS; label++) {
    const chance = load<f64>(HISTORY_CHANCES + <usize>((index * LABELS + label) * 8));
    put16(isNaN(chance) ? CHANCE_UNKNOWN : rounded(chance * CHANCE_ONE));
  }
  for (let value = 0; value < VALUES; value++) {
    if (!(bits & (1 << value))) continue;
    const number = load<f64>(value < LEVELS_FROM ? record + (<usize>value << 3) : levelOf(record, value));
    if (value < TIMES) put24(<u32>number);
    else putDouble(number + 0); // no −0
  }
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

/** Where the level of a series is in `record`: value `value` of a session. */
function levelOf(record: usize, value: i32): usize {
  return record + <usize>((SCALARS + (value - LEVELS_FROM) * SUMMARY_LENGTH + LEVEL) << 3);
}

function writeLongRun(): void {
  const nights = load<u32>(HISTORY, 4);
  put16(nights);
  if (nights == 0) return;
  for (let quantity: usize = 0; quantity < <usize>QUANTITIES; quantity++) {
    put16(load<u16>(RUN_COUNTS + (quantity << 1)));
    putFloat(load<f32>(RUN_WEIGHTS + (quantity << 2)));
    putFloat(load<f32>(RUN_MEANS + (quantity << 2)) + 0); // no −0
    putFloat(load<f32>(RUN_SPREADS + (quantity << 2)));
  }
}

/** To the nearest whole number; of two the higher, as in JavaScript. */
function rounded(value: f64): u32 {
  return <u32>Math.round(value);
}

/** False for NaN, and for −0, which would be a second encoding of 0. */
// @ts-ignore: decorator
@inline
function isWithin(value: f64, least: f64, most: f64): bool {
  return value >= least && value <= most && reinterpret<u64>(value) != 0x8000_0000_0000_0000;
}

// @ts-ignore: decorator
@inline
function take8(): u32 {
  const value = <u32>load<u8>(at);
  at += 1;
  return value;
}

// @ts-ignore: decorator
@inline
function take16(): u32 {
  const value = <u32>load<u16>(at);
  at += 2;
  return value;
}

// @ts-ignore: decorator
@inline
function take24(): u32 {
  const value = load<u32>(at) & 0xff_ffff;
  at += 3;
  return value;
}

// @ts-ignore: decorator
@inline
function takeFloat(): f32 {
  const value = load<f32>(at);
  at += 4;
  return value;
}

// @ts-ignore: decorator
@inline
function takeDouble(): f64 {
  const value = load<f64>(at);
  at += 8;
  return value;
}

// @ts-ignore: decorator
@inline
function put8(value: u32): void {
  store<u8>(at, <u8>value);
  at += 1;
}

// @ts-ignore: decorator
@inline
function put16(value: u32): void {
  store<u16>(at, <u16>value);
  at += 2;
}

// @ts-ignore: decorator
@inline
function put24(value: u32): void {
  put16(value);
  put8(value >> 16);
}

// @ts-ignore: decorator
@inline
function putFloat(value: f32): void {
  store<f32>(at, value);
  at += 4;
}

// @ts-ignore: decorator
@inline
function putDouble(value: f64): void {
  store<f64>(at, value);
  at += 8;
}
