import { bodyRefusal, problemAnswer, type BodyProblem, type Refused } from '../contract/problems.js';
import type { ScoredRow, Timing } from '../score/scorer.js';
import { answerBody, BodyScoring } from './answerBody.js';

/** A request of the process itself, from the page /try. `answer` is called once. */
export class OwnRequest extends BodyScoring {
  readonly isGone = false;
  /** Used in the log if an unexpected error occurs. */
  readonly requestId = 'try';

  constructor(private readonly answer: (answer: OwnAnswer) => void) {
    super();
  }

  get expiresMs(): number {
    return this.dueMs;
  }

  scored(row: ScoredRow, { inferMs }: Timing): void {
    this.answer({ status: 200, body: answerBody(row, inferMs, this) });
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

/** The answer that a caller of `POST /predict` would get, without a connection to write it to. */
export type OwnAnswer = Refused;
