import { asError } from '../base/errors.js';
import type { Hang } from '../base/hangWatch.js';
import type { Bundle } from '../model/bundle.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { readRow, type Block } from '../score/batchBuffers.js';
import type { Comparison } from '../score/comparison.js';
import type { HungListener } from '../score/openScorer.js';
import type { ScoreHandler, Scorer, ScoringModel } from '../score/scorer.js';
import { NEVER } from '../base/within.js';
import type { Scorers } from './scorers.js';

/**
 * The shadow model of one event loop. It scores copies of answered requests; its scores are compared and then
 * dropped. Nothing waits for it: a copy is made after the answers, and dropped if the queue is full.
 */
export class Shadow {
  private scorer: Scorer | undefined;
  /** The last opening or closing of a model. */
  private changing: Promise<unknown> = Promise.resolve();
  /**
   * A worker hangs and can't be ended without the process: it is left alone, and no other model is opened.
   */
  private isHung = false;

  constructor(private readonly options: ShadowOptions) {}

  /** Copies its share of the answered rows. */
  readonly offer = (block: Block, rows: readonly number[], model: ScoringModel): void => {
    const { scorer, options } = this;
    if (scorer === undefined) return;
    try {
      for (const row of rows) if (options.random() < options.share) this.copy(scorer, { block, row, model });
    } catch (error) {
      options.comparison.failed();
      options.onProblem(asError(error));
    }
  };

  /** Puts another model in force, or none. Rejects, and changes nothing, if it can't serve. */
  async replace(bundle: Bundle | undefined): Promise<void> {
    if (this.isHung) throw new Error('a worker of the shadow model hangs: only a restart ends it');
    const change = this.change(bundle);
    this.changing = change.catch(() => undefined);
    await change;
  }

  /** Removes the model for good. Resolves when its workers have ended. */
  async close(): Promise<void> {
    await this.changing;
    if (this.isHung) return NEVER;
    await this.replace(undefined);
  }

  private async change(bundle: Bundle | undefined): Promise<void> {
    const { scorers, open } = this.options;
    const opened = bundle && (await scorers.add(() => open(bundle, (hang) => this.hang(hang))));
    const before = this.scorer;
    this.scorer = opened;
    this.options.comparison.clear();
    await before?.drained();
    if (before !== undefined) await scorers.close(before);
  }

  private hang(hang: Hang): void {
    this.isHung = true;
    this.scorer = undefined;
    this.options.onProblem(new Error(`a worker of the shadow model hangs: ${JSON.stringify(hang)}`));
  }

  private copy(scorer: Scorer, { block, row, model }: Answered): void {
    const { comparison } = this.options;
    const first = row * OUTPUT_COLUMNS;
    const scores = block.scores.slice(first, first + OUTPUT_COLUMNS);
    const answered = { scores, offset: 0, model };
    const isCurrent = (): boolean => this.scorer === scorer;
    const handler: ScoreHandler = {
      isGone: false,
      scored(other, { inferMs }) {
        // Scores of a model no longer in force would count for its successor.
        if (isCurrent()) comparison.compared(answered, other, inferMs);
      },
      failed(cause) {
        if (!isCurrent()) return;
        if (cause === 'expired') comparison.dropped();
        else comparison.failed();
      },
    };
    if (scorer.admit(readRow(block, row), handler) !== 'admitted') comparison.dropped();
  }
}

export interface ShadowOptions {
  /** Share of the requests answered with scores, 0 to 1. */
  readonly share: number;
  readonly comparison: Comparison;
  readonly scorers: Scorers;
  /** Opens a model in workers of its own; `onHung` is called when one of its workers hangs. */
  open(bundle: Bundle, onHung: HungListener): Promise<Scorer>;
  /** Between 0 and 1. */
  random(): number;
  onProblem(error: Error): void;
}

interface Answered {
  readonly block: Block;
  readonly row: number;
  readonly model: ScoringModel;
}
