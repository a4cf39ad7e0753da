import type { RecordingLabel } from '../contract/metrics.js';
import { bodyRefusal, type BodyProblem, type Refused } from '../contract/problems.js';
import type { Quality } from '../pipeline/quality.js';
import type { HistoryToCome } from '../records/request.js';
import type { ScoredRow, Timing } from '../scoring/scorer.js';
import { answerBody, type BodyScoring } from './answerBody.js';
import { problemAnswer } from './reply.js';

/** What a caller of `POST /predict` would get, without a connection to write it to. */
export type OwnAnswer = Refused;

/** A request of the process itself, from the page /try. `answer` is called once. */
export class OwnRequest implements BodyScoring {
  readonly isGone = false;
  /** Used in the log if an unexpected error occurs. */
  readonly requestId = 'try';
  quality: Quality | undefined;
  history: HistoryToCome | undefined;
  recordingTold: string | undefined;
  recording: RecordingLabel | undefined;
  dueMs = Infinity;

  constructor(private readonly answer: (answer: OwnAnswer) => void) {}

  get expiresMs(): number {
    return this.dueMs;
  }

  scored(row: ScoredRow, { inferMs }: Timing): void {
    this.answer({ status: 200, body: answerBody(row, inferMs, this) });
  }

  failed(cause: 'expired' | 'fault'): void {
    if (cause === 'expired') this.overloaded();
    else this.failedUnexpectedly();
  }

  overloaded(): void {
    this.answer(problemAnswer('overloaded'));
  }

  refuseBody(problem: BodyProblem): void {
    this.answer(bodyRefusal(problem));
  }

  failedUnexpectedly(): void {
    this.answer(problemAnswer('internal'));
  }
}
