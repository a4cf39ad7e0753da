/** The sentences of an explanation. */
import type { SCORE_FIELDS } from '#rules/fields.js';
import type { Against, Confidence } from '../../contract/explanation.js';
import type { ExplainedScore } from '../../contract/response.js';

/** A score in an answer. */
export interface ToldScore {
  readonly name: (typeof SCORE_FIELDS)[number];
  readonly score: number;
  readonly against: Against;
  readonly confidence: Confidence;
}

/** The group of inputs that moved a score most. */
export interface Mover {
  readonly label: string;
  readonly points: number;
  readonly isNotable: boolean;
}

const NAMES: Readonly<Record<ToldScore['name'], string>> = {
  C_SCORE: 'C_SCORE',
  attention: 'Attention',
  memory: 'Memory',
  reasoning: 'Reasoning',
  stress: 'Stress',
};

/**
 * Two sentences about a score, in points, of hundredths at most. They are about the recording and the network, never a
 * diagnosis.
 */
export function sentencesOf(
  { change, recent, notable, repeatability, explained, measured }: Omit<ExplainedScore, 'reference' | 'text'>,
  { name, score, against, confidence }: ToldScore,
  most: Mover,
): string {
  const [low = 0, high = 0] = repeatability;
  const isMoved = whole(change) !== 0;
  const parts = [
    standing(against, change),
    ...(isMoved ? [notable ? SELDOM : 'no more than ordinary days bring'] : []),
    ...cause(most, notable, isMoved),
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
    `(confidence in the recording: ${confidence}); such recordings explain ${share(explained)} of what makes ` +
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

/** The main cause of the change, if it comes to a point; if the score did not move, only what is notable. */
function cause({ label, points, isNotable }: Mover, isTold: boolean, isMoved: boolean): string[] {
  if (whole(points) === 0 || !(isMoved || isNotable)) return [];
  const sign = points > 0 ? '+' : '−';
  const measure = isNotable && !isTold ? `, ${SELDOM}` : '';
  return [`${isMoved ? 'mostly by' : 'but for'} ${label} (${sign}${whole(points)}${measure})`];
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
