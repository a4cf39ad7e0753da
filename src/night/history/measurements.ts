import { MEASURED_FIELDS, SCORE_BOUNDS, type MeasuredField } from '#rules/fields.js';
import {
  LABEL_VALUES,
  NO_EVIDENCE,
  added,
  evidenceOf,
  faded,
  isLabel,
  standingOf,
  weightAfter,
  type Evidence,
} from '../measured.js';
import type { MeasuringConstants } from '../measuredRow.js';

/** The measurements in a history: of tests, questionnaires and ratings. */
export class Measurements {
  /** In the order of `MEASURED_FIELDS`; undefined without measurements. */
  readonly scores: (MeasuredScore | undefined)[] = MEASURED_FIELDS.map(() => undefined);
  isEmpty = true;

  clear(): void {
    if (this.isEmpty) return;
    this.scores.fill(undefined);
    this.isEmpty = true;
  }

  /** The day of the newest; NaN without any. */
  get latestDay(): number {
    return this.scores.reduce((latest, score) => {
      const day = score?.kept.at(-1)?.day ?? NaN;
      return day <= latest ? latest : Number.isNaN(day) ? latest : day;
    }, NaN);
  }

  /**
   * Adds a measurement, and sums up the oldest if there are too many. False if it comes too late: on or before the
   * day of the newest summed-up one, which it may be part of. Call it in order of the days, so that the order in
   * which they were sent makes no difference.
   */
  add(
    field: MeasuredField,
    measurement: KeptMeasurement,
    { halfLifeDays }: MeasuringConstants,
    latentOf: LatentOfDay,
  ): boolean {
    const index = MEASURED_FIELDS.indexOf(field);
    const { kept, older } = this.scores[index] ?? { kept: [], older: undefined };
    if (older !== undefined && measurement.day <= older.day) return false;
    const all = kept.filter(({ day }) => day !== measurement.day);
    all.splice(all.findLastIndex(({ day }) => day < measurement.day) + 1, 0, measurement);
    const [oldest] = all;
    const isOneTooMany = oldest !== undefined && all.length > KEPT_MAX;
    this.scores[index] = isOneTooMany
      ? { kept: all.slice(1), older: summed(field, older, oldest, halfLifeDays[field], latentOf) }
      : { kept: all, older };
    this.isEmpty = false;
    return true;
  }

  /** All measurements of `field`, weighted for `today`. */
  evidence(
    field: MeasuredField,
    today: number,
    { halfLifeDays }: MeasuringConstants,
    latentOf: LatentOfDay,
  ): Evidence {
    const score = this.scores[MEASURED_FIELDS.indexOf(field)];
    if (score === undefined) return NO_EVIDENCE;
    const halfLife = halfLifeDays[field];
    const { kept, older } = score;
    const first =
      older === undefined ? NO_EVIDENCE : faded(older.evidence, weightAfter(today - older.day, halfLife));
    return kept.reduce((sum, { value, reliability, day }) => {
      const weight = weightAfter(today - day, halfLife);
      return added(sum, evidenceOf(placeOf(field, value), latentOf(field, day), reliability, weight));
    }, first);
  }
}

/** For each score and label, this many of the latest measurements (by day) are kept one by one. */
export const KEPT_MAX = 8;

/** One measurement as stored in a history. */
export interface KeptMeasurement {
  /** 0 to 100 in hundredths; for a label, 100 is High and 0 is Low. */
  readonly value: number;
  /** In ten-thousandths. */
  readonly reliability: number;
  /** Days since 1970. */
  readonly day: number;
}

/** The sum of measurements no longer kept one by one, in 32-bit floats. */
export interface OlderMeasurements {
  /** The day of the newest of them; the sum decays from there on. */
  readonly day: number;
  /** As of that day. Each was compared with what was known when it was summed up, so `own` is 0. */
  readonly evidence: Evidence;
}

/** λ of a day; undefined for the current night. */
export type LatentOfDay = (field: MeasuredField, day: number) => number | undefined;

/** The measurements of one score or label. */
export interface MeasuredScore {
  /** Oldest first, on different days. */
  kept: readonly KeptMeasurement[];
  /** Undefined while there are at most `KEPT_MAX`. */
  older: OlderMeasurements | undefined;
}

/** The position of a kept value on the scale of λ. */
function placeOf(field: MeasuredField, value: number): number {
  return standingOf(field, isLabel(field) ? LABEL_VALUES[value > 0 ? 'High' : 'Low'] : value);
}

/** `oldest` added to those summed up before it. */
function summed(
  field: MeasuredField,
  older: OlderMeasurements | undefined,
  { value, reliability, day }: KeptMeasurement,
  halfLife: number,
  latentOf: LatentOfDay,
): OlderMeasurements {
  const before =
    older === undefined ? NO_EVIDENCE : faded(older.evidence, weightAfter(day - older.day, halfLife));
  const latent = latentOf(field, day) ?? latentOf(field, NaN);
  const evidence = added(before, evidenceOf(placeOf(field, value), latent, reliability, 1));
  return { day, evidence: inFloats(evidence) };
}

function inFloats({ pull, precision, shares, weight }: Evidence): Evidence {
  return {
    pull: Math.fround(pull) + 0, // no −0
    precision: Math.fround(precision),
    own: 0,
    shares: Math.fround(shares),
    weight: Math.fround(weight),
  };
}

const HUNDREDTHS = 100;
const RELIABILITY_ONE = 10_000;

/** A measurement as stored: rounded, so that a history that comes back says the same. */
export function keptOf(value: number | 'Low' | 'High', reliability: number, day: number): KeptMeasurement {
  const percent =
    typeof value === 'number' ? value : value === 'High' ? SCORE_BOUNDS.maximum : SCORE_BOUNDS.minimum;
  return {
    value: Math.round(percent * HUNDREDTHS) / HUNDREDTHS,
    reliability: Math.round(reliability * RELIABILITY_ONE) / RELIABILITY_ONE,
    day,
  };
}
