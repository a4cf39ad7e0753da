import {
  FEATURES,
  FEATURE_COUNT,
  FEATURE_INDEX,
  ROW_CLAMP,
  TARGET_CENTRE,
  TARGET_COUNT,
  TARGET_SCALE,
} from '../contract/features.js';
import { PAST_MAX, SCORE_FIELDS } from '../contract/request.js';
import { Sleep } from '../contract/sleep.js';
import { LAYOUT, summaryAt, type PredictionRequest } from './wasmParser.js';
import { normaliseSleep } from './normalise.js';

const centres = Float64Array.from(FEATURES, (feature) => feature.centre);
const inverseScales = Float64Array.from(FEATURES, (feature) => 1 / feature.scale);

/** Where a group starts in a row: its mask first, then its values. */
function at(group: string): number {
  const index = FEATURE_INDEX.get(`${group}_known`);
  if (index === undefined) throw new Error(`no feature group ${group}`);
  return index;
}

const HR_DAY = at('hr_day');
const RR_DAY = at('rr_day');
const HR_NIGHT = at('hr_night');
const RR_NIGHT = at('rr_night');
const HR_DIP = at('hr_dip');
const RR_DIP = at('rr_dip');
const PULSE_BREATH = at('pulse_breath');
const SLEEP_TIME = at('sleep_time');
const DEEP_SHARE = at('deep_share');
const REM_SHARE = at('rem_share');
const LIGHT_SHARE = at('light_share');
const AWAKE = at('awake');
const EFFICIENCY = at('efficiency');
const AGE = at('age');
const SEX = at('sex');
const HEIGHT = at('height');
const WEIGHT = at('weight');
const BMI = at('bmi');

const SECONDS_PER_HOUR = 3600;

const {
  COUNT,
  MEAN,
  SD,
  P10,
  P50,
  P90,
  SLOPE,
  RMSSD,
  IRREGULARITY,
  FIRST,
  LAST,
  NADIR,
  NADIR_AT,
  RECORD_LENGTH,
  TARGET_LENGTH,
} = LAYOUT;

/** Where the summaries of a record begin, from the record on. */
const HR_DAY_SUMMARY = summaryAt(0, 'HR_day_1h');
const RR_DAY_SUMMARY = summaryAt(0, 'RR_day_1h');
const HR_NIGHT_SUMMARY = summaryAt(0, 'HR_night');
const RR_NIGHT_SUMMARY = summaryAt(0, 'RR_night');

const sleep = new Sleep();

/** The tensors of the past of a batch: [rows, PAST_MAX, …], pastIndex 0 the newest. */
export interface PastRows {
  readonly past: Float32Array;
  readonly targets: Float32Array;
  readonly present: Float32Array;
}

/**
 * Writes the feature row of session `session` of `request` (0: the current one) to
 * `row[offset … offset + FEATURE_COUNT)`, which must be zero there.
 */
export function featuriseSession(
  request: PredictionRequest,
  session: number,
  row: Float32Array,
  offset: number,
): void {
  const { records } = request;
  const record = session * RECORD_LENGTH;
  writeSeries(records, record, row, offset);
  normaliseSleep(records, record, sleep);
  writeSleep(row, offset);
  writePerson(records, record, row, offset);
}

/**
 * Writes the past of `request` as row `row` of `into`: pastIndex 0 is the newest session, absent places stay zero, as
 * the whole row must be.
 */
export function featurisePast(request: PredictionRequest, into: PastRows, row: number): void {
  const { pastCount, targets } = request;
  for (let pastIndex = 0; pastIndex < pastCount; pastIndex++) {
    const index = pastCount - 1 - pastIndex;
    const place = row * PAST_MAX + pastIndex;
    featuriseSession(request, 1 + index, into.past, place * FEATURE_COUNT);
    writeTarget(targets, index * TARGET_LENGTH, into.targets, place * TARGET_COUNT);
    into.present[place] = 1;
  }
}

/** The floats of one past target, in the order of `TARGETS`; the labels are ±1 already. */
function writeTarget(targets: Float64Array, target: number, into: Float32Array, offset: number): void {
  for (let index = 0; index < SCORE_FIELDS.length; index++) {
    into[offset + index] = (targets[target + index]! - TARGET_CENTRE) / TARGET_SCALE; // index < TARGET_LENGTH
  }
  for (let index = SCORE_FIELDS.length; index < TARGET_COUNT; index++) {
    into[offset + index] = targets[target + index]!; // index < TARGET_LENGTH
  }
}

// Everything below indexes inside a record or a row: the offsets are the layout's and the catalogue's own.

