/** The verdicts: scores against outcomes. */
import { probit } from '../night/normal.js';
import { chanceOf, errorOf, estimate, intervalOf, type Drawn, type OutcomeEstimates } from './estimates.js';
import { EXPECTED } from './expected.js';
import type { Nights } from './nights.js';
import { betterSign, columnsOf, type Outcome } from './outcomes.js';
import { VIEWS, eachPerson, sumsOf, type JudgedNights, type View } from './sums.js';

/** Probability of any false claim over everything judged together. */
export const ALPHA = 0.05;
/** Required power: how surely an effect of the card's size must show before anything is concluded. */
export const POWER = 0.8;

/**
 * The smallest number of people tried in simulated populations: with fewer, draws say too little about people outside
 * the sample.
 */
export const PEOPLE_LEAST = 20;

export interface JudgeOptions {
  readonly seed: number;
  readonly draws: number;
}

/** The verdict on an outcome in one view. */
export type ViewFinding =
  /** Fewer people than needed for an effect of the card's size. */
  | 'too-few'
  /** It correlates with the outcome, and adds to all rivals. */
  | 'adds'
  /** It correlates with the outcome, and adds nothing significant to the rivals. */
  | 'goes'
  /** It correlates with the outcome in the wrong direction. */
  | 'against'
  | 'nothing';

export interface ViewVerdict {
  readonly finding: ViewFinding;
  /** People needed to show an effect of the card's size, with as many nights as these people have. */
  readonly peopleNeeded: number;
  /**
   * The smallest correlation that these people show with the required power: with the outcome, and given the rivals.
   */
  readonly detectable: { readonly goes: number; readonly adds: number };
  /** The level, by Holm's method, of the intervals that decided `goes` and `adds`. */
  readonly level: number;
}

export interface OutcomeVerdict {
  readonly outcome: Outcome;
  readonly people: number;
  readonly nights: number;
  /** People with at least two outcomes. */
  readonly peopleTwice: number;
  /** How many of their nights have minutes asleep, and a heart rate. */
  readonly known: { readonly minutes: number; readonly heart: number };
  readonly estimates: OutcomeEstimates;
  readonly views: Readonly<Record<View, ViewVerdict>>;
}

/** Judges scores against outcomes. Deterministic for the same nights and options. */
export function judge(nights: Nights, outcomes: readonly Outcome[], options: JudgeOptions): OutcomeVerdict[] {
  const judged = outcomes.map((outcome) => {
    const columns = { ...columnsOf(outcome), minutes: 'minutes', heart: 'heart' };
    return judgeOne(nights.take(columns, ['outcome', 'score']), outcome, options);
  });
  return withHolm(judged);
}

type Judged = Omit<OutcomeVerdict, 'views'>;

function judgeOne(nights: JudgedNights, outcome: Outcome, { seed, draws }: JudgeOptions): Judged {
  const [low, isBinary] = valuesOf(nights.outcome);
  const better = betterSign(outcome);
  const { sign } = outcome;
  const blocks = sumsOf(nights, { seed, sign, low: isBinary ? low : undefined });
  const signs = { score: sign, coin: 1, minutes: better, heart: -better as 1 | -1, own: 1 } as const;
  const people = nights.starts.length - 1;
  let peopleTwice = 0;
  eachPerson(nights.starts, (from, to) => (peopleTwice += to - from > 1 ? 1 : 0));
  return {
    outcome,
    people,
    nights: nights.outcome.length,
    peopleTwice,
    known: { minutes: knownOf(nights.minutes), heart: knownOf(nights.heart) },
    estimates: estimate(blocks, { seed: seed + 1, draws, signs, isBinary }),
  };
}

/** The lowest value, and whether there are exactly two. */
function valuesOf(values: Float64Array): readonly [low: number, isBinary: boolean] {
  const seen = new Set<number>();
  for (const value of values) {
    seen.add(value);
    if (seen.size > 2) break;
  }
  return [Math.min(...seen), seen.size === 2];
}

function knownOf(values: Float64Array): number {
  return values.reduce((known, value) => (Number.isNaN(value) ? known : known + 1), 0);
}

interface Test {
  readonly index: number;
  readonly view: View;
  readonly goes: Drawn;
  readonly adds: Drawn;
  /** The p-value of the claim that it both correlates with the outcome and adds to the rivals. */
  readonly chance: number;
}

/**
 * Holm's method over all outcomes and views: the smallest p-value is tested at the strictest level, and the first
 * failure ends it.
 */
function withHolm(judged: readonly Judged[]): OutcomeVerdict[] {
  const tests = judged.flatMap(({ estimates }, index) =>
    VIEWS.map((view): Test => {
      const { goes, adds } = estimates.views[view];
      const chance = Math.max(chanceOf(goes.score), chanceOf(adds));
      return { index, view, goes: goes.score, adds, chance };
    }),
  );
  const strictest = ALPHA / tests.length;
  let left = tests.length;
  const levels = new Map<Test, number>();
  for (const test of tests.toSorted((a, b) => a.chance - b.chance)) {
    levels.set(test, ALPHA / left);
    if (test.chance <= ALPHA / left) left--;
  }
  return judged.map((one, index) => {
    const of = (view: View): ViewVerdict => {
      const test = tests.find((each) => each.index === index && each.view === view);
      if (test === undefined) throw new Error('a view that was not tested');
      return verdictOf(one, test, levels.get(test) ?? strictest, strictest);
    };
    return { ...one, views: { within: of('within'), pooled: of('pooled') } };
  });
}

function verdictOf(one: Judged, test: Test, level: number, strictest: number): ViewVerdict {
  const { outcome } = one;
  const counted = test.view === 'within' ? one.peopleTwice : one.people;
  const expected = EXPECTED[outcome.score][test.view];
  const factor = (probit(1 - strictest / 2) + probit(POWER)) * Math.sqrt(counted / (counted - 1));
  const detectable = {
    goes: factor * errorWithout(test.goes),
    adds: factor * errorWithout(test.adds),
  };
  const times = Math.max(detectable.goes / expected.goes, detectable.adds / expected.adds) ** 2;
  const needed = Number.isFinite(times) ? Math.max(PEOPLE_LEAST, Math.ceil(counted * times)) : Infinity;
  const finding = needed > counted ? 'too-few' : findingOf(test, level);
  // Scaled to people like these, some of whom have only one night.
  const peopleNeeded = Math.ceil((needed * one.people) / counted);
  return { finding, peopleNeeded, detectable, level };
}

/**
 * The standard error of a correlation if there were none: what people could show must not depend on what they show.
 */
function errorWithout(correlation: Drawn): number {
  return errorOf(correlation) / (1 - correlation.value ** 2);
}

function findingOf({ goes, adds }: Test, level: number): ViewFinding {
  const [low, high] = intervalOf(goes, level);
  if (high < 0) return 'against';
  if (!(low > 0)) return 'nothing';
  return intervalOf(adds, level)[0] > 0 ? 'adds' : 'goes';
}
