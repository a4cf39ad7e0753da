import type { OverloadCause, RecordingLabel } from '../contract/metrics.js';
import type { BodyProblem } from '../contract/problems.js';
import { explanationOf, type ExplainedRow } from '../pipeline/explanation.js';
import { adjustedRow } from '../pipeline/measuredRow.js';
import type { Quality } from '../pipeline/quality.js';
import {
  respond,
  withField,
  withHistory,
  withJson,
  withMeasured,
  withUnmeasured,
} from '../pipeline/respond.js';
import type { HistoryToCome } from '../records/request.js';
import type { ScoredRow, ScoreHandler } from '../scoring/scorer.js';

/** What a request asked for beyond its scores. */
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
export interface BodyScoring extends ScoreHandler, Asked {
  readonly requestId: string;
  quality: Quality | undefined;
  history: HistoryToCome | undefined;
  recordingTold: string | undefined;
  /** Whose recording it had. */
  recording: RecordingLabel | undefined;
  /** When its recording is given up, on the scorer's clock; Infinity without one. */
  dueMs: number;
  readonly expiresMs: number;
  overloaded(cause: OverloadCause): void;
  refuseBody(problem: BodyProblem): void;
  failedUnexpectedly(): void;
}

/** The body of a 200. */
export function answerBody(row: ScoredRow, inferMs: number, asked: Asked): string {
  const { quality, history, recordingTold } = asked;
  const body = history === undefined ? plain(row, inferMs, quality) : carried(row, inferMs, quality, history);
  return recordingTold === undefined ? body : withJson(body, 'recording', recordingTold);
}

function plain(row: ScoredRow, inferMs: number, quality: Quality | undefined): string {
  const body = respond(row.scores, row.offset, inferMs, row.model.thresholds);
  return row.explanation === undefined ? body : explained(body, row, row.explanation, quality);
}

/** The history keeps the network's scores without the effect of measurements. */
function carried(
  row: ScoredRow,
  inferMs: number,
  quality: Quality | undefined,
  history: HistoryToCome,
): string {
  const { adjustments } = history;
  const told =
    adjustments === undefined ? plain(row, inferMs, quality) : measured(row, inferMs, quality, adjustments);
  return withHistory(withMeasured(told, history), history.text(row, row.model.thresholds));
}

function measured(
  row: ScoredRow,
  inferMs: number,
  quality: Quality | undefined,
  adjustments: Float64Array,
): string {
  const { scores, offset, model, explanation } = row;
  const moved = { scores: adjustedRow(adjustments, scores, offset), offset: 0, model };
  const body = withUnmeasured(
    respond(moved.scores, 0, inferMs, model.thresholds),
    scores,
    offset,
    model.thresholds,
  );
  if (explanation === undefined) return body;
  return explained(body, moved, explanation, quality, { scores, offset, adjustments });
}

function explained(
  body: string,
  { scores, offset, model }: ScoredRow,
  floats: Float32Array,
  quality: Quality | undefined,
  unmeasured?: ExplainedRow['unmeasured'],
): string {
  if (quality === undefined || model.explainSettings === undefined) return body;
  const row = { scores, offset, floats, unmeasured };
  return withField(body, 'explanation', explanationOf(row, quality, model.explainSettings));
}
