import type { SCORE_FIELDS } from '#rules/fields.js';
import type { Against, Confidence } from '../contract/explanation.js';
import type { ExplainedScore } from '../contract/response.js';

/** One score of an answer, and what its explanation says of it. In points, in hundredths at most. */
export interface ScoreToTell extends Omit<ExplainedScore, 'reference' | 'text'> {
  readonly name: (typeof SCORE_FIELDS)[number];
  readonly score: number;
  readonly against: Against;
  readonly confidence: Confidence;
  readonly contributors: readonly Contributor[];
}

interface Contributor {
  readonly label: string;
  readonly points: number;
  readonly isNotable: boolean;
}

const NAMES: Readonly<Record<ScoreToTell['name'], string>> = {
  C_SCORE: 'C_SCORE',
  attention: 'Attention',
  memory: 'Memory',
  reasoning: 'Reasoning',
  stress: 'Stress',
};

/** Two sentences about a score. They are about the recording and the network, never a diagnosis. */
export function sentencesOf(told: ScoreToTell): string {
  const { name, score, against, change, recent, notable, repeatability, explained, measured } = told;
  const [low = 0, high = 0] = repeatability;
  const isMoved = whole(change) !== 0;
  const parts = [
    standing(against, change),
    ...(isMoved ? [notable ? SELDOM : 'no more than ordinary days bring'] : []),
    ...causes(told, isMoved),
  ];
  const nights =
    recent === undefined || whole(recent) === 0 ? '' : `; the last nights lie ${side(recent)} usual`;
  const tested =
    measured === undefined
      ? ''
      : ` (${whole(Number((score - measured).toFixed(2)))} without what was measured)`;
  return (
    `${NAMES[name]} is ${whole(score)}${tested}${parts.join(', ')}${nights}. ` +
    `Another ordinary device would have put it between ${whole(low)} and ${whole(high)} four times in five ` +
    `(confidence in the recording: ${told.confidence}); such recordings explain ${share(explained)} of what makes ` +
    'people of one age and sex differ in it.'
  );
}

const SELDOM = 'more than on nine ordinary days in ten';

/** Against a usual day it names this day's part of the score alone; the last nights have a sentence of their own. */
function standing(against: Against, change: number): string {
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
function causes({ contributors, notable }: ScoreToTell, isMoved: boolean): string[] {
  const most = contributors.reduce((one, other) =>
    Math.abs(other.points) > Math.abs(one.points) ? other : one,
  );
  if (whole(most.points) === 0 || !(isMoved || most.isNotable)) return [];
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
