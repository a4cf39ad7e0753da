import type { Batch } from './batch.js';
import type { Block } from './batchBuffers.js';
import type { ScoringModel } from './scorer.js';

/** Gives the rows of finished batches to their callers. */
export class Answers {
  /** Called after answering; undefined without a listener. */
  onAnswered: AnswerListener | undefined;
  /** While finished batches are collected in the middle of a request's handling, no answer may be written. */
  private isCollecting = false;
  /** The answers of such batches. */
  private unwritten: (() => void)[] = [];

  constructor(private readonly options: AnswersOptions) {}

  get areWritten(): boolean {
    return this.unwritten.length === 0;
  }

  /** Answers that `work` brings are written after the request that is being read. */
  holdWhile(work: () => void): void {
    this.isCollecting = true;
    work();
    this.isCollecting = false;
  }

  /** Calls `answer` now, or after the request that is being read. */
  write(answer: () => void): void {
    if (!this.isCollecting) return answer();
    if (this.unwritten.length === 0) setImmediate(() => this.writeCollected());
    this.unwritten.push(answer);
  }

  /** Answers the rows of `run`, from `first` on, which no longer count as pending. */
  give(batch: Batch, first: number, run: CompletedRun): void {
    const answered: number[] = [];
    for (let row = first; row < first + run.rows; row++) {
      if (this.giveRow(batch, row, run) && this.onAnswered !== undefined) answered.push(row);
    }
    if (answered.length > 0) this.onAnswered?.(batch.block, answered, this.options.model);
  }

  /** @returns whether a caller got the row's scores */
  private giveRow(batch: Batch, row: number, { inferMs, rows, scoredMs }: CompletedRun): boolean {
    const handler = batch.take(row);
    if (handler === undefined || handler.isGone) return false;
    if (!batch.isSound(row)) {
      this.options.onFault(new Error('the network gave scores out of range'));
      handler.failed('fault');
      return false;
    }
    const admittedMs = batch.arrived(row);
    const queueMs = Math.max(0, scoredMs - admittedMs - inferMs);
    const dispatchMs = Math.max(0, scoredMs - batch.sentMs - inferMs);
    const timing = { queueMs, dispatchMs, inferMs, rows, admittedMs, scoredMs };
    handler.scored(batch.scored(row), timing);
    return true;
  }

  private writeCollected(): void {
    const { unwritten } = this;
    this.unwritten = [];
    for (const answer of unwritten) answer();
    this.options.onWritten();
  }
}

/** Called when `rows` of `block` were answered with scores of `model`. The block is reused when this returns. */
export type AnswerListener = (block: Block, rows: readonly number[], model: ScoringModel) => void;

/** A run that came back with scores. */
export interface CompletedRun {
  readonly inferMs: number;
  readonly rows: number;
  readonly scoredMs: number;
}

export interface AnswersOptions {
  readonly model: ScoringModel;
  onFault(cause: Error): void;
  /** Called after answers that had to wait. */
  onWritten(): void;
}