function writeSeries(records: Float64Array, record: number, row: Float32Array, offset: number): void {
  const hrDay = record + HR_DAY_SUMMARY;
  const rrDay = record + RR_DAY_SUMMARY;
  const hrNight = record + HR_NIGHT_SUMMARY;
  const rrNight = record + RR_NIGHT_SUMMARY;
  const hasHrDay = records[hrDay + COUNT]! > 0;
  const hasRrDay = records[rrDay + COUNT]! > 0;
  const hasHrNight = records[hrNight + COUNT]! > 0;
  const hasRrNight = records[rrNight + COUNT]! > 0;
  if (hasHrDay) writeLevel(records, hrDay, row, offset, HR_DAY);
  if (hasRrDay) {
    const next = writeLevel(records, rrDay, row, offset, RR_DAY);
    put(row, offset, next, records[rrDay + IRREGULARITY]!);
  }
  if (hasHrNight) {
    const next = writeLevel(records, hrNight, row, offset, HR_NIGHT);
    put(row, offset, next, records[hrNight + FIRST]!);
    put(row, offset, next + 1, records[hrNight + LAST]!);
    put(row, offset, next + 2, records[hrNight + NADIR]!);
    put(row, offset, next + 3, records[hrNight + NADIR_AT]!);
  }
  if (hasRrNight) {
    const next = writeLevel(records, rrNight, row, offset, RR_NIGHT);
    put(row, offset, next, records[rrNight + FIRST]!);
    put(row, offset, next + 1, records[rrNight + LAST]!);
    put(row, offset, next + 2, records[rrNight + IRREGULARITY]!);
  }
  const hrNightMean = records[hrNight + MEAN]!;
  const rrNightMean = records[rrNight + MEAN]!;
  if (hasHrDay && hasHrNight) putGroup(row, offset, HR_DIP, records[hrDay + P50]! - hrNightMean);
  if (hasRrDay && hasRrNight) putGroup(row, offset, RR_DIP, records[rrDay + P50]! - rrNightMean);
  if (hasHrNight && hasRrNight) putGroup(row, offset, PULSE_BREATH, hrNightMean / rrNightMean);
}

/** The values that every series has; returns the feature behind them. */
function writeLevel(
  records: Float64Array,
  summary: number,
  row: Float32Array,
  offset: number,
  group: number,
): number {
  row[offset + group] = 1;
  put(row, offset, group + 1, records[summary + MEAN]!);
  put(row, offset, group + 2, records[summary + SD]!);
  put(row, offset, group + 3, records[summary + P10]!);
  put(row, offset, group + 4, records[summary + P50]!);
  put(row, offset, group + 5, records[summary + P90]!);
  put(row, offset, group + 6, records[summary + SLOPE]!);
  put(row, offset, group + 7, records[summary + RMSSD]!);
  put(row, offset, group + 8, Math.log10(records[summary + COUNT]!));
  return group + 9;
}

function writeSleep(row: Float32Array, offset: number): void {
  putKnown(row, offset, SLEEP_TIME, sleep.sleepS / SECONDS_PER_HOUR);
  putKnown(row, offset, DEEP_SHARE, sleep.deepShare);
  putKnown(row, offset, REM_SHARE, sleep.remShare);
  putKnown(row, offset, LIGHT_SHARE, sleep.lightShare);
  putKnown(row, offset, AWAKE, sleep.awakeS / SECONDS_PER_HOUR);
  putKnown(row, offset, EFFICIENCY, sleep.sleepS / (sleep.sleepS + sleep.awakeS));
}

function writePerson(records: Float64Array, record: number, row: Float32Array, offset: number): void {
  const heightCm = records[record + LAYOUT.HEIGHT]!;
  const weightKg = records[record + LAYOUT.WEIGHT]!;
  putKnown(row, offset, AGE, records[record + LAYOUT.AGE]!);
  putKnown(row, offset, SEX, records[record + LAYOUT.SEX]!);
  putKnown(row, offset, HEIGHT, heightCm);
  putKnown(row, offset, WEIGHT, weightKg);
  putKnown(row, offset, BMI, weightKg / (heightCm / 100) ** 2);
}

/** Writes a group of one value unless that is NaN, the sign of a missing one. */
function putKnown(row: Float32Array, offset: number, group: number, value: number): void {
  if (!Number.isNaN(value)) putGroup(row, offset, group, value);
}

function putGroup(row: Float32Array, offset: number, group: number, value: number): void {
  row[offset + group] = 1;
  put(row, offset, group + 1, value);
}

function put(row: Float32Array, offset: number, feature: number, value: number): void {
  const scaled = (value - centres[feature]!) * inverseScales[feature]!; // feature < FEATURE_COUNT
  row[offset + feature] = scaled > ROW_CLAMP ? ROW_CLAMP : scaled < -ROW_CLAMP ? -ROW_CLAMP : scaled;
}
