import type { Cells, Histograms, MetricWriter } from '../base/metrics.js';
import type { LoopCatalogue } from '../contract/metrics.js';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { hundredths, type Thresholds } from '../pipeline/respond.js';
import type { ScoredRow } from './scorer.js';

/** They follow the scores, in their order. */
const FIRST_PROBABILITY = SCORE_FIELDS.length;

/**
 * Counts how far the shadow model differs from the model that answers, in the metrics of one event loop. Compares scores
 * as callers see them, in hundredths, and keeps none of them.
 */
export class Comparison {
  private readonly all: Cells;
  private readonly drops: Cells;
  private readonly errors: Cells;
  private readonly flips: Cells;
  private readonly differences: Histograms;
  private readonly signed: Cells;
  private readonly run: Histograms;

  constructor(writer: MetricWriter<LoopCatalogue>) {
    this.all = writer.cells('shadowCompared');
    this.drops = writer.cells('shadowDropped');
    this.errors = writer.cells('shadowErrors');
    this.flips = writer.cells('shadowFlips');
    this.differences = writer.histograms('shadowDifference');
    this.signed = writer.cells('shadowSigned');
    this.run = writer.histograms('shadowRun');
  }

  /** Compares `other` with the `answered` scores; its run took `inferMs`. */
  compared(answered: ScoredRow, other: ScoredRow, inferMs: number): void {
    for (let score = 0; score < SCORE_FIELDS.length; score++) {
      const difference = (scoreOf(other, score) - scoreOf(answered, score)) / 100;
      this.differences.observe(score, Math.abs(difference));
      this.signed.add(score, difference);
    }
    for (const [label, field] of LABEL_FIELDS.entries()) {
      const isFlipped = isHigh(answered, label, field) !== isHigh(other, label, field);
      if (isFlipped) this.flips.add(label);
    }
    this.run.observe(0, inferMs);
    this.all.add(0);
  }

  /** A row was dropped for lack of room or time. */
  dropped(): void {
    this.drops.add(0);
  }

  /** The other model gave no valid scores. */
  failed(): void {
    this.errors.add(0);
  }

  /** Starts anew, because another model is compared from now on. */
  clear(): void {
    for (const cells of [this.all, this.drops, this.errors]) cells.clear();
    this.flips.clear(LABEL_FIELDS.length);
    this.signed.clear(SCORE_FIELDS.length);
    this.differences.clear(SCORE_FIELDS.length);
    this.run.clear();
  }
}

/** In hundredths. */
function scoreOf({ scores, offset }: ScoredRow, score: number): number {
  return hundredths(scores[offset + score]!); // a row has OUTPUT_COLUMNS
}

function isHigh({ scores, offset, model }: ScoredRow, label: number, field: keyof Thresholds): boolean {
  return scores[offset + FIRST_PROBABILITY + label]! >= model.thresholds[field]; // as above
}
