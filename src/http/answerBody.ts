import type { OverloadCause } from '../contract/metrics.js';
import type { BodyProblem } from '../contract/problems.js';
import { explanationOf, type ExplainedRow } from '../pipeline/explanation.js';
import { adjustedRow } from '../pipeline/measuredRow.js';
import type { Quality } from '../pipeline/quality.js';
import { respond, withField, withHistory, withMeasured, withUnmeasured } from '../pipeline/respond.js';
import type { HistoryToCome } from '../records/request.js';
import type { ScoredRow, ScoreHandler } from '../scoring/scorer.js';

/** Learns the outcome of a body that has arrived completely: its scores, or one of the refusals. */
export interface BodyScoring extends ScoreHandler {
  readonly requestId: string;
  /** An explanation is requested, for data of this `quality`. */
  explainWith(quality: Quality): void;
  /** A history was sent. */
  carryOn(history: HistoryToCome): void;
  overloaded(cause: OverloadCause): void;
  refuseBody(problem: BodyProblem): void;
  failedUnexpectedly(): void;
}

/** The body of a 200; `quality` is given if an explanation was requested, `history` if one was sent. */
export function answerBody(
  row: ScoredRow,
  inferMs: number,
  quality: Quality | undefined,
  history: HistoryToCome | undefined,
): string {
  return history === undefined ? plain(row, inferMs, quality) : carried(row, inferMs, quality, history);
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
