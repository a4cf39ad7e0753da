import { EXPLANATION } from '#acuity/contract/explanation.js';
import type { Explanation } from '#acuity/contract/response.js';
import { hundredths } from '#acuity/pipeline/respond.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import { explanationOf, scoresOf, THRESHOLDS, type Marks } from './scores.js';
import type { Answer } from './socket.js';

/** What is owed to one session. */
export interface Due {
  /** Tells it from every other. */
  readonly weight: number;
  readonly marks: Marks;
  readonly isExplained: boolean;
}

/** The model that answered. */
export function modelOf({ headers }: Answer): number {
  return Number(headers['x-model-version']?.slice('sim/'.length));
}

export function answerFault(answer: Answer, due: Due): string | undefined {
  return scoredFault(JSON.parse(answer.body) as object, due, modelOf(answer));
}

/** Where an answer is not what `model` gives this session; undefined where it is. */
export function scoredFault(said: object, { marks, isExplained }: Due, model: number): string | undefined {
  const scores = scoresOf(marks, model);
  const [valence = NaN, arousal = NaN] = scores.subarray(SCORE_FIELDS.length);
  const due = {
    ...Object.fromEntries(SCORE_FIELDS.map((field, at) => [field, hundredths(scores[at] ?? NaN) / 100])),
    valence: valence >= THRESHOLDS.valence ? 'High' : 'Low',
    arousal: arousal >= THRESHOLDS.arousal ? 'High' : 'Low',
  };
  const answer = said as Readonly<Record<string, unknown>> & { readonly explanation?: Explanation };
  for (const [field, value] of Object.entries(due))
    if (answer[field] !== value) return `the scores of another request: ${field}`;
  if ((answer.explanation !== undefined) !== isExplained) return 'an explanation is missing, or not wanted';
  return answer.explanation && explanationFault(answer.explanation, marks, model);
}

/** The reference is its own, and what is said of the way from there adds up. */
function explanationFault(said: Explanation, marks: Marks, model: number): string | undefined {
  const floats = explanationOf(marks, model);
  const scores = scoresOf(marks, model);
  for (const [at, field] of SCORE_FIELDS.entries()) {
    const reference = hundredths(floats[EXPLANATION.reference + at] ?? NaN);
    if (said.scores[field].reference !== reference / 100)
      return `the explanation of another request: ${field}`;
    const change = hundredths(scores[at] ?? NaN) - reference;
    const parts = said.contributors.reduce((sum, group) => sum + Math.round(100 * group[field]), 0);
    if (Math.round(100 * said.scores[field].change) !== change || parts !== change)
      return `${field} changes by ${change / 100}, its parts by ${parts / 100}`;
  }
  return undefined;
}
