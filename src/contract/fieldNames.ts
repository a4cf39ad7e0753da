import { nearestName } from '../base/nearest.js';
import type { PredictionRequestBody, ScoreRecord, Session } from './request.js';

/**
 * The names that each kind of object in a request may have, as the schemas have them; written out, so that the SDK
 * need not bring a schema library along.
 */
export const FIELD_NAMES = {
  request: ['current_session', 'past_sessions', 'past_targets', 'past_target'],
  session: [
    'HR_day_1h',
    'RR_day_1h',
    'HR_night',
    'RR_night',
    'HR_night_imputed',
    'RR_night_imputed',
    'sleepTimeSeconds',
    'deepSleepSeconds',
    'remSleepSeconds',
    'lightSleepSeconds',
    'awakeSleepSeconds',
    'deepPercentage',
    'remPercentage',
    'lightPercentage',
    'age',
    'height_cm',
    'weight_kg',
    'sex',
  ],
  target: ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'],
} as const satisfies {
  readonly request: readonly (keyof PredictionRequestBody)[];
  readonly session: readonly (keyof Session)[];
  readonly target: readonly (keyof ScoreRecord)[];
};

export type ObjectKind = keyof typeof FIELD_NAMES;

/** No known name is as long; a longer one is no slip. */
const NAME_LENGTH_MAX = 32;
/** One edit for every so many letters. */
const LETTERS_PER_EDIT = 3;

/**
 * The field that an unknown name most likely means: it differs in case, in low lines and hyphens, or by a few
 * letters. Undefined where it is a known name, or none comes near.
 */
export function meantField(name: string, kind: ObjectKind): string | undefined {
  const known: readonly string[] = FIELD_NAMES[kind];
  if (known.includes(name) || name.length > NAME_LENGTH_MAX) return undefined;
  const folded = fold(name);
  const edits = Math.floor(folded.length / LETTERS_PER_EDIT);
  const nearest = nearestName(folded, known.map(fold), edits);
  return known.find((field) => fold(field) === nearest);
}

function fold(name: string): string {
  return name.replaceAll(/[-_ ]/g, '').toLowerCase();
}
