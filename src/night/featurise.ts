/** Features: the rows of numbers that the network gets, from records. */
import {
  FEATURES,
  FEATURE_COUNT,
  ROW_CLAMP,
  TARGET_CENTRE,
  TARGET_COUNT,
  TARGET_SCALE,
  featureAt,
} from '../contract/features.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { Sleep } from '#rules/sleep.js';
import { LAYOUT } from './layout.js';
import { summaryAt } from './places.js';
import type { PredictionRequest } from './request.js';
import { normaliseSleep } from './normalise.js';
import { isAtRest } from './rest.js';

/** A row is pairs: the mask of a group, then its value. */
const GROUPS = FEATURE_COUNT / 2;
const VALUES = FEATURES.filter((_, place) => place % 2 === 1);
const centres = Float64Array.from(VALUES, ({ centre }) => centre);
const inverseScales = Float64Array.from(VALUES, ({ scale }) => 1 / scale);

function groupAt(name: string): number {
  return featureAt(`${name}_known`) / 2;
}

const HR_DAY = groupAt('hr_day');
const RR_DAY = groupAt('rr_day');
const HR_NIGHT = groupAt('hr_night');
const RR_NIGHT = groupAt('rr_night');
const SLEEP_TIME = groupAt('sleep_time');
const DEEP_SHARE = groupAt('deep_share');
const REM_SHARE = groupAt('rem_share');
const LIGHT_SHARE = groupAt('light_share');
const AWAKE = groupAt('awake');
const EFFICIENCY = groupAt('efficiency');
const AGE = groupAt('age');
const SEX = groupAt('sex');
const HEIGHT = groupAt('height');
const WEIGHT = groupAt('weight');
const BMI = groupAt('bmi');

const SECONDS_PER_HOUR = 3600;

const { COUNT, LEVEL, RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;

/** Where the summaries start, relative to the record. */
const HR_DAY_SUMMARY = summaryAt(0, 'HR_day_1h');
const RR_DAY_SUMMARY = summaryAt(0, 'RR_day_1h');
const HR_NIGHT_SUMMARY = summaryAt(0, 'HR_night');
const RR_NIGHT_SUMMARY = summaryAt(0, 'RR_night');

const sleep = new Sleep();
/** The value of each group; NaN if it is missing. */
const values = new Float64Array(GROUPS);

/** The tensors of a batch's past: [rows, PAST_MAX, …]; pastIndex 0 is the newest. */
export interface PastRows {
  readonly past: Float32Array;
  readonly targets: Float32Array;
  readonly present: Float32Array;
}

/**
 * Writes the feature row of the record that starts at `records[record]` to `row[offset … offset + FEATURE_COUNT)`,
 * which must be zero.
 */
export function featuriseRecord(
  records: Float64Array,
  record: number,
  row: Float32Array,
  offset: number,
): void {
  writeSeries(records, record);
  normaliseSleep(records, record, sleep);
  writeSleep();
  writePerson(records, record);
  // All indices are within a row. A call for each group would cost more.
  for (let group = 0, at = offset; group < GROUPS; group++, at += 2) {
    const value = values[group]!;
    if (Number.isNaN(value)) continue;
    const scaled = (value - centres[group]!) * inverseScales[group]!;
    row[at] = 1;
    row[at + 1] = Math.min(ROW_CLAMP, Math.max(-ROW_CLAMP, scaled));
  }
}

/** The past of one request among others: where its first past record and its first target start. */
export interface PastPlaces {
  readonly record: number;
  readonly target: number;
}

const FIRST_PLACES: PastPlaces = { record: RECORD_LENGTH, target: 0 };

/**
 * Writes the past of `request` as row `row` of `into`: pastIndex 0 is the newest session. The row must be zero
 * before; absent sessions stay zero.
 */
export function featurisePast(
  { records, targets, pastCount }: PredictionRequest,
  into: PastRows,
  row: number,
  { record, target }: PastPlaces = FIRST_PLACES,
): void {
  for (let pastIndex = 0; pastIndex < pastCount; pastIndex++) {
    const index = pastCount - 1 - pastIndex;
    const place = row * PAST_MAX + pastIndex;
    featuriseRecord(records, record + index * RECORD_LENGTH, into.past, place * FEATURE_COUNT);
    writeTarget(targets, target + index * TARGET_LENGTH, into.targets, place * TARGET_COUNT);
    into.present[place] = 1;
  }
}

/** The floats of one past target, in the order of `TARGETS`; labels are already ±1. */
function writeTarget(targets: Float64Array, target: number, into: Float32Array, offset: number): void {
  for (let index = 0; index < SCORE_FIELDS.length; index++) {
    into[offset + index] = (targets[target + index]! - TARGET_CENTRE) / TARGET_SCALE; // index < TARGET_LENGTH
  }
  for (let index = SCORE_FIELDS.length; index < TARGET_COUNT; index++) {
    into[offset + index] = targets[target + index]!; // index < TARGET_LENGTH
  }
}

// All indices below are within a record: the offsets come from the layout.

function writeSeries(records: Float64Array, record: number): void {
  const isRest = isAtRest(records, record);
  values[HR_DAY] = isRest ? levelAt(records, record + HR_DAY_SUMMARY) : NaN;
  values[RR_DAY] = isRest ? levelAt(records, record + RR_DAY_SUMMARY) : NaN;
  values[HR_NIGHT] = levelAt(records, record + HR_NIGHT_SUMMARY);
  values[RR_NIGHT] = levelAt(records, record + RR_NIGHT_SUMMARY);
}

function levelAt(records: Float64Array, summary: number): number {
  return records[summary + COUNT]! > 0 ? records[summary + LEVEL]! : NaN;
}

function writeSleep(): void {
  values[SLEEP_TIME] = sleep.sleepS / SECONDS_PER_HOUR;
  values[DEEP_SHARE] = sleep.deepShare;
  values[REM_SHARE] = sleep.remShare;
  values[LIGHT_SHARE] = sleep.lightShare;
  values[AWAKE] = sleep.awakeS / SECONDS_PER_HOUR;
  values[EFFICIENCY] = sleep.sleepS / (sleep.sleepS + sleep.awakeS);
}

function writePerson(records: Float64Array, record: number): void {
  const heightCm = records[record + LAYOUT.HEIGHT]!;
  const weightKg = records[record + LAYOUT.WEIGHT]!;
  values[AGE] = records[record + LAYOUT.AGE]!;
  values[SEX] = records[record + LAYOUT.SEX]!;
  values[HEIGHT] = heightCm;
  values[WEIGHT] = weightKg;
  values[BMI] = weightKg / (heightCm / 100) ** 2;
}
