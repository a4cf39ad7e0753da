/** Raw results of tests, and their percentiles by a norm. */
import { ANSWERS, REACTIONS } from '#rules/fields.js';
import type { Norm } from '../contract/norms.js';
import { normalCdf } from './normal.js';

/**
 * The percentile of a result, in hundredths, among people of that age in years and that sex; without a sex, of both.
 * Undefined if the norm has no people of that age.
 *
 * It is that of a normal distribution with the mean of the age band, shifted by the difference of the sex from all
 * people, and the band's standard deviation.
 */
export function percentileOf(
  { ages, sexes, mean }: Norm,
  result: number,
  { age, sex }: { readonly age: number; readonly sex: 'M' | 'F' | undefined },
): number | undefined {
  const years = Math.floor(age);
  const band = ages.find(({ from, to }) => years >= from && years <= to);
  if (band === undefined) return undefined;
  const shift = sex === undefined ? 0 : sexes[sex].mean - mean;
  return Math.round(10_000 * normalCdf((result - band.mean - shift) / band.sd)) / 100;
}

export function isOnScale({ least, most, isWhole }: Norm, result: number): boolean {
  return result >= least && result <= most && (!isWhole || Number.isInteger(result));
}

/** The scale of a test and the ages of its norm, as a sentence. */
export function scaleOf(name: string, { least, most, isWhole, unit, ages }: Norm): string {
  const number = `${isWhole ? 'whole ' : ''}number from ${least} to ${most}`;
  return `${name} is a ${number} (${unit}), and its norm is of people ${spanOf(ages)}`;
}

/** The end of an age band without an upper end. */
const OLDEST = 130;

function spanOf(ages: Norm['ages']): string {
  const spans: { from: number; to: number }[] = [];
  for (const { from, to } of ages) {
    const last = spans.at(-1);
    if (last?.to === from - 1) last.to = to;
    else spans.push({ from, to });
  }
  return spans
    .map(({ from, to }) => (to === OLDEST ? `of ${from} and over` : `of ${from} to ${to}`))
    .join(' and ');
}

/** A faster press came before the signal could be seen. */
const FALSE_START_MS = 100;

/** How a result may come as a list of numbers: its field, its length, and the result; NaN if the list is not as `expected`. */
const ANSWERED = {
  field: 'answers',
  least: ANSWERS.count,
  most: ANSWERS.count,
  expected: 'the ten answers to the scale in their order, each 0, 1, 2, 3 or 4',
  resultOf: pss10Sum,
} as const;
const REACTED = {
  field: 'reactions_ms',
  ...REACTIONS,
  expected: `at least ${REACTIONS.least} reactions of ${FALSE_START_MS} to ${REACTIONS.maximumMs} milliseconds`,
  resultOf: vigilanceSpeed,
} as const;
export type ListedResult = typeof ANSWERED | typeof REACTED;

/** By the name of the test. */
export const LISTED: ReadonlyMap<string, ListedResult> = new Map<string, ListedResult>([
  ['pss10', ANSWERED],
  ['vigilance_speed', REACTED],
]);

/** The questions that ask about good things. */
const TURNED: ReadonlySet<number> = new Set([4, 5, 7, 8]);

/** The sum of the answers to the Perceived Stress Scale, 0 (never) to 4 (very often), as they were given: 0 to 40. */
function pss10Sum(answers: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < answers.length; index++) {
    const answer = answers[index]!; // index < length
    if (!(Number.isInteger(answer) && answer >= 0 && answer <= ANSWERS.maximum)) return NaN;
    sum += TURNED.has(index + 1) ? ANSWERS.maximum - answer : answer;
  }
  return sum;
}

/** The mean of 1000 / milliseconds. Presses within 100 ms of the signal are false starts and left out. */
function vigilanceSpeed(reactionsMs: Float32Array): number {
  let sum = 0;
  let count = 0;
  for (let index = 0; index < reactionsMs.length; index++) {
    const ms = reactionsMs[index]!; // index < length
    if (ms > REACTIONS.maximumMs) return NaN;
    if (ms < FALSE_START_MS) continue;
    sum += 1000 / ms;
    count++;
  }
  return count < REACTIONS.least ? NaN : sum / count;
}
