import { probit } from '../pipeline/normal.js';
import { chanceOf, errorOf, estimate, intervalOf, type Drawn, type OutcomeEstimates } from './estimates.js';
import { EXPECTED } from './expected.js';
import { NightGroups } from './groups.js';
import type { NightColumns } from './nights.js';
import { betterSign, type Outcome } from './outcomes.js';
import { VIEWS, sumsOf, type JudgedNights, type View } from './sums.js';

/** Chance of any false claim over all that is judged together. */
export const ALPHA = 0.05;
/** How surely an effect of the card's size is to be seen before anything is concluded. */
export const POWER = 0.8;

/** The fewest people that were tried (simulated populations): draws of fewer say too little of those who are not there. */
export const PEOPLE_LEAST = 20;

/** Where in the columns of the nights each thing stands. */
export interface NightPlaces {
  readonly minutes: number;
  readonly heart: number;
  /** Of each outcome. */
  readonly outcomes: readonly ScoredPlace[];
}

/** Where an outcome stands, and the score that it is held against. */
export interface ScoredPlace {
  readonly outcome: number;
  readonly score: number;
}

export interface JudgeOptions {
  readonly seed: number;
  readonly draws: number;
}

/** What may be said of an outcome in one view. */
export type Finding =
  /** Fewer people than an effect of the card's size takes. */
  | 'too-few'
  /** It goes with the outcome, and adds to all rivals. */
  | 'adds'
  /** It goes with the outcome, and adds nothing that can be told from chance to what the rivals say. */
  | 'goes'
  /** It goes with the outcome the wrong way round. */
  | 'against'
  | 'nothing';

export interface ViewVerdict {
  readonly finding: Finding;
  /** People that an effect of the card's size would take, with nights as these people have. */
  readonly peopleNeeded: number;
  /** The smallest correlation that these people show with the power asked for: with the outcome, and beside the rivals. */
  readonly detectable: { readonly goes: number; readonly adds: number };
  /** Share of intervals, Holm's, that `goes` and `adds` were read at. */
  readonly level: number;
}

export interface OutcomeVerdict {
  readonly outcome: Outcome;
  readonly people: number;
  readonly nights: number;
  /** People with two outcomes and more. */
  readonly peopleTwice: number;
  /** Nights of these with minutes asleep and with a heart rate. */
  readonly known: { readonly minutes: number; readonly heart: number };
  readonly isTwoSided: boolean;
  readonly estimates: OutcomeEstimates;
  readonly views: Readonly<Record<View, ViewVerdict>>;
}

/** Judges scores against outcomes. The same nights and options give the same verdicts. */
export function judge(
  nights: NightColumns,
  outcomes: readonly Outcome[],
  places: NightPlaces,
  options: JudgeOptions,
): OutcomeVerdict[] {
  const groups = new NightGroups(nights);
  const judged = outcomes.map((outcome, index) => {
    const place = places.outcomes[index];
    if (place === undefined) throw new Error('an outcome without a column');
    return judgeOne(nightsOf(groups, places, place), outcome, options);
  });
  return withHolm(judged);
}

type Judged = Omit<OutcomeVerdict, 'views'>;

function judgeOne(nights: JudgedNights, outcome: Outcome, { seed, draws }: JudgeOptions): Judged {
  const [low, isTwoSided] = sidesOf(nights.outcome);
  const better = betterSign(outcome);
  const { sign } = outcome;
  const blocks = sumsOf(nights, { seed, sign, low: isTwoSided ? low : undefined });
  const signs = { score: sign, coin: 1, minutes: better, heart: -better as 1 | -1, own: 1 } as const;
  const people = nights.starts.length - 1;
  let peopleTwice = 0;
  for (let person = 0; person < people; person++)
    if ((nights.starts[person + 1] ?? 0) - (nights.starts[person] ?? 0) > 1) peopleTwice++;
  return {
    outcome,
    people,
    nights: nights.outcome.length,
    peopleTwice,
    known: { minutes: knownOf(nights.minutes), heart: knownOf(nights.heart) },
    isTwoSided,
    estimates: estimate(blocks, { seed: seed + 1, draws, signs, isTwoSided }),
  };
}

/** The lowest value, and whether there are but two. */
function sidesOf(values: Float64Array): readonly [low: number, isTwoSided: boolean] {
  const seen = new Set<number>();
  for (const value of values) {
    seen.add(value);
    if (seen.size > 2) break;
  }
  return [Math.min(...seen), seen.size === 2];
}

function knownOf(values: Float64Array): number {
  let known = 0;
  for (const value of values) if (!Number.isNaN(value)) known++;
  return known;
}

/** The nights that have the outcome and a score. */
function nightsOf(groups: NightGroups, { minutes, heart }: NightPlaces, at: ScoredPlace): JudgedNights {
  const { starts, columns } = groups.take([at.outcome, at.score, minutes, heart], 2);
  const [outcome = NONE, score = NONE, slept = NONE, rate = NONE] = columns;
  return { starts, outcome, score, minutes: slept, heart: rate };
}

const NONE = new Float64Array();

interface Test {
  readonly index: number;
  readonly view: View;
  readonly goes: Drawn;
  readonly adds: Drawn;
  /** Of a claim: that it both goes with the outcome and adds. */
  readonly chance: number;
}

/** Holm over all outcomes and views: the surest claim is held to the strictest level, and the first one that fails ends it. */
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
  // Of people like these, some of whom have but one night.
  const peopleNeeded = Math.ceil((needed * one.people) / counted);
  return { finding, peopleNeeded, detectable, level };
}

/** The standard error that a correlation would have if there were none: what people could show hangs not on what they show. */
function errorWithout(correlation: Drawn): number {
  return errorOf(correlation) / (1 - correlation.value ** 2);
}

function findingOf({ goes, adds }: Test, level: number): Finding {
  const [low, high] = intervalOf(goes, level);
  if (high < 0) return 'against';
  if (!(low > 0)) return 'nothing';
  return intervalOf(adds, level)[0] > 0 ? 'adds' : 'goes';
}
