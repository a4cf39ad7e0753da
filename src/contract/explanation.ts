import { SCORE_FIELDS } from '#rules/fields.js';

/** The layout of explanations (`explain`); the shapes of the answer are in `response.ts`. */

/**
 * The groups of today's inputs that are swapped with the reference day, in words, with the features of each
 * (`features.ts`).
 */
export const CONTRIBUTORS = [
  { group: 'sleep_amount', label: 'the amount of sleep', features: ['sleep_time'] },
  {
    group: 'sleep_quality',
    label: 'the quality of sleep',
    features: ['deep_share', 'rem_share', 'light_share', 'awake'],
  },
  { group: 'night_heart_rate', label: 'the heart rate by night', features: ['hr_night'] },
  { group: 'day_heart_rate', label: 'the heart rate by day', features: ['hr_day'] },
  { group: 'breathing', label: 'breathing', features: ['rr_day', 'rr_night'] },
  { group: 'body', label: 'height and weight', features: ['height', 'weight', 'bmi'] },
] as const;
export const CONTRIBUTOR_GROUPS = CONTRIBUTORS.map(({ group }) => group);
export type ContributorGroup = (typeof CONTRIBUTORS)[number]['group'];

/** The features of a typical day, in the catalogue's units. */
export const TYPICAL_FEATURES = [
  'hr_day',
  'rr_day',
  'hr_night',
  'rr_night',
  'sleep_time',
  'deep_share',
  'rem_share',
  'light_share',
  'awake',
  'height',
  'weight',
] as const;

/** The command that makes the table for a network's explanations. */
export const EXPLAIN_COMMAND = 'npm run model:build -- --explain FOLDER (in a clone)';

/** Mixture m takes group g from today where bit g of m is set, else from the reference day. */
export const MIXTURES = 2 ** CONTRIBUTORS.length;

/** The kinds of reference days: see `docs/EXPLAIN.md`. */
export const AGAINST = ['typical', 'last nights', 'usual'] as const;
export type Against = (typeof AGAINST)[number];

export const CONFIDENCES = ['high', 'medium', 'low'] as const;
export type Confidence = (typeof CONFIDENCES)[number];

const POINTS = SCORE_FIELDS.length;

/**
 * The floats that a worker returns for an explained request, in order: the five scores of the reference day, the five
 * contributions of each group, how far the five ranges reach below and above their scores, and the five scores of the
 * last nights' day, if the reference day is the usual one and there were last nights (else 0).
 */
export const EXPLANATION = {
  reference: 0,
  contributors: POINTS,
  below: POINTS * (1 + CONTRIBUTORS.length),
  above: POINTS * (2 + CONTRIBUTORS.length),
  lastNights: POINTS * (3 + CONTRIBUTORS.length),
  /** Even, so that the data after it in memory is aligned. */
  length: POINTS * (4 + CONTRIBUTORS.length),
} as const;
