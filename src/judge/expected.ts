import type { ScoreName } from './outcomes.js';
import type { View } from './sums.js';

/** Rank correlations that are to be expected of a score where its card is right. */
export interface ExpectedSize {
  /** With the outcome, and with it once minutes asleep, heart rate and own last outcomes are taken out. */
  readonly goes: number;
  readonly adds: number;
}

/**
 * Of the shipped network: the outcome is the percentile (of valence and arousal the side) that the cohort of its card
 * draws for each of 14 days, with the person's lasting share and the day's noise. `npm run judge:populations -- --sizes`
 * prints them, and a test holds them against it.
 */
export const EXPECTED: Readonly<Record<ScoreName, Readonly<Record<View, ExpectedSize>>>> = {
  C_SCORE: { within: { goes: 0.05, adds: 0.04 }, pooled: { goes: 0.15, adds: 0.1 } },
  attention: { within: { goes: 0.05, adds: 0.04 }, pooled: { goes: 0.15, adds: 0.1 } },
  memory: { within: { goes: 0.05, adds: 0.04 }, pooled: { goes: 0.15, adds: 0.1 } },
  reasoning: { within: { goes: 0.05, adds: 0.04 }, pooled: { goes: 0.15, adds: 0.1 } },
  stress: { within: { goes: 0.05, adds: 0.04 }, pooled: { goes: 0.15, adds: 0.1 } },
  valence: { within: { goes: 0.05, adds: 0.04 }, pooled: { goes: 0.15, adds: 0.1 } },
  arousal: { within: { goes: 0.05, adds: 0.04 }, pooled: { goes: 0.15, adds: 0.1 } },
};
