import { CONTRIBUTORS, MIXTURES } from '../../contract/explanation.js';
import { FEATURE_COUNT, featureAt } from '../../contract/features.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import { efficiencyOf, scaled, type Hours } from './referenceDay.js';

/** Mixtures of two days, and how much each group of features contributes to the difference of their scores. */

const AMOUNT = CONTRIBUTORS.findIndex(({ group }) => group === 'sleep_amount');
const QUALITY = CONTRIBUTORS.findIndex(({ group }) => group === 'sleep_quality');
const PLACES = CONTRIBUTORS.map(({ features }) => features.map(featureAt));
const EFFICIENCY = featureAt('efficiency');

/** A day as a row, and its times without clamping. */
export interface MixedDay {
  readonly row: Float32Array;
  readonly hours: Hours;
}

/**
 * Writes all mixtures to `rows` [64, F]: mixture m has today's group g if bit g of m is set. Efficiency belongs to
 * two groups, so it is recomputed if these come from different days.
 */
export function writeMixtures(today: MixedDay, reference: MixedDay, rows: Float32Array): void {
  const isKnown = today.row[EFFICIENCY - 1]! > 0; // its mask
  for (let mixture = 0; mixture < MIXTURES; mixture++) {
    const at = mixture * FEATURE_COUNT;
    rows.set(reference.row, at);
    for (let group = 0; group < PLACES.length; group++) {
      if (((mixture >> group) & 1) === 0) continue;
      for (const feature of PLACES[group]!) rows[at + feature] = today.row[feature]!; // group < PLACES.length
    }
    if (isKnown) rows[at + EFFICIENCY] = mixedEfficiency(today, reference, mixture);
  }
}

function mixedEfficiency(today: MixedDay, reference: MixedDay, mixture: number): number {
  const amount = ((mixture >> AMOUNT) & 1) === 1 ? today : reference;
  const quality = ((mixture >> QUALITY) & 1) === 1 ? today : reference;
  const own = amount.row[EFFICIENCY]!;
  if (amount === quality) return own;
  const mixed = efficiencyOf(amount.hours.asleep, quality.hours.awake);
  return Number.isNaN(mixed) ? own : scaled(EFFICIENCY, mixed);
}

const COUNT = CONTRIBUTORS.length;
const POINTS = SCORE_FIELDS.length;
/** By size of a coalition without the group: (size)! (groups − size − 1)! / groups! */
const WEIGHTS = Array.from(
  { length: COUNT },
  (_, size) => (factorial(size) * factorial(COUNT - size - 1)) / factorial(COUNT),
);

function factorial(n: number): number {
  return n <= 1 ? 1 : n * factorial(n - 1);
}

const SIZES = Array.from({ length: MIXTURES }, (_, mixture) => {
  let size = 0;
  for (let bits = mixture; bits > 0; bits >>= 1) size += bits & 1;
  return size;
});

/**
 * Exact Shapley values: `scores` are those of all mixtures, [64, columns], of which the first five columns count;
 * writes [groups, 5] to `into[offset …]`.
 */
export function writeShapley(
  scores: Float32Array,
  columns: number,
  into: Float32Array,
  offset: number,
): void {
  for (let group = 0; group < COUNT; group++) {
    const bit = 1 << group;
    for (let score = 0; score < POINTS; score++) {
      let sum = 0;
      for (let mixture = 0; mixture < MIXTURES; mixture++) {
        if ((mixture & bit) !== 0) continue;
        const gain = scores[(mixture | bit) * columns + score]! - scores[mixture * columns + score]!; // [64, columns]
        sum += WEIGHTS[SIZES[mixture]!]! * gain;
      }
      into[offset + group * POINTS + score] = sum;
    }
  }
}
