import type { Explanation, ScoreRecord } from './contract.js';

export type ExplainedScoreName = keyof Explanation['scores'];

/** A score in two plain sentences, and the numbers for its chart. */
export interface ScoreDescription {
  readonly sentences: readonly [string, string];
  readonly chart: ScoreChart;
}

/**
 * All in points. `unmeasured` is the score without measurements, if any counts. `contributors` add up to `score`
 * minus `reference`, the largest first.
 */
export interface ScoreChart {
  readonly score: number;
  readonly reference: number;
  /** The day that `reference` is the score of: a typical day, one like the last nights, or a usual one. */
  readonly against: Explanation['against'];
  readonly low: number;
  readonly high: number;
  readonly unmeasured?: number;
  readonly contributors: readonly {
    readonly group: string;
    readonly label: string;
    readonly points: number;
    readonly isNotable: boolean;
  }[];
}

const NAMES: Readonly<Record<ExplainedScoreName, string>> = {
  C_SCORE: 'C_SCORE',
  attention: 'Attention',
  memory: 'Memory',
  reasoning: 'Reasoning',
  stress: 'Stress',
};
const LABELS: Readonly<Record<string, string>> = {
  sleep_amount: 'the amount of sleep',
  sleep_quality: 'the quality of sleep',
  night_heart_rate: 'the heart rate by night',
  day_heart_rate: 'the heart rate by day',
  breathing: 'breathing',
  body: 'height and weight',
};

/**
 * Writes what an explanation says about one score, in English. It is about the recording and the network, never a
 * diagnosis.
 */
export function describeScore(
  scores: ScoreRecord,
  explanation: Explanation,
  name: ExplainedScoreName,
): ScoreDescription {
  const { against } = explanation;
  const { reference, change, recent, notable, repeatability, explained, measured } = explanation.scores[name];
  const contributors = explanation.contributors
    .map((part) => ({
      group: part.group,
      label: LABELS[part.group] ?? part.group,
      points: part[name],
      isNotable: part.notable.includes(name),
    }))
    .toSorted((one, other) => Math.abs(other.points) - Math.abs(one.points));
  const [low, high] = repeatability;
  const unmeasured = measured === undefined ? undefined : Number((scores[name] - measured).toFixed(2));
  const known = unmeasured !== undefined && { unmeasured };
  const chart = { score: scores[name], reference, against, low, high, ...known, contributors };
  const parts = [
    standing(against, change),
    ...(whole(change) === 0 ? [] : [notable ? SELDOM : 'no more than ordinary days bring']),
    ...causes(contributors, { notable, isMoved: whole(change) !== 0 }),
  ];
  const nights =
    recent === undefined || whole(recent) === 0 ? '' : `; the last nights lie ${side(recent)} usual`;
  const tested = unmeasured === undefined ? '' : ` (${whole(unmeasured)} without what was measured)`;
  const first = `${NAMES[name]} is ${whole(scores[name])}${tested}${parts.join(', ')}${nights}.`;
  const second =
    `Another ordinary device would have put it between ${whole(low)} and ${whole(high)} four times in five ` +
    `(confidence in the recording: ${explanation.quality.confidence}); such recordings explain ` +
    `${share(explained)} of what makes people of one age and sex differ in it.`;
  return { sentences: [first, second], chart };
}

const SELDOM = 'more than on nine ordinary days in ten';

/** Against a usual day it names this day's part of the score alone; the last nights have a sentence of their own. */
function standing(against: Explanation['against'], change: number): string {
  const points = whole(change);
  if (against === 'usual') {
    if (points === 0) return ': this day is as usual for this person';
    const verb = change > 0 ? `adds ${points} to it` : `takes ${points} from it`;
    return `: this day ${verb}, against a usual day of this person`;
  }
  const day = against === 'typical' ? 'a typical day at this age and sex' : 'a day like the last nights';
  return points === 0 ? `, as on ${day}` : `, ${side(change)} ${day}`;
}

/** The group that moved the score most, if it comes to a point; if the score did not move, only a notable group. */
function causes(
  contributors: ScoreChart['contributors'],
  { notable, isMoved }: { readonly notable: boolean; readonly isMoved: boolean },
): string[] {
  const [most] = contributors;
  if (most === undefined || whole(most.points) === 0 || !(isMoved || most.isNotable)) return [];
  const sign = most.points > 0 ? '+' : '−';
  const measure = most.isNotable && !notable ? `, ${SELDOM}` : '';
  return [`${isMoved ? 'mostly by' : 'but for'} ${most.label} (${sign}${whole(most.points)}${measure})`];
}

function side(points: number): string {
  return `${whole(points)} ${points > 0 ? 'above' : 'below'}`;
}

/** Without its sign, to the nearest whole number. */
function whole(points: number): number {
  return Math.round(Math.abs(points));
}

function share(explained: number): string {
  const percent = Math.round(100 * explained);
  return percent === 0 ? 'less than 1 %' : `${percent} %`;
}
