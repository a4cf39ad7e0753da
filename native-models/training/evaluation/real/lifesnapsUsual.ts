import { join } from 'node:path';
import type { Session } from '#acuity/contract/request.js';
import { EXPLANATION } from '#acuity/contract/explanation.js';
import { Lives, longRunOf } from '../../cohort/lives.js';
import type { ExplainedModel } from '../../explained.js';
import { COLUMN, type ServedModel } from '../../served.js';
import { correlation } from '../leastSquares.js';
import { mean, quantile } from '../statistics.js';
import { groupRows, readCsv } from './csv.js';
import { lifesnapsSessions } from './lifesnapsScores.js';

/** Days of LifeSnaps compared with the person's own median, and what explanations say of them. */

const FILE = 'lifesnaps/daily.csv';
const PAST = 5;
/** The own median is that of so many days before. */
const MEDIAN_DAYS = 20;
/** A day this far from the own median is clearly below or above it. */
const CLEARLY = 5;
const POINTS = { attention: COLUMN.attention, stress: COLUMN.stress } as const;
type Score = keyof typeof POINTS;

/** Half-life of the long run in nights; against the last nights, as by lists. */
export type Against = number | 'last nights';

/** One score of one day, in points. */
interface Told {
  readonly deviation: number;
  readonly change: number;
  readonly recent: number;
}

export interface Truth {
  readonly against: Against;
  readonly days: number;
  readonly correlation: number;
  /**
   * Days clearly worse than the own median: how many, and which share is reported as better than the reference day.
   */
  readonly worse: number;
  readonly toldBetter: number;
  /** The same by the sign of `change`, however small it is. */
  readonly signBetter: number;
  /** `change` and `recent` together with the deviation. */
  readonly correlationOfBoth: number;
}

/** Undefined where the data are not there. */
export function lifesnapsLives(folder: string): Session[][] | undefined {
  const rows = readCsv(join(folder, FILE));
  return rows && lifesnapsSessions(groupRows(rows, 'id'));
}

export async function truthOf(
  people: readonly (readonly Session[])[],
  { model, explained }: { readonly model: ServedModel; readonly explained: ExplainedModel },
  againsts: readonly Against[],
): Promise<Record<Score, Truth[]>> {
  const told = new Map(
    againsts.map((against) => [against, { attention: [] as Told[], stress: [] as Told[] }]),
  );
  for (const sessions of people) {
    const lives = Lives.read(sessions);
    await lives.rollOut(model);
    for (let day = MEDIAN_DAYS; day < sessions.length; day++) {
      for (const [against, into] of told) {
        const request =
          against === 'last nights'
            ? lives.request(0, day, PAST)
            : lives.requestWithUsual(0, day, PAST, longRunOf(against));
        const { scores, floats } = await explained.explain(request);
        for (const name of ['attention', 'stress'] as const) {
          const column = POINTS[name];
          const score = scores[column] ?? NaN;
          const reference = floats[EXPLANATION.reference + column] ?? NaN;
          into[name].push({
            deviation: score - medianBefore(lives, day, column),
            change: score - reference,
            recent:
              against === 'last nights' ? 0 : (floats[EXPLANATION.lastNights + column] ?? NaN) - reference,
          });
        }
      }
    }
  }
  const of = (name: Score, better: number): Truth[] =>
    [...told].map(([against, days]) => summary(against, days[name], better));
  return { attention: of('attention', 1), stress: of('stress', -1) };
}

function medianBefore(lives: Lives, day: number, column: number): number {
  const before = Array.from({ length: MEDIAN_DAYS }, (_, index) => lives.targets[(day - 1 - index) * 7 + column] ?? NaN); // prettier-ignore
  return quantile(before, 0.5);
}

/** `better` is 1 if more of the score is better, −1 if less is. */
function summary(against: Against, days: readonly Told[], better: number): Truth {
  const worse = days.filter(({ deviation }) => better * deviation <= -CLEARLY);
  const share = (isTold: (day: Told) => boolean): number => mean(worse.map((day) => (isTold(day) ? 1 : 0)));
  const deviations = days.map(({ deviation }) => deviation);
  return {
    against,
    days: days.length,
    correlation: correlation(
      deviations,
      days.map(({ change }) => change),
    ),
    worse: worse.length,
    // In whole points, as sentences tell it.
    toldBetter: share(({ change }) => Math.round(better * change) > 0),
    signBetter: share(({ change }) => better * change > 0),
    correlationOfBoth: correlation(
      deviations,
      days.map(({ change, recent }) => change + recent),
    ),
  };
}
