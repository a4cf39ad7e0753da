import { FEATURES, FEATURE_COUNT, ROW_CLAMP, featureAt } from '../../contract/features.js';
import { PAST_MAX } from '#rules/fields.js';
import { Sleep } from '#rules/sleep.js';
import { TYPICAL_FEATURES } from '../../contract/explanation.js';
import type { ExplainTable, Typical } from '../../model/manifest.js';
import { normaliseSleep } from '../normalise.js';
import { LAYOUT } from '../layout.js';
import type { PredictionRequest } from '../request.js';

/**
 * The day that today is compared with: the person's usual day, if the history's long run has one; for values unknown
 * there, the last nights, pooled with the network's own recency weights; for values unknown there too, the typical
 * value for age and sex. What today lacks, the reference day lacks too; age and sex are today's.
 */

const SLEEP_TIME = featureAt('sleep_time');
const AWAKE = featureAt('awake');
const EFFICIENCY = featureAt('efficiency');
const HEIGHT = featureAt('height');
const WEIGHT = featureAt('weight');
const BMI = featureAt('bmi');
const AGE = featureAt('age');
const SEX = featureAt('sex');
const TYPICAL_PLACES = TYPICAL_FEATURES.map(featureAt);
const SECONDS_PER_HOUR = 3600;

/** Times of a day in hours, not clamped as in a row; NaN if unknown. */
export interface Hours {
  asleep: number;
  awake: number;
}

/** `value`, in the catalogue's unit, as stored in a row. */
export function scaled(feature: number, value: number): number {
  const { centre, scale } = FEATURES[feature]!; // feature < FEATURE_COUNT
  return Math.min(ROW_CLAMP, Math.max(-ROW_CLAMP, (value - centre) / scale));
}

function unscaled(feature: number, value: number): number {
  const { centre, scale } = FEATURES[feature]!; // feature < FEATURE_COUNT
  return centre + scale * value;
}

const sleep = new Sleep();

export function hoursOf(request: PredictionRequest, session: number, into: Hours): void {
  normaliseSleep(request.records, session * LAYOUT.RECORD_LENGTH, sleep);
  into.asleep = sleep.sleepS / SECONDS_PER_HOUR;
  into.awake = sleep.awakeS / SECONDS_PER_HOUR;
}

/** The share of the time in bed asleep; NaN if there was none. */
export function efficiencyOf(asleep: number, awake: number): number {
  return asleep / (asleep + awake);
}

/** Computes reference days for one network. One for each thread. */
export class ReferenceDay {
  /** The features of the reference day; known are those known today. */
  readonly row = new Float32Array(FEATURE_COUNT);
  readonly hours: Hours = { asleep: NaN, awake: NaN };
  private readonly pooled = new Float64Array(FEATURE_COUNT);
  private readonly weight = new Float64Array(FEATURE_COUNT);
  private readonly session: Hours = { asleep: NaN, awake: NaN };
  private typicalEfficiency = NaN;

  constructor(private readonly table: Pick<ExplainTable, 'typical' | 'pooling'>) {}

  /**
   * Computes the day of the last nights of `request`, with the features `today` [F] and `past` [5, F], newest first.
   */
  find(request: PredictionRequest, today: Float32Array, past: Float32Array): void {
    const { row, pooled, weight } = this;
    this.pool(past);
    this.poolHours(request);
    for (let feature = 0; feature < FEATURE_COUNT; feature++) {
      // A mask is a feature too; its own pooled mean is 1 wherever it is known.
      row[feature] = weight[feature]! > 0 ? pooled[feature]! : 0; // all arrays hold FEATURE_COUNT
    }
    this.fillTypical(today);
    this.derive();
    for (let mask = 0; mask < FEATURE_COUNT; mask += 2) {
      row[mask] = today[mask]!; // each group is one mask and one value
      row[mask + 1] = today[mask]! > 0 ? row[mask + 1]! : 0;
    }
    for (const feature of [AGE, SEX]) row[feature] = today[feature]!;
  }

  /** Turns the day of the last nights into the usual one: `usual` as in requests. */
  turnUsual(usual: Float64Array, today: Float32Array): void {
    const { row, hours } = this;
    for (let feature = 1; feature < FEATURE_COUNT; feature += 2) {
      const value = usual[feature]!; // FEATURE_COUNT of them; each group is one mask and one value
      if (!Number.isNaN(value) && today[feature - 1]! > 0) row[feature] = scaled(feature, value);
    }
    if (!Number.isNaN(usual[SLEEP_TIME]!)) hours.asleep = usual[SLEEP_TIME]!;
    if (!Number.isNaN(usual[AWAKE]!)) hours.awake = usual[AWAKE]!;
  }

