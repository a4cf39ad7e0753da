import { grouped, textTable } from '../base/table.js';
import { ALPHA, POWER, type OutcomeVerdict } from './judge.js';
import { RIVALS, intervalOf, type Drawn } from './estimates.js';
import { EXPECTED } from './expected.js';
import { WAYS, type MeasuredVerdict } from './measured.js';
import type { Outcome } from './outcomes.js';
import { PREDICTORS, VIEWS, type Predictor, type View } from './sums.js';
import {
  FINDING_WORDS,
  PREDICTOR_WORDS,
  VIEW_WORDS,
  WAY_WORDS,
  fixed,
  roughly,
  sentenceOf,
  withInterval,
} from './words.js';

/** The content of a report: counts and statistics. */
export interface Report {
  readonly model: string;
  readonly seed: number;
  readonly draws: number;
  /** Nights with scores, and rows without. */
  readonly scored: number;
  readonly bad: number;
  /** Rows with an outcome that a later one of the same person and night has replaced. */
  readonly replaced: number;
  /** Values that are not numbers, or not percentiles of 0 to 100 where these are required. */
  readonly unread: readonly { readonly column: string; readonly count: number }[];
  readonly verdicts: readonly OutcomeVerdict[];
  readonly bought: readonly Bought[];
}

/** The gain from measurements of a score. */
export interface Bought {
  readonly outcome: Outcome;
  readonly verdict: MeasuredVerdict;
}

const DIGITS = 2;

/** The report as lines of text. */
export function textOf(report: Report): string {
  const { verdicts } = report;
  return [
    sentenceOf(verdicts),
    '',
    aboutLine(report),
    ...leftOutLines(report),
    '',
    `What these people could show (${100 * POWER} % power; correlations with the outcome | beside the rivals)`,
    textTable(powerTable(verdicts)),
    ...verdicts.flatMap((verdict) => ['', ...outcomeLines(verdict)]),
    ...report.bought.flatMap((bought) => [
      '',
      boughtHeading(bought),
      textTable(boughtTable(bought)),
      reliabilityLine(bought),
    ]),
    '',
  ].join('\n');
}

export function aboutLine({ model, seed, draws, scored, bad, verdicts }: Report): string {
  const tests = verdicts.length * VIEWS.length;
  const without = bad === 0 ? '' : `, ${grouped(bad)} rows without scores`;
  return `${grouped(scored)} nights scored by ${model}${without}; ${draws} draws of people, seed ${seed}; claims by Holm over ${tests} tests, ${100 * ALPHA} % in all; intervals 95 %`;
}

/** How many values of an outcome are none of what is read. */
export function leftOut(count: number): string {
  return `${grouped(count)} values are left out that are no number, true or false, High or Low (of a percentile: none of 0 to 100)`;
}

export function leftOutLines({ unread, replaced }: Report): string[] {
  const told = new Map(unread.filter(({ count }) => count > 0).map(({ column, count }) => [column, count]));
  const lines = [...told].map(([column, count]) => `${column}: ${leftOut(count)}`);
  if (replaced > 0)
    lines.push(`${grouped(replaced)} rows have a later one of the same person and night, whose values count`);
  return lines;
}

export function powerTable(verdicts: readonly OutcomeVerdict[]): string[][] {
  const header = ['outcome', 'score', '', 'people', 'nights', 'shows from', 'card', 'people needed', 'found'];
  const rows = verdicts.flatMap((verdict) =>
    VIEWS.map((view) => {
      const { outcome, people, nights } = verdict;
      const { detectable, finding, peopleNeeded } = verdict.views[view];
      const card = EXPECTED[outcome.score][view];
      return [
        outcome.column,
        `${outcome.sign === 1 ? '' : '−'}${outcome.score}`,
        VIEW_WORDS[view],
        grouped(people),
        grouped(nights),
        `${fixed(detectable.goes, DIGITS)} | ${fixed(detectable.adds, DIGITS)}`,
        `${fixed(card.goes, DIGITS)} | ${fixed(card.adds, DIGITS)}`,
        roughly(peopleNeeded),
        FINDING_WORDS[finding],
      ];
    }),
  );
  return [header, ...rows];
}

/** Correlations of the outcome with the score and its rivals. */
export function rivalTable(verdict: OutcomeVerdict): string[][] {
  const { views } = verdict.estimates;
  const areas = VIEWS.flatMap((view) => (views[view].area === undefined ? [] : [view]));
  const header = [
    'rank correlation',
    ...VIEWS.map((view) => VIEW_WORDS[view]),
    ...areas.map((view) => `AUC ${VIEW_WORDS[view]}`),
  ];
  const isTold = (predictor: Predictor): boolean =>
    VIEWS.some((view) => Number.isFinite(views[view].goes[predictor].value));
  const rows = PREDICTORS.filter(isTold).map((predictor) => [
    PREDICTOR_WORDS[predictor],
    ...VIEWS.map((view) => withInterval(views[view].goes[predictor], DIGITS)),
    ...areas.map((view) => {
      const area = views[view].area;
      return area === undefined ? '' : withInterval(area[predictor], DIGITS);
    }),
  ]);
  const blank = areas.map(() => '');
  const line = (name: string, of: (view: View) => Drawn): string[] => [
    name,
    ...VIEWS.map((view) => withInterval(of(view), DIGITS)),
    ...blank,
  ];
  return [
    header,
    ...rows,
    ...RIVALS.filter(isTold).map((rival) =>
      line(`the score beside ${PREDICTOR_WORDS[rival]}`, (view) => views[view].besides[rival]),
    ),
    line('the score beside all of them', (view) => views[view].adds),
    line('own last outcomes with the score', (view) => views[view].ownAndScore),
  ];
}

