/** The gain from measurements: errors before and after one, two and five of them. */
import { RELIABILITY_BOUNDS, type MeasuredField } from '#rules/fields.js';
import {
  NO_EVIDENCE,
  added,
  adjusted,
  adjustmentOf,
  evidenceOf,
  latentOf,
  offsetOf,
  standingOf,
  weightAfter,
} from '../night/measured.js';
import type { MeasuringConstants } from '../night/measuredRow.js';
import { drawnOver, type Drawn } from './estimates.js';
import type { Grouped } from './nights.js';
import { eachPerson } from './sums.js';

/** The numbers of tests before a night for which the gain is computed. */
export const TESTS = [1, 2, 5] as const;

/** Predictors of a measured percentile: without the network, with the network alone, and with both. */
export const WAYS = ['fifty', 'score', 'mean', 'shrunk', 'measured', 'fitted'] as const;
export type Way = (typeof WAYS)[number];

/** The measured nights: values and the network's scores from 0 to 100, days since 1970. */
export type MeasuredNights = Grouped<'value' | 'score' | 'day'>;

/**
 * The gain from `tests` measurements: mean errors over the same nights, those with that many measurements before
 * them.
 */
export interface Purchase {
  readonly tests: number;
  readonly people: number;
  readonly nights: number;
  readonly errors: Readonly<Record<Way, Drawn>>;
  /** How far the mean error falls from the score alone to the score with measurements; above 0 is a gain. */
  readonly gain: Drawn;
}

export interface MeasuredVerdict {
  /**
   * The share of a measurement's variance that belongs to the person: estimated for these people, and the model's
   * default.
   */
  readonly reliability: Drawn;
  readonly assumed: number;
  readonly purchases: readonly Purchase[];
}

export interface MeasuredOptions {
  readonly field: MeasuredField;
  readonly constants: MeasuringConstants;
  readonly seed: number;
  readonly draws: number;
}

/** How well measurements before a night predict the one on it, by the service's own arithmetic. */
export function judgeMeasured(nights: MeasuredNights, options: MeasuredOptions): MeasuredVerdict {
  const { field, constants } = options;
  const reliability = reliabilityOf(nights, options);
  const assumed = constants.reliability[field];
  const { minimum, maximum } = RELIABILITY_BOUNDS;
  const fitted = Math.min(maximum, Math.max(minimum, reliability.value || minimum));
  const purchases = TESTS.map((tests) => purchaseOf(nights, { ...options, tests, assumed, fitted })).filter(
    ({ nights: judged }) => judged > 0,
  );
  return { reliability, assumed, purchases };
}

interface PurchaseOptions extends MeasuredOptions {
  readonly tests: number;
  readonly assumed: number;
  readonly fitted: number;
}

const WIDTH = 1 + WAYS.length;

function purchaseOf(nights: MeasuredNights, options: PurchaseOptions): Purchase {
  const { starts, value } = nights;
  const { tests } = options;
  const sums: Float64Array[] = [];
  eachPerson(starts, (from, to) => {
    if (to - from <= tests) return;
    const own = new Float64Array(WIDTH);
    for (let night = from + tests; night < to; night++) {
      const said = foretold(nights, night, options);
      own[0] = (own[0] ?? 0) + 1;
      for (const [place, way] of WAYS.entries())
        own[1 + place] = (own[1 + place] ?? 0) + Math.abs((value[night] ?? NaN) - said[way]);
    }
    sums.push(own);
  });
  const { errors, gain } = drawnOver(
    sums,
    ([count = NaN, ...totals]) => {
      const errors = Object.fromEntries(WAYS.map((way, place) => [way, (totals[place] ?? NaN) / count]));
      const { score = NaN, measured = NaN } = errors;
      return { errors: errors as Record<Way, number>, gain: score - measured };
    },
    options,
  );
  return {
    tests,
    people: sums.length,
    nights: sums.reduce((sum, own) => sum + (own[0] ?? 0), 0),
    errors,
    gain,
  };
}

/** Each predictor's value for a night, from the `tests` measurements before it. */
function foretold(
  { value, score, day }: MeasuredNights,
  night: number,
  { field, constants, tests, assumed, fitted }: PurchaseOptions,
): Record<Way, number> {
  const own = score[night] ?? NaN;
  const halfLife = constants.halfLifeDays[field];
  let sum = 0;
  const evidence = { assumed: NO_EVIDENCE, fitted: NO_EVIDENCE };
  for (let before = night - tests; before < night; before++) {
    sum += value[before] ?? NaN;
    const weight = weightAfter((day[night] ?? NaN) - (day[before] ?? NaN), halfLife);
    const standing = standingOf(field, value[before] ?? NaN);
    const latent = latentOf(field, score[before] ?? NaN);
    evidence.assumed = added(evidence.assumed, evidenceOf(standing, latent, assumed, weight));
    evidence.fitted = added(evidence.fitted, evidenceOf(standing, latent, fitted, weight));
  }
  const served = (of: typeof NO_EVIDENCE): number => {
    const adjustment = adjustmentOf(of);
    if (adjustment === undefined) return own;
    return adjusted(field, own, offsetOf(field, adjustment, own), adjustment.scale);
  };
  const mean = sum / tests;
  const shrinkage = (tests * fitted) / (1 + (tests - 1) * fitted);
  return {
    fifty: 50,
    score: own,
    mean,
    shrunk: 50 + shrinkage * (mean - 50),
    measured: served(evidence.assumed),
    fitted: served(evidence.fitted),
  };
}

/** The intraclass correlation of the measurements' residuals from the network: one-way analysis of variance. */
function reliabilityOf({ starts, value, score }: MeasuredNights, options: MeasuredOptions): Drawn {
  const { field } = options;
  const sums: Float64Array[] = [];
  eachPerson(starts, (from, to) => {
    if (to - from < 2) return;
    let total = 0;
    let squares = 0;
    for (let night = from; night < to; night++) {
      const rest = standingOf(field, value[night] ?? NaN) - latentOf(field, score[night] ?? NaN);
      total += rest;
      squares += rest * rest;
    }
    const count = to - from;
    // The sums of each person, and the square of the mean: both the variance between people and that within them add
    // up over people.
    sums.push(Float64Array.of(count, total, squares, count * count, (total * total) / count, 1));
  });
  const { reliability } = drawnOver(
    sums,
    (all) => {
      const [count = 0, total = 0, squares = 0, countSquares = 0, means = 0, people = 0] = all;
      const between = (means - (total * total) / count) / (people - 1);
      const within = (squares - means) / (count - people);
      const each = (count - countSquares / count) / (people - 1);
      return { reliability: (between - within) / (between + (each - 1) * within) };
    },
    options,
  );
  return reliability;
}
