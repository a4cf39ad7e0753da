import { OperatorError } from '../base/operatorError.js';
import type { MeasuringConstants } from '../pipeline/measuredRow.js';
import type { PredictionRequest } from '../records/request.js';
import type { ExplainOutcome, Scorer } from '../scoring/scorer.js';
import type { RowPlace } from './job.js';

/** Scores rows, with or without an explanation of each. */
export interface RowScorer {
  /** Whether the quality of each row is needed. */
  readonly explainsEach?: boolean;
  /** The model's constants for measurements; undefined if it takes none. */
  readonly constants?: MeasuringConstants | undefined;
  admit(request: PredictionRequest, place: RowPlace): ExplainOutcome;
}

/** @throws OperatorError if explanations are requested of a model that has none */
export function rowScorer(scorer: Scorer, explainsEach: boolean): RowScorer {
  const { measured: constants } = scorer.model;
  if (!explainsEach)
    return { explainsEach, constants, admit: (request, place) => scorer.admit(request, place) };
  if (scorer.model.explainSettings === undefined) {
    throw new OperatorError(
      `${scorer.model.version} has no graph that explains its scores: leave out --explain`,
    );
  }
  return {
    explainsEach,
    constants,
    admit: (request, place) => scorer.admitExplained(request, place),
  };
}