  private pool(past: Float32Array): void {
    const { pooled, weight, table } = this;
    for (let feature = 0; feature < FEATURE_COUNT; feature++) {
      let sum = 0;
      let known = 0;
      for (let age = 0; age < PAST_MAX; age++) {
        const of = table.pooling[age]![feature]!; // [PAST_MAX, FEATURE_COUNT]
        const mask = past[age * FEATURE_COUNT + feature - (feature % 2)]!;
        sum += of * mask * past[age * FEATURE_COUNT + feature]!;
        known += of * mask;
      }
      pooled[feature] = known > 0 ? sum / known : 0;
      weight[feature] = known;
    }
  }

  private poolHours(request: PredictionRequest): void {
    const { session, hours } = this;
    let asleep = 0;
    let awake = 0;
    for (let age = 0; age < request.pastCount; age++) {
      hoursOf(request, request.pastCount - age, session);
      const weights = this.table.pooling[age]!; // age < PAST_MAX
      if (!Number.isNaN(session.asleep)) asleep += weights[SLEEP_TIME]! * session.asleep;
      if (!Number.isNaN(session.awake)) awake += weights[AWAKE]! * session.awake;
    }
    hours.asleep = asleep / this.weight[SLEEP_TIME]!; // 0 / 0 is NaN, as wanted for an unknown
    hours.awake = awake / this.weight[AWAKE]!;
  }

  /** Fills what the past does not know. */
  private fillTypical(today: Float32Array): void {
    const { row, weight, hours } = this;
    const typical = typicalDay(this.table.typical, today);
    TYPICAL_PLACES.forEach((feature, index) => {
      if (weight[feature]! > 0) return;
      row[feature] = scaled(feature, typical[index]!); // as many as places
      if (feature === SLEEP_TIME) hours.asleep = typical[index]!;
      if (feature === AWAKE) hours.awake = typical[index]!;
    });
    this.typicalEfficiency = efficiencyOf(
      typical[TYPICAL_PLACES.indexOf(SLEEP_TIME)]!, // as many as places
      typical[TYPICAL_PLACES.indexOf(AWAKE)]!,
    );
  }

  /** Computes what follows from two other values, if the past does not know it. */
  private derive(): void {
    const { row, weight, hours } = this;
    if (weight[EFFICIENCY] === 0) {
      const own = efficiencyOf(hours.asleep, hours.awake);
      // A past without sleep and without time awake has no efficiency of its own.
      row[EFFICIENCY] = scaled(EFFICIENCY, Number.isNaN(own) ? this.typicalEfficiency : own);
    }
    if (weight[BMI] === 0) {
      const heightM = unscaled(HEIGHT, row[HEIGHT]!) / 100;
      row[BMI] = scaled(BMI, unscaled(WEIGHT, row[WEIGHT]!) / heightM ** 2);
    }
  }
}

/**
 * The typical day for the age and sex in `today`: interpolated between the ages of the table; the mean of both sexes
 * if none is given.
 */
function typicalDay(typical: Typical, today: Float32Array): readonly number[] {
  const sex = today[SEX - 1]! > 0 ? today[SEX]! : 0;
  const age = today[AGE - 1]! > 0 ? unscaled(AGE, today[AGE]!) : NaN;
  const men = dayAt(typical, 'M', age);
  const women = dayAt(typical, 'F', age);
  if (sex > 0) return men;
  return sex < 0 ? women : men.map((value, index) => (value + women[index]!) / 2); // equally long
}

function dayAt(typical: Typical, sex: 'M' | 'F', age: number): readonly number[] {
  const { ages } = typical;
  if (Number.isNaN(age)) return typical.anyAge[sex];
  const rows = typical[sex];
  const next = ages.findIndex((known) => known > age);
  const [first = [], last = []] = [rows[0], rows.at(-1)];
  if (next === 0) return first;
  if (next === -1) return last;
  const [low = NaN, high = NaN] = ages.slice(next - 1, next + 1);
  const [before = [], after = []] = rows.slice(next - 1, next + 1);
  const share = (age - low) / (high - low);
  return before.map((value, index) => value + share * (after[index]! - value)); // equally long
}
