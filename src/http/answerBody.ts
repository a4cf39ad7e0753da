import type { OverloadCause, RecordingLabel } from '../contract/metrics.js';
import type { BodyProblem } from '../contract/problems.js';
import { explanationOf } from '../night/explained/explanation.js';
import { adjustedRow } from '../night/measuredRow.js';
import type { Quality } from '../night/quality.js';
import { measuredFields, respond, withFields } from '../night/respond.js';
import type { HistoryToCome } from '../night/request.js';
import type { ScoredRow, ScoreHandler, Timing } from '../score/scorer.js';

/** The body of a 200. */
export function answerBody(row: ScoredRow, inferMs: number, asked: Asked): string {
  const { quality, history, recordingTold } = asked;
  const { scores, offset, model, explanation: floats } = row;
  const { thresholds, explainSettings } = model;
  const adjustments = history?.adjustments;
  const moved = adjustments === undefined ? scores : adjustedRow(adjustments, scores, offset);
  const movedAt = adjustments === undefined ? offset : 0;
  const body = respond(moved, movedAt, inferMs, thresholds);
  if (history === undefined && quality === undefined && recordingTold === undefined) return body;
  const unmeasured = adjustments && { scores, offset, adjustments };
  const isExplained = floats !== undefined && quality !== undefined && explainSettings !== undefined;
  const explained = isExplained && { scores: moved, offset: movedAt, floats, unmeasured };
  return withFields(body, {
    unmeasured: unmeasured && respond(scores, offset, undefined, thresholds),
    explanation: explained ? JSON.stringify(explanationOf(explained, quality, explainSettings)) : undefined,
    ...(history && measuredFields(history)),
    // The history keeps the network's scores without the effect of measurements.
    history: history && `"${history.text(row, thresholds)}"`,
    recording: recordingTold,
  });
}

/** Wishes of a request beyond its scores. */
export interface Asked {
  /** For an explanation. */
  readonly quality: Quality | undefined;
  /** The history that the answer continues. */
  readonly history: HistoryToCome | undefined;
  /** How its recording was read, as JSON. */
  readonly recordingTold?: string | undefined;
}

/**
 * Learns the outcome of a body that has arrived completely: its scores, or one of the refusals. What it asks for is
 * noted here while it is read.
 */
export abstract class BodyScoring implements ScoreHandler, Asked {
  abstract readonly requestId: string;
  abstract readonly isGone: boolean;
  abstract readonly expiresMs: number;
  quality: Quality | undefined;
  history: HistoryToCome | undefined;
  recordingTold: string | undefined;
  /** Whose recording it had. */
  recording: RecordingLabel | undefined;
  /** When its recording is given up, on the scorer's clock; Infinity without one. */
  dueMs = Infinity;

  abstract scored(row: ScoredRow, timing: Timing): void;
  abstract overloaded(cause: OverloadCause): void;
  abstract refuseBody(problem: BodyProblem): void;
  /** An unexpected error, which no refusal covers. */
  abstract failedUnexpectedly(): void;

  failed(cause: 'expired' | 'fault'): void {
    if (cause === 'expired') this.overloaded('deadline');
    else this.failedUnexpectedly();
  }
}
