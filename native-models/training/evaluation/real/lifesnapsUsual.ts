import { join } from 'node:path';
import { PAST_MAX } from '#rules/fields.js';
import type { Session } from '#acuity/contract/request.js';
import { EXPLANATION } from '#acuity/contract/explanation.js';
import { Lives, longRunOf } from '../../cohort/lives.js';
import type { ExplainedModel } from '../../explained.js';
import { COLUMN, type ServedModel } from '../../served.js';
import { correlation } from '../leastSquares.js';
import { mean, quantile } from '../statistics.js';
import { groupRows, readCsv } from './csv.js';
import { LIFESNAPS, lifesnapsSessions } from './lifesnaps.js';

/** Days of LifeSnaps compared with the person's own median, and what explanations say of them. */

/** The own median is that of so many days before. */
const MEDIAN_DAYS = 20;
/** A day this far from the own median is clearly below or above it. */
const CLEARLY = 5;
/** Half-life of the long run in nights; against the last nights, as by lists. */
export type Against = number | 'last nights';

/** One score of one day, in points. */
interface Told {
  readonly deviation: number;
  readonly change: number;
}

export interface Truth {
  readonly against: Against;
  readonly correlation: number;
  /** Days clearly below the own median: how many, and which share is told to be above the reference day. */
  readonly worse: number;
  readonly toldBetter: number;
}

/** Undefined where the data are not there. */
export function lifesnapsLives(folder: string): Session[][] | undefined {
  const rows = readCsv(join(folder, LIFESNAPS));
  return rows && lifesnapsSessions(groupRows(rows, 'id'));
}

/** Attention of real days, against each reference. */
export async function truthOf(
  people: readonly (readonly Session[])[],
  { model, explained }: { readonly model: ServedModel; readonly explained: ExplainedModel },
  againsts: readonly Against[],
): Promise<Truth[]> {
  const told = new Map(againsts.map((against) => [against, [] as Told[]]));
  for (const sessions of people) {
    const lives = Lives.read(sessions);
    await lives.rollOut(model);
    for (let day = MEDIAN_DAYS; day < sessions.length; day++) {
      for (const [against, into] of told) {
        const request =
          against === 'last nights'
            ? lives.request(0, day, PAST_MAX)
            : lives.requestWithUsual(0, day, PAST_MAX, longRunOf(against));
        const { scores, floats } = await explained.explain(request);
        const score = scores[COLUMN.attention] ?? NaN;
        into.push({
          deviation: score - medianBefore(lives, day),
          change: score - (floats[EXPLANATION.reference + COLUMN.attention] ?? NaN),
        });
      }
    }
  }
  return [...told].map(([against, days]) => summary(against, days));
}

function medianBefore(lives: Lives, day: number): number {
  const before = Array.from({ length: MEDIAN_DAYS }, (_, index) => lives.targets[(day - 1 - index) * 7 + COLUMN.attention] ?? NaN); // prettier-ignore
  return quantile(before, 0.5);
}

function summary(against: Against, days: readonly Told[]): Truth {
  const worse = days.filter(({ deviation }) => deviation <= -CLEARLY);
  return {
    against,
    correlation: correlation(days.map(({ deviation }) => deviation), days.map(({ change }) => change)), // prettier-ignore
    worse: worse.length,
    // In whole points, as sentences tell it.
    toldBetter: mean(worse.map(({ change }) => (Math.round(change) > 0 ? 1 : 0))),
  };
}
