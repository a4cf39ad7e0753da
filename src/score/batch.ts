import { SCORE_BOUNDS } from '#rules/fields.js';
import { FIRST_PROBABILITY, OUTPUT_COLUMNS } from '../model/tensors.js';
import type { PredictionRequest } from '../night/request.js';
import type { BatchVariant } from '../contract/graphVariant.js';
import { explanationAt, writeExplained, writeRow, type Block } from './batchBuffers.js';
import type { ScoredRow, ScoreHandler, ScoringModel } from './scorer.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Requests of one variant that share a block of the buffers and a model run. */
export class Batch {
  variant: BatchVariant = 'base';
  /** Whether its rows are lines of lists. */
  isOfLines = false;
  rows = 0;
  /** When the batch was handed to the pool; 0 while it is not. */
  sentMs = 0;
  /** Rows without an answer that run again, each alone, because the run of the batch failed; 0 before it has. */
  retried = 0;
  private readonly handlers: (ScoreHandler | undefined)[] = [];
  private readonly arrivedMs: number[] = [];
  /** Passed to handlers: one object for all rows, because one for each would slow the hot path. */
  private readonly row: Mutable<ScoredRow>;

  constructor(
    readonly blockIndex: number,
    readonly block: Block,
    model: ScoringModel,
  ) {
    this.row = { scores: block.scores, offset: 0, model, explanation: undefined };
  }

  /** Writes `request` as the next row. If that throws, the batch is unchanged. */
  add(request: PredictionRequest, handler: ScoreHandler, nowMs: number): void {
    const row = this.rows;
    writeRow(this.block, row, request);
    if (this.variant === 'explain') writeExplained(this.block, row, request);
    this.handlers[row] = handler;
    this.arrivedMs[row] = nowMs;
    this.rows++;
  }

  /** Takes the handler of `row`, so that it is called only once; undefined if it was already taken. */
  take(row: number): ScoreHandler | undefined {
    const handler = this.handlers[row];
    this.handlers[row] = undefined;
    return handler;
  }

  /** The handler of `row`, even if its caller hung up; undefined if it was taken. */
  waiting(row: number): ScoreHandler | undefined {
    return this.handlers[row];
  }

  isWaitedFor(row: number): boolean {
    return this.waiting(row)?.isGone === false;
  }

  hasWaiting(): boolean {
    for (let row = 0; row < this.rows; row++) if (this.isWaitedFor(row)) return true;
    return false;
  }

  /** Whether `row` has waited for as long as its caller said it would, or as the service lets callers wait. */
  isExpired(row: number, nowMs: number, deadlineMs: number): boolean {
    const { expiresMs = Infinity, isPatient = false } = this.handlers[row] ?? {};
    return expiresMs <= nowMs || (!isPatient && this.arrived(row) < nowMs - deadlineMs);
  }

  arrived(row: number): number {
    return this.arrivedMs[row] ?? 0;
  }

  /** The scores of `row`. The object is filled anew for the next row. */
  scored(row: number): ScoredRow {
    this.row.offset = row * OUTPUT_COLUMNS;
    this.row.explanation = this.explanation(row);
    return this.row;
  }

  /** The explanation of `row`, if one is requested. */
  private explanation(row: number): Float32Array | undefined {
    return this.variant === 'explain' ? explanationAt(this.block, row) : undefined;
  }

  /** Whether the scores are finite and in range: others must not leave the service. */
  isSound(row: number): boolean {
    if (this.explanation(row)?.every(Number.isFinite) === false) return false;
    const { scores } = this.block;
    const first = row * OUTPUT_COLUMNS;
    for (let column = 0; column < OUTPUT_COLUMNS; column++) {
      const value = scores[first + column]!; // row < batchMax
      if (!(value >= 0 && value <= (column < FIRST_PROBABILITY ? SCORE_BOUNDS.maximum : 1))) return false;
    }
    return true;
  }

  /** Empties the batch for the next use. */
  reset(): void {
    this.rows = 0;
    this.isOfLines = false;
    this.sentMs = 0;
    this.retried = 0;
    this.handlers.length = 0;
    this.arrivedMs.length = 0;
  }
}
