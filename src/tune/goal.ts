import { spreadOf } from './load/statistics.js';

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

/** Recommends the winner only if every pair agrees, by the order of the search, and it kept the limit without an error. */
export function judge(goal: Goal, { winner, defaults }: Duel): Verdict {
  const pairs = winner.map((one, pair) => [one, defaults[pair] ?? NOTHING] as const);
  const orders = pairs.map(([one, other]) => compareOutcomes(goal, one, other));
  const isBetter = orders.every((order) => order < 0);
  const isFit = winner.every((one) => !isFaulty(one) && one.p99Ms <= (goal.p99Ms ?? Infinity));
  const isWon = pairs.length >= PAIRS_MIN && isBetter && isFit;
  const words =
    pairs.length < PAIRS_MIN
      ? 'Too few pairs to tell the setting that was found from the defaults, and these stay'
      : isWon
        ? 'Better than the defaults in every pair'
        : isBetter
          ? 'The setting that was found is better, but not without errors or not within the limit, and the defaults stay'
          : orders.every((order) => order > 0)
            ? 'The defaults are better in every pair'
            : 'The defaults are as good: the difference lies within the spread';
  const ratio = spreadOf(
    pairs.length === 0 ? [NaN] : pairs.map(([one, other]) => one.perSecond / other.perSecond),
  );
  const figures = `${ratio.median.toFixed(2)} × (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}) their throughput over ${pairs.length} pairs`;
  const limits = goal.p99Ms === undefined ? '' : `, p99 within ${goal.p99Ms} ms first`;
  return {
    recommends: isWon ? 'winner' : 'defaults',
    sentence: pairs.length === 0 ? `${words}.` : `${words}: ${figures}${limits}.`,
  };
}

const NOTHING: Outcome = { perSecond: NaN, p99Ms: NaN, errors: 1 };

/** Without any response there is no p99. */
export function p99Words(p99Ms: number): string {
  return Number.isFinite(p99Ms) ? `p99 ${p99Ms.toFixed(1)} ms` : 'no p99';
}