/** The size of the effect, and the distance of score and outcome if both are percentiles. */
export function gainLines({ outcome, estimates }: OutcomeVerdict): string[] {
  const { score, column, isPercentile } = outcome;
  const { slope, errors } = estimates;
  const isLabel = score === 'valence' || score === 'arousal';
  const step = isLabel ? 0.1 : 10;
  const gain = { value: step * slope.value, draws: slope.draws.map((one) => step * one) };
  const lines = [
    `${isLabel ? 'a chance of High 0.1' : '10 points'} above the person’s own mean ${score} ${isLabel ? 'goes' : 'go'} with ${withInterval(gain, 3)} of ${column}`,
  ];
  if (isPercentile)
    lines.push(
      `mean error: the score ${withInterval(errors.score, 1)}, always 50 ${withInterval(errors.fifty, 1)}, mean of the own last five ${withInterval(errors.own, 1)}`,
    );
  return lines;
}

function outcomeLines(verdict: OutcomeVerdict): string[] {
  const { outcome, nights, known } = verdict;
  const share = (count: number): string => `${fixed((100 * count) / nights, 0)} %`;
  return [
    `${outcome.column} with ${outcome.sign === 1 ? 'more' : 'less'} ${outcome.score}: ${grouped(nights)} nights, ${share(known.minutes)} with minutes asleep, ${share(known.heart)} with a heart rate`,
    textTable(rivalTable(verdict)),
    ...gainLines(verdict),
  ];
}

export function boughtHeading({ outcome: { column, score } }: Bought): string {
  return `What measurements buy: ${column} as measurements of ${score}, mean error in points on the nights after them`;
}

export function boughtTable({ verdict: { purchases } }: Bought): string[][] {
  const header = [
    'tests before',
    'people',
    'nights',
    ...WAYS.map((way) => WAY_WORDS[way]),
    'gain on the score',
  ];
  if (purchases.length === 0) return [header, ['none', '0', '0', ...WAYS.map(() => '–'), '–']];
  const rows = purchases.map(({ tests, people, nights, errors, gain }) => [
    String(tests),
    grouped(people),
    grouped(nights),
    ...WAYS.map((way) => fixed(errors[way].value, 1)),
    withInterval(gain, 1),
  ]);
  return [header, ...rows];
}

export function reliabilityLine({ verdict: { reliability, assumed } }: Bought): string {
  return `Reliability of one measurement with these people ${withInterval(reliability, DIGITS)}; the model takes ${fixed(assumed, DIGITS)} where none is sent`;
}

interface Figure {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** The report as one object; unknown values are null. */
export function jsonOf(report: Report): object {
  const { model, seed, draws, scored, bad, replaced, unread, verdicts, bought } = report;
  return {
    sentence: sentenceOf(verdicts),
    model,
    seed,
    draws,
    nights_scored: scored,
    rows_without_scores: bad,
    rows_replaced: replaced,
    alpha: ALPHA,
    power: POWER,
    outcomes: verdicts.map((verdict) => ({
      outcome: verdict.outcome.column,
      score: verdict.outcome.score,
      sign: verdict.outcome.sign,
      people: verdict.people,
      people_with_two_and_more: verdict.peopleTwice,
      nights: verdict.nights,
      nights_with_minutes_asleep: verdict.known.minutes,
      nights_with_heart_rate: verdict.known.heart,
      values_left_out: unread.find(({ column }) => column === verdict.outcome.column)?.count ?? 0,
      ...Object.fromEntries(VIEWS.map((view) => [view, viewJson(verdict, view)])),
      slope: figure(verdict.estimates.slope),
      ...(verdict.outcome.isPercentile ? { mean_error: figures(verdict.estimates.errors) } : {}),
    })),
    measured: bought.map(({ outcome, verdict }) => ({
      outcome: outcome.column,
      score: outcome.score,
      values_left_out: unread.find(({ column }) => column === outcome.column)?.count ?? 0,
      reliability: figure(verdict.reliability),
      reliability_of_the_model: verdict.assumed,
      tests: verdict.purchases.map(({ tests, people, nights, errors, gain }) => ({
        tests,
        people,
        nights,
        mean_error: figures(errors),
        gain: figure(gain),
      })),
    })),
  };
}

function viewJson(verdict: OutcomeVerdict, view: View): object {
  const { finding, peopleNeeded, detectable, level } = verdict.views[view];
  const { goes, adds, besides, area, ownAlone, ownAndScore } = verdict.estimates.views[view];
  return {
    finding,
    people_needed: known(peopleNeeded),
    detectable: { correlation: known(detectable.goes), beside_rivals: known(detectable.adds) },
    card: EXPECTED[verdict.outcome.score][view],
    holm: { level, correlation: figure(goes.score, level), beside_rivals: figure(adds, level) },
    correlation: figures(goes),
    beside: { ...figures(besides), all: figure(adds) },
    ...(area === undefined ? {} : { auc: figures(area) }),
    together: { own: figure(ownAlone), own_and_score: figure(ownAndScore) },
  };
}

function figures(drawn: Readonly<Record<string, Drawn>>): Record<string, Figure> {
  return Object.fromEntries(Object.entries(drawn).map(([name, one]) => [name, figure(one)]));
}

function figure(drawn: Drawn, alpha = ALPHA): Figure {
  const [low, high] = intervalOf(drawn, alpha);
  return { value: known(drawn.value), low: known(low), high: known(high) };
}

/** Six digits: the draws give no figure more. */
function known(value: number): number | null {
  return Number.isFinite(value) ? Number(value.toPrecision(6)) : null;
}
