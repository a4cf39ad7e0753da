import type { LoopRecorders } from '../contract/metrics.js';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { FIRST_PROBABILITY } from '../model/tensors.js';
import { hundredths, type Thresholds } from '../night/respond.js';
import type { ScoredRow } from './scorer.js';

/**
 * Counts how far the shadow model differs from the model that answers, in the metrics of one event loop. Compares scores
 * as callers see them, in hundredths, and keeps none of them.
 */
export class Comparison {
  constructor(private readonly metrics: LoopRecorders) {}

  /** Compares `other` with the `answered` scores; its run took `inferMs`. */
  compared(answered: ScoredRow, other: ScoredRow, inferMs: number): void {
    const { shadowCompared, shadowDifference, shadowFlips, shadowRun, shadowSigned } = this.metrics;
    for (let score = 0; score < SCORE_FIELDS.length; score++) {
      const difference = (scoreOf(other, score) - scoreOf(answered, score)) / 100;
      shadowDifference.observe(score, Math.abs(difference));
      shadowSigned.add(score, difference);
    }
    for (const [label, field] of LABEL_FIELDS.entries()) {
      const isFlipped = isHigh(answered, label, field) !== isHigh(other, label, field);
      if (isFlipped) shadowFlips.add(label);
    }
    shadowRun.observe(0, inferMs);
    shadowCompared.add(0);
  }

  /** A row was dropped for lack of room or time. */
  dropped(): void {
    this.metrics.shadowDropped.add(0);
  }

  /** The other model gave no valid scores. */
  failed(): void {
    this.metrics.shadowErrors.add(0);
  }

  /** Starts anew, because another model is compared from now on. */
  clear(): void {
    const { metrics } = this;
    for (const [key, recorder] of Object.entries(metrics)) if (key.startsWith('shadow')) recorder.clear();
  }
}

/** In hundredths. */
function scoreOf({ scores, offset }: ScoredRow, score: number): number {
  return hundredths(scores[offset + score]!); // a row has OUTPUT_COLUMNS
}

function isHigh({ scores, offset, model }: ScoredRow, label: number, field: keyof Thresholds): boolean {
  return scores[offset + FIRST_PROBABILITY + label]! >= model.thresholds[field]; // as above
}
