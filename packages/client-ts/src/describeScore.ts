import type { Explanation, ScoreRecord } from './contract.js';

export type ExplainedScoreName = keyof Explanation['scores'];

/** A score in two plain sentences, and the numbers that a chart of it needs. */
export interface ScoreDescription {
  readonly sentences: readonly [string, string];
  readonly chart: ScoreChart;
}

/** Points; `unmeasured` is the score without what was measured, where that counts. `contributors` add up to `score` less `reference`, the largest first. */
export interface ScoreChart {
  readonly score: number;
  readonly reference: number;
  /** Whether `reference` is what is usual for this person, or what is typical of that age and sex. */
  readonly isUsual: boolean;
  readonly low: number;
  readonly high: number;
  readonly unmeasured?: number;
  readonly contributors: readonly {
    readonly group: string;
    readonly label: string;
    readonly points: number;
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

/** Says what an explanation says of one score, in English. It is about the recording and the network, never a diagnosis. */
export function describeScore(
  scores: ScoreRecord,
  explanation: Explanation,
  name: ExplainedScoreName,
): ScoreDescription {
  const { reference, usual, change, notable, repeatability, explained, measured } = explanation.scores[name];
  const contributors = explanation.contributors
    .map((part) => ({ group: part.group, label: LABELS[part.group] ?? part.group, points: part[name] }))
    .toSorted((one, other) => Math.abs(other.points) - Math.abs(one.points));
  const [low, high] = repeatability;
  const isUsual = usual !== undefined;
  const unmeasured = measured === undefined ? undefined : Number((scores[name] - measured).toFixed(2));
  const known = unmeasured !== undefined && { unmeasured };
  const chart = { score: scores[name], reference, isUsual, low, high, ...known, contributors };
  const against = isUsual ? 'usual for this person' : 'typical of this age and sex';
  const [most] = contributors;
  const cause =
    most === undefined || most.points === 0 ? '' : `, mostly by ${most.label} (${signed(most.points)})`;
  const measure = notable ? 'more than on nine ordinary days in ten' : 'no more than ordinary days bring';
  const difference =
    change === 0
      ? `just what is ${against}`
      : `${Math.abs(change).toFixed(2)} ${change > 0 ? 'above' : 'below'} the ${reference.toFixed(2)} that is ${against}, ${measure}`;
  const tested = unmeasured === undefined ? '' : ` (${unmeasured.toFixed(2)} without what was measured)`;
  const first = `${NAMES[name]} is ${scores[name].toFixed(2)}${tested}, ${difference}${cause}.`;
  const second =
    `Another ordinary device would have put it between ${low.toFixed(2)} and ${high.toFixed(2)} four times in five ` +
    `(confidence in the recording: ${explanation.quality.confidence}); such recordings explain ` +
    `${(100 * explained).toFixed(1)} % of what makes people of one age and sex differ in it.`;
  return { sentences: [first, second], chart };
}

function signed(points: number): string {
  return `${points > 0 ? '+' : '−'}${Math.abs(points).toFixed(2)}`;
}
