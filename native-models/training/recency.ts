import { FEATURES } from '#acuity/contract/features.js';
import { PAST_MAX } from '#rules/fields.js';

/** How a network that is made here weighs the past: e^(−decay · age), where the newest past session has the age 0. */

const VITALS = new Set(['hr_day', 'rr_day', 'hr_night', 'rr_night']);
const DECAY_VITALS = 0.15;
/** Of past scores too. */
export const DECAY = 0.35;

export function decayOf(group: string): number {
  return VITALS.has(group) ? DECAY_VITALS : DECAY;
}

/** The weights [5, F]. */
export const POOLING = Array.from({ length: PAST_MAX }, (_, age) =>
  FEATURES.map(({ group }) => Math.exp(-decayOf(group) * age)),
);
