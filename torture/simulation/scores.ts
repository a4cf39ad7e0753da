import { CONTRIBUTORS, EXPLANATION } from '#acuity/contract/explanation.js';
import type { ExplainSettings } from '#acuity/pipeline/explanation.js';
import { hundredths } from '#acuity/pipeline/respond.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { LAYOUT } from '#acuity/records/layout.js';

/** Labels of every simulated model. */
export const THRESHOLDS = { valence: 0.5, arousal: 0.45 };

const LIMITS = {
  changes: Array.from({ length: PAST_MAX + 1 }, () => SCORE_FIELDS.map(() => 10)),
  groups: Array.from({ length: PAST_MAX + 1 }, () => CONTRIBUTORS.map(() => SCORE_FIELDS.map(() => 10))),
};

/** Any: nothing here follows from them. */
export const EXPLAIN_SETTINGS: ExplainSettings = {
  notable: { lastNights: LIMITS, usual: LIMITS },
  explained: { alone: SCORE_FIELDS.map(() => 0.1), history: SCORE_FIELDS.map(() => 0.2) },
  widths: { high: 10, medium: 20 },
};

/** What tells a request from every other, and what a model makes of it: an answer that is another's is seen. */
export interface Marks {
  /** Unlike those of all others. */
  readonly weight: number;
  readonly pastCount: number;
  /** Of `pastSumOf`. */
  readonly pastSum: number;
}

/** Of the past scores, in their order. */
export function pastSumOf(compositeScores: Iterable<number>): number {
  let sum = 0;
  for (const score of compositeScores) sum = (Math.imul(sum, 31) + hundredths(score)) | 0;
  return sum;
}

export function marksOf(records: Float64Array, targets: Float64Array, pastCount: number): Marks {
  let pastSum = 0;
  for (let past = 0; past < pastCount; past++)
    pastSum = (Math.imul(pastSum, 31) + hundredths(targets[past * LAYOUT.TARGET_LENGTH] ?? NaN)) | 0;
  return { weight: records[LAYOUT.WEIGHT] ?? NaN, pastCount, pastSum };
}

const bits = new DataView(new ArrayBuffer(8));

/** Five scores and two probabilities, as `model` gives them. */
export function scoresOf(marks: Marks, model: number): Float32Array {
  return Float32Array.from(
    { length: 7 },
    (_, column) => (column < 5 ? 100 : 1) * shareOf(marks, model, column),
  );
}

/** What an explanation is made of: numbers as `EXPLANATION` has them, all of them possible scores. */
export function explanationOf(marks: Marks, model: number): Float32Array {
  return Float32Array.from(
    { length: EXPLANATION.length },
    (_, index) => 100 * shareOf(marks, model, 8 + index),
  );
}

/** From 0 to 1, unlike that of all others. */
function shareOf({ weight, pastCount, pastSum }: Marks, model: number, place: number): number {
  bits.setFloat64(0, weight);
  const mark = bits.getInt32(0) ^ Math.imul(bits.getInt32(4), 0x9e3779b1) ^ Math.imul(pastSum, 0x85ebca6b);
  let mixed = (mark ^ Math.imul((pastCount * 64 + model) * 64 + place + 1, 0xc2b2ae35)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}
