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

const centres = Float64Array.from(FEATURES, (feature) => feature.centre);
const inverseScales = Float64Array.from(FEATURES, (feature) => 1 / feature.scale);

/** Where a group starts in a row: its mask, then its values. */
function at(group: string): number {
  return featureAt(`${group}_known`);
}

const HR_DAY = at('hr_day');
const RR_DAY = at('rr_day');
const HR_NIGHT = at('hr_night');
const RR_NIGHT = at('rr_night');
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

const { COUNT, LEVEL, RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;

/** Where the summaries start, relative to the record. */
const HR_DAY_SUMMARY = summaryAt(0, 'HR_day_1h');
const RR_DAY_SUMMARY = summaryAt(0, 'RR_day_1h');
const HR_NIGHT_SUMMARY = summaryAt(0, 'HR_night');
const RR_NIGHT_SUMMARY = summaryAt(0, 'RR_night');

const sleep = new Sleep();

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
  writeSeries(records, record, row, offset);
  normaliseSleep(records, record, sleep);
  writeSleep(row, offset);
  writePerson(records, record, row, offset);
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

// All indices below are within a record or a row: the offsets come from the layout and the catalogue.

function writeSeries(records: Float64Array, record: number, row: Float32Array, offset: number): void {
  if (isAtRest(records, record)) {
    writeLevel(records, record + HR_DAY_SUMMARY, row, offset, HR_DAY);
    writeLevel(records, record + RR_DAY_SUMMARY, row, offset, RR_DAY);
  }
  writeLevel(records, record + HR_NIGHT_SUMMARY, row, offset, HR_NIGHT);
  writeLevel(records, record + RR_NIGHT_SUMMARY, row, offset, RR_NIGHT);
}

function writeLevel(
  records: Float64Array,
  summary: number,
  row: Float32Array,
  offset: number,
  group: number,
): void {
  if (records[summary + COUNT]! > 0) putGroup(row, offset, group, records[summary + LEVEL]!);
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

/** Writes a group of one value unless it is NaN, which means missing. */
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
