import { grouped } from '../base/table.js';
import { ALPHA, type ViewFinding, type OutcomeVerdict } from './judge.js';
import { intervalOf, type Drawn, type Rival, RIVALS } from './estimates.js';
import type { Way } from './measured.js';
import { VIEWS, type Predictor, type View } from './sums.js';

/** The names used in reports. */
export const VIEW_WORDS: Readonly<Record<View, string>> = {
  within: 'from day to day',
  pooled: 'between people',
};

export const PREDICTOR_WORDS: Readonly<Record<Predictor, string>> = {
  score: 'the score',
  coin: 'a coin',
  minutes: 'minutes asleep',
  heart: 'heart rate asleep',
  own: 'own last outcomes',
};

export const WAY_WORDS: Readonly<Record<Way, string>> = {
  fifty: 'always 50',
  score: 'the score',
  mean: 'mean of the tests',
  shrunk: 'their mean, shrunk',
  measured: 'score and tests',
  fitted: 'with this reliability',
};

export const FINDING_WORDS: Readonly<Record<ViewFinding, string>> = {
  'too-few': 'too few people',
  adds: 'says something of its own',
  goes: 'no more than its rivals',
  against: 'the wrong way',
  nothing: 'nothing',
};

/** Avoids −0, and writes a minus sign instead of a hyphen. */
export function fixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return '–';
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace('-', '−');
}

/** `0.07 [−0.02, 0.15]`, with its 95 % interval. */
export function withInterval(drawn: Drawn, digits: number): string {
  if (!Number.isFinite(drawn.value)) return '–';
  const [low, high] = intervalOf(drawn, ALPHA);
  return `${fixed(drawn.value, digits)} [${fixed(low, digits)}, ${fixed(high, digits)}]`;
}

/** Number of people rounded up to two digits. */
export function roughly(people: number): string {
  if (!Number.isFinite(people)) return 'more than there are';
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(people)) - 1);
  return grouped(Math.ceil(people / unit) * unit);
}

/** The result in one sentence. */
export function sentenceOf(verdicts: readonly OutcomeVerdict[]): string {
  const told = verdicts.filter((verdict) => viewsOf(verdict).length > 0);
  const untold = verdicts.filter((verdict) => viewsOf(verdict).length === 0);
  const people = Math.max(0, ...verdicts.map((verdict) => verdict.people));
  const these = people === 1 ? 'this 1 person' : `these ${grouped(people)} people`;
  const are = people === 1 ? 'is' : 'are';
  if (told.length === 0) return `${these[0]?.toUpperCase() ?? ''}${these.slice(1)} ${are} ${tooFew(untold)}.`;
  const clauses = told.map(clauseOf);
  if (untold.length > 0) clauses.push(`they are ${tooFew(untold)}`);
  return `With ${these} ${clauses.join('; ')}.`;
}

/** The views with a conclusion. */
function viewsOf({ views }: OutcomeVerdict): View[] {
  return VIEWS.filter((view) => views[view].finding !== 'too-few');
}

function tooFew(verdicts: readonly OutcomeVerdict[]): string {
  // The range of the table.
  const needed = verdicts.flatMap(({ views }) => VIEWS.map((view) => views[view].peopleNeeded));
  const [least, most] = [roughly(Math.min(...needed)), roughly(Math.max(...needed))];
  const what = verdicts.map(
    ({ outcome: { score, column } }, index) => `${score} ${index === 0 ? 'says anything ' : ''}of ${column}`,
  );
  const some = least === most ? `some ${least}` : `${least} to ${most}`;
  return `too few to tell whether ${listed(what)} (it would take ${some}, with as many nights each)`;
}

function clauseOf(verdict: OutcomeVerdict): string {
  const { column, score } = verdict.outcome;
  const of = (finding: ViewFinding): View[] =>
    viewsOf(verdict).filter((view) => verdict.views[view].finding === finding);
  const where = (views: readonly View[]): string =>
    views.length === VIEWS.length ? '' : ` ${views.map((view) => VIEW_WORDS[view]).join(' and ')}`;
  const adds = of('adds');
  if (adds.length > 0)
    return `${score} says something of ${column}${where(adds)} that minutes asleep, heart rate and earlier outcomes don't`;
  const against = of('against');
  if (against.length > 0) return `${score} goes the wrong way with ${column}${where(against)}`;
  const goes = of('goes');
  if (goes.length > 0)
    return `${score} says nothing of ${column}${where(goes)} that ${rivalWords(verdict, goes)} don't`;
  const nothing = of('nothing');
  const isTold = nothing.some((view) => isAbove(verdict.estimates.views[view].goes.minutes));
  return `${score} says nothing of ${column}${where(nothing)}${isTold ? ', and minutes asleep do' : ', nor do minutes asleep'}`;
}

/** The first rival that alone leaves the score without effect; all rivals if it takes all. */
function rivalWords({ estimates }: OutcomeVerdict, views: readonly View[]): string {
  const enough = RIVALS.find((rival: Rival) =>
    views.every((view) => !isAbove(estimates.views[view].besides[rival])),
  );
  if (enough === undefined) return 'minutes asleep, heart rate and earlier outcomes together';
  return { minutes: 'minutes asleep', heart: 'heart rates asleep', own: "the person's earlier outcomes" }[
    enough
  ];
}

function isAbove(drawn: Drawn): boolean {
  return intervalOf(drawn, ALPHA)[0] > 0;
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} or ${parts.at(-1) ?? ''}`;
}
