import { hundredths } from '#acuity/night/respond.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import { LAYOUT } from '#acuity/night/layout.js';

/** Labels of every simulated model. */
export const THRESHOLDS = { valence: 0.5, arousal: 0.45 };

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
  const past = Array.from({ length: pastCount }, (_, at) => targets[at * LAYOUT.TARGET_LENGTH] ?? NaN);
  return { weight: records[LAYOUT.WEIGHT] ?? NaN, pastCount, pastSum: pastSumOf(past) };
}

const bits = new DataView(new ArrayBuffer(8));

/** Five scores and two probabilities, as `model` gives them. */
export function scoresOf(marks: Marks, model: number): Float32Array {
  return Float32Array.from(
    { length: 7 },
    (_, column) => (column < 5 ? 100 : 1) * shareOf(marks, model, column),
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

/** Where an answer is not what `model` gives this session; undefined where it is. */
export function scoreFault(said: object, marks: Marks, model: number): string | undefined {
  const scores = scoresOf(marks, model);
  const [valence = NaN, arousal = NaN] = scores.subarray(SCORE_FIELDS.length);
  const due = {
    ...Object.fromEntries(SCORE_FIELDS.map((field, at) => [field, hundredths(scores[at] ?? NaN) / 100])),
    valence: valence >= THRESHOLDS.valence ? 'High' : 'Low',
    arousal: arousal >= THRESHOLDS.arousal ? 'High' : 'Low',
  };
  const wrong = Object.entries(due).find(
    ([field, value]) => (said as Readonly<Record<string, unknown>>)[field] !== value,
  );
  return wrong && `the scores of another request: ${wrong[0]}`;
}
