import type { Bundle } from '#acuity/model/bundle.js';
import type { Population, World } from '../cohort/population.js';
import type { ServedModel } from '../served.js';
import type { LastDay } from './rollout.js';

export const SCORES = ['attention', 'memory', 'reasoning', 'stress'] as const;
export const LABELS = ['valence', 'arousal'] as const;
/** In the order of the cohort's outcomes. */
export const NAMES = [...SCORES, ...LABELS] as const;

/** The network that is judged, and the world whose people judge it. */
export interface Judged {
  readonly world: World;
  readonly model: ServedModel;
  readonly bundle: Bundle;
}

/** What the points on accuracy share: people never seen in training, scored on their last day. */
export interface Context extends Judged {
  readonly people: Population;
  readonly scored: LastDay;
}
