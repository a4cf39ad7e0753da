import { spreadOf } from '../load/statistics.js';

/** The most requests a second. */
export interface Goal {
  /** The highest accepted 99th percentile; undefined: any. */
  readonly p99Ms: number | undefined;
}

/** The result of a load. */
export interface Outcome {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly errors: number;
}

/**
 * Orders outcomes, better first: without errors before with errors, within the limit before beyond it, then by
 * throughput.
 */
export function compareOutcomes({ p99Ms = Infinity }: Goal, a: Outcome, b: Outcome): number {
  const faulty = Number(isFaulty(a)) - Number(isFaulty(b));
  if (faulty !== 0) return faulty;
  const late = Number(a.p99Ms > p99Ms) - Number(b.p99Ms > p99Ms);
  if (late !== 0) return late;
  return a.p99Ms > p99Ms ? a.p99Ms - b.p99Ms : b.perSecond - a.perSecond;
}

function isFaulty({ perSecond, errors }: Outcome): boolean {
  return errors > 0 || !(perSecond > 0);
}

/** The winner of the search and the defaults, measured alternately. */
export interface Duel {
  readonly winner: readonly Outcome[];
  readonly defaults: readonly Outcome[];
}

export interface Verdict {
  readonly recommends: 'winner' | 'defaults';
  readonly sentence: string;
}

/** With fewer pairs nothing is concluded. */
const PAIRS_MIN = 3;

/** Recommends the winner only if every pair agrees. */
export function judge(goal: Goal, { winner, defaults }: Duel): Verdict {
  if (winner.length === 0)
    return {
      recommends: 'defaults',
      sentence:
        'There was no time left to repeat the setting that was found against the defaults: the defaults stay.',
    };
  const ratio = spreadOf(winner.map(({ perSecond }, pair) => perSecond / (defaults[pair]?.perSecond ?? NaN)));
  const text = `${ratio.median.toFixed(2)} × (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}) their throughput over ${winner.length} pairs`;
  const conclude = (recommends: Verdict['recommends'], words: string): Verdict => ({
    recommends,
    sentence: `${words}: ${text}.`,
  });
  if (winner.some(isFaulty))
    return conclude(
      'defaults',
      'The setting that was found had requests without a 200, and the defaults stay',
    );
  if (winner.length < PAIRS_MIN)
    return conclude(
      'defaults',
      'Too few pairs to tell the setting that was found from the defaults, and the defaults stay',
    );
  const limit = goal.p99Ms ?? Infinity;
  const [winnerP99, defaultsP99] = [winner, defaults].map(
    (outcomes) => spreadOf(outcomes.map(({ p99Ms }) => p99Ms)).median,
  );
  const [winnerHolds, defaultsHold] = [(winnerP99 ?? NaN) <= limit, (defaultsP99 ?? NaN) <= limit];
  if (winnerHolds && !defaultsHold)
    return conclude(
      'winner',
      `Better than the defaults: p99 within ${limit} ms, which the defaults do not keep`,
    );
  if (!winnerHolds && defaultsHold)
    return conclude(
      'defaults',
      `The defaults are better: they keep p99 within ${limit} ms, the setting that was found did not when it was repeated`,
    );
  if (ratio.min > 1) return conclude('winner', 'Better than the defaults in every pair');
  if (ratio.max < 1) return conclude('defaults', 'The defaults are better in every pair');
  return conclude('defaults', 'The defaults are as good: the difference lies within the spread');
}

/** Without any response there is no p99. */
export function p99Words(p99Ms: number): string {
  return Number.isFinite(p99Ms) ? `p99 ${p99Ms.toFixed(1)} ms` : 'no p99';
}
