import type { Norm } from './norm.js';
import { TABLES, type NormName } from './normTables.js';

/** The norms of the client, by name. */
export const NORMS: Readonly<Record<NormName, Norm>> = TABLES;

/** The person of a result: age in years; without a sex, the percentile is among both. */
export interface Tested {
  readonly age: number;
  readonly sex?: 'M' | 'F' | null;
}

/** The end of an age band without an upper end. */
const OLDEST = 130;

/**
 * The percentile of a raw result among people of that age and sex, to a tenth: the `value` of a measurement.
 *
 * It is that of a normal distribution with the mean of the age band, shifted by the difference of the sex from all
 * people, and the band's standard deviation. `norm`: the name of one of `NORMS`, or one of your own in the same
 * form.
 * @throws RangeError if the norm is unknown or has no such age, or if the result is outside the test's scale
 */
export function percentileOf(norm: NormName | Norm, result: number, { age, sex }: Tested): number {
  const { name, table } = found(norm);
  const { least, most, isWhole, unit, ages, sexes, mean } = table;
  const isOnScale = result >= least && result <= most && (!isWhole || Number.isInteger(result));
  if (!isOnScale)
    throw new RangeError(`${name} is a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}: ${unit}`);
  if (sex !== undefined && sex !== null && sex !== 'M' && sex !== 'F')
    throw new RangeError("sex is 'M', 'F' or null");
  const years = Math.floor(age);
  const band = ages.find(({ from, to }) => years >= from && years <= to);
  if (band === undefined)
    throw new RangeError(
      `${name}: the norm is of people ${spanOf(ages)}; it has no percentile for another age`,
    );
  const shift = sex === undefined || sex === null ? 0 : sexes[sex].mean - mean;
  return Math.round(1000 * normalCdf((result - band.mean - shift) / band.sd)) / 10;
}

/**
 * The sum of the ten answers to the Perceived Stress Scale, 0 (never) to 4 (very often), in the order of the scale:
 * 0 to 40. Pass the answers unchanged: questions 4, 5, 7 and 8, which ask about good things, are reversed here.
 * @throws RangeError unless there are ten answers of 0 to 4
 */
export function pss10Sum(answers: readonly number[]): number {
  const isWhole = answers.length === 10 && answers.every((answer) => [0, 1, 2, 3, 4].includes(answer));
  if (!isWhole) throw new RangeError('the Perceived Stress Scale has ten answers, each 0, 1, 2, 3 or 4');
  return answers.reduce((sum, answer, index) => sum + (TURNED.has(index + 1) ? 4 - answer : answer), 0);
}

const TURNED: ReadonlySet<number> = new Set([4, 5, 7, 8]);
/** A faster press came before the signal could be seen. */
const FALSE_START_MS = 100;
const REACTIONS_MIN = 20;

/**
 * The mean speed of a vigilance test, in reactions a second: the mean of 1000 / milliseconds. Presses within 100 ms
 * of the signal are false starts and left out.
 * @param reactionsMs  at least 20 after that, 100 to 30,000 ms each
 * @throws RangeError if there are fewer, or one is longer, which is no reaction
 */
export function vigilanceSpeed(reactionsMs: readonly number[]): number {
  const reactions = reactionsMs.filter((ms) => !(ms < FALSE_START_MS));
  if (reactions.length < REACTIONS_MIN)
    throw new RangeError(`a vigilance test has at least ${REACTIONS_MIN} reactions of 100 ms and more`);
  if (!reactions.every((ms) => ms <= 30_000))
    throw new RangeError('a reaction is at most 30,000 milliseconds');
  return reactions.reduce((sum, ms) => sum + 1000 / ms, 0) / reactions.length;
}

function found(norm: NormName | Norm): { name: string; table: Norm } {
  if (typeof norm === 'object') return { name: norm.title, table: norm };
  if (Object.hasOwn(TABLES, norm)) return { name: norm, table: TABLES[norm] };
  throw new RangeError(`there is no such norm; there are ${Object.keys(TABLES).join(', ')}`);
}

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

/** The standard normal distribution function (Abramowitz and Stegun 7.1.26; error below 1e-7). */
function normalCdf(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const tail = 0.5 * series * Math.exp(-x * x);
  return z < 0 ? tail : 1 - tail;
}
