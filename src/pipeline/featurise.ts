import {
  FEATURES,
  FEATURE_COUNT,
  FEATURE_INDEX,
  ROW_CLAMP,
  TARGET_CENTRE,
  TARGET_COUNT,
  TARGET_SCALE,
} from '../contract/features.js';
import {
  LABEL_FIELDS,
  PAST_MAX,
  SCORE_FIELDS,
  type LiftedSession,
  type PredictionRequest,
  type ScoreRecord,
  type SeriesField,
} from '../contract/request.js';
import { Sleep, normaliseSleep } from './normalise.js';
import { HEART_RATE, RESPIRATORY_RATE, SeriesSummary, summarise, type SampleRange } from './series.js';

/** Floats of a row without history: the current session alone. */
export const BASE_ROW_LENGTH = FEATURE_COUNT;
/** Floats that one past session adds to a row: its features, its target, and 1 for "this slot is taken". */
export const PAST_SLOT_LENGTH = FEATURE_COUNT + TARGET_COUNT + 1;

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

/** The series of a session, in the order of `SERIES_FIELDS`. */
const hrDay = new SeriesSummary();
const rrDay = new SeriesSummary();
const hrNight = new SeriesSummary();
const rrNight = new SeriesSummary();
const sleep = new Sleep();

/** The samples of a request: series k is `samples[bounds[2k] … bounds[2k + 1])`. */
export interface Samples {
  readonly samples: Float32Array;
  readonly bounds: Int32Array;
}

/** What `featurise` found: how many past sessions the row holds, or a unit error somewhere. */
export type Featurised = 'done' | 'unit_error';

/**
 * Writes the feature row of one session to `row[offset … offset + FEATURE_COUNT)`, which must be zero there.
 * Says whether some series is most likely in another unit; the row is of no use then.
 */
export function featuriseSession(
  session: LiftedSession,
  samples: Samples,
  row: Float32Array,
  offset: number,
): Featurised {
  summariseField(session.HR_day_1h, samples, HEART_RATE, hrDay);
  summariseField(session.RR_day_1h, samples, RESPIRATORY_RATE, rrDay);
  summariseField(session.HR_night, samples, HEART_RATE, hrNight);
  summariseField(session.RR_night, samples, RESPIRATORY_RATE, rrNight);
  if (hrDay.isUnitError || rrDay.isUnitError || hrNight.isUnitError || rrNight.isUnitError)
    return 'unit_error';
  normaliseSleep(session, sleep);
  writeSeries(row, offset);
  writeSleep(row, offset);
  writePerson(session, row, offset);
  return 'done';
}

/** The fields of `session` that `featuriseSession` calls a unit error, in the contract's order. */
export function unitErrorFields(session: LiftedSession, samples: Samples): SeriesField[] {
  const found: SeriesField[] = [];
  const summary = new SeriesSummary();
  const look = (field: SeriesField, range: SampleRange): void => {
    summariseField(session[field], samples, range, summary);
    if (summary.isUnitError) found.push(field);
  };
  look('HR_day_1h', HEART_RATE);
  look('RR_day_1h', RESPIRATORY_RATE);
  look('HR_night', HEART_RATE);
  look('RR_night', RESPIRATORY_RATE);
  return found;
}

/**
 * Writes the past of `request` behind one another: slot 0 is the newest session, absent slots stay zero.
 * `past`, `targets` and `present` must be zero from the given offsets on.
 */
export function featurisePast(request: PredictionRequest, into: PastRows, row: number): Featurised {
  const { past, targets } = request;
  for (let slot = 0; slot < past.length; slot++) {
    const index = past.length - 1 - slot;
    const session = past[index];
    const target = targets[index];
    if (session === undefined || target === undefined) throw new Error('past and targets differ in length');
    const place = row * PAST_MAX + slot;
    if (featuriseSession(session, request, into.past, place * FEATURE_COUNT) === 'unit_error')
      return 'unit_error';
    writeTarget(target, into.targets, place * TARGET_COUNT);
    into.present[place] = 1;
  }
  return 'done';
}

/** The tensors of the past of a batch: [rows, PAST_MAX, …], slot 0 the newest. */
export interface PastRows {
  readonly past: Float32Array;
  readonly targets: Float32Array;
  readonly present: Float32Array;
}

/** The floats of one past target, in the order of `TARGETS`. */
export function writeTarget(target: ScoreRecord, into: Float32Array, offset: number): void {
  let index = offset;
  for (const field of SCORE_FIELDS) into[index++] = (target[field] - TARGET_CENTRE) / TARGET_SCALE;
  for (const field of LABEL_FIELDS) into[index++] = target[field] === 'High' ? 1 : -1;
}

function summariseField(
  lifted: LiftedSession[SeriesField],
  { samples, bounds }: Samples,
  range: SampleRange,
  summary: SeriesSummary,
): void {
  const series = lifted?.[0];
  if (series === undefined) {
    summary.count = 0;
    summary.implausible = 0;
    return;
  }
  summarise(samples, bounds[2 * series]!, bounds[2 * series + 1]!, range, summary); // the readers bound k
}

function writeSeries(row: Float32Array, offset: number): void {
  if (hrDay.count > 0) writeLevel(row, offset, HR_DAY, hrDay);
  if (rrDay.count > 0) {
    const next = writeLevel(row, offset, RR_DAY, rrDay);
    put(row, offset, next, rrDay.irregularity);
  }
  if (hrNight.count > 0) {
    const next = writeLevel(row, offset, HR_NIGHT, hrNight);
    put(row, offset, next, hrNight.first);
    put(row, offset, next + 1, hrNight.last);
    put(row, offset, next + 2, hrNight.nadir);
    put(row, offset, next + 3, hrNight.nadirAt);
  }
  if (rrNight.count > 0) {
    const next = writeLevel(row, offset, RR_NIGHT, rrNight);
    put(row, offset, next, rrNight.first);
    put(row, offset, next + 1, rrNight.last);
    put(row, offset, next + 2, rrNight.irregularity);
  }
  if (hrDay.count > 0 && hrNight.count > 0) putGroup(row, offset, HR_DIP, hrDay.p50 - hrNight.mean);
  if (rrDay.count > 0 && rrNight.count > 0) putGroup(row, offset, RR_DIP, rrDay.p50 - rrNight.mean);
  if (hrNight.count > 0 && rrNight.count > 0) {
    putGroup(row, offset, PULSE_BREATH, hrNight.mean / rrNight.mean);
  }
}

/** The values that every series has; returns the index behind them. */
function writeLevel(row: Float32Array, offset: number, group: number, summary: SeriesSummary): number {
  row[offset + group] = 1;
  put(row, offset, group + 1, summary.mean);
  put(row, offset, group + 2, summary.sd);
  put(row, offset, group + 3, summary.p10);
  put(row, offset, group + 4, summary.p50);
  put(row, offset, group + 5, summary.p90);
  put(row, offset, group + 6, summary.slope);
  put(row, offset, group + 7, summary.rmssd);
  put(row, offset, group + 8, Math.log10(summary.count));
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

function writePerson(session: LiftedSession, row: Float32Array, offset: number): void {
  const heightCm = session.height_cm ?? NaN;
  const weightKg = session.weight_kg ?? NaN;
  putKnown(row, offset, AGE, session.age ?? NaN);
  if (session.sex === 'M') putGroup(row, offset, SEX, 1);
  if (session.sex === 'F') putGroup(row, offset, SEX, -1);
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
