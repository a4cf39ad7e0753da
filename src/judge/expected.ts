/** The effects that the model card lets expect. */
import type { ScoreName } from './outcomes.js';
import type { View } from './sums.js';

/** Expected rank correlations of a score if its model card is right. */
export interface ExpectedSize {
  /** With the outcome, and partial, given minutes asleep, heart rate and the person's last outcomes. */
  readonly goes: number;
  readonly adds: number;
}

/**
 * For the shipped network: the outcome is the percentile (for valence and arousal the label) that the cohort of its
 * card draws for each of 14 days, with the person's lasting share and the day's noise. Computed with 20,000 people; a
 * test (`npm test -- judge/populations`) compares this table with what fewer people give.
 */
export const EXPECTED: Readonly<Record<ScoreName, Readonly<Record<View, ExpectedSize>>>> = {
  C_SCORE: { within: { goes: 0.081, adds: 0.065 }, pooled: { goes: 0.178, adds: 0.043 } },
  attention: { within: { goes: 0.093, adds: 0.071 }, pooled: { goes: 0.171, adds: 0.031 } },
  memory: { within: { goes: 0.046, adds: 0.042 }, pooled: { goes: 0.087, adds: 0.036 } },
  reasoning: { within: { goes: 0.011, adds: 0.008 }, pooled: { goes: 0.066, adds: 0.02 } },
  stress: { within: { goes: 0.204, adds: 0.151 }, pooled: { goes: 0.202, adds: 0.134 } },
  valence: { within: { goes: 0.099, adds: 0.031 }, pooled: { goes: 0.115, adds: 0.042 } },
  arousal: { within: { goes: 0.143, adds: 0.132 }, pooled: { goes: 0.138, adds: 0.13 } },
};
