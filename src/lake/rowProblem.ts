import { MALFORMED, UNPROCESSABLE, type BodyProblem, type Finding } from '../contract/problems.js';

/** Why a row has no scores: the status and `detail` that the service would respond with. */
export interface RowProblem {
  readonly status: number;
  readonly detail: string | readonly Finding[];
}

/** The service's response to a body that it refuses. */
export function rowProblem(problem: BodyProblem): RowProblem {
  return problem.kind === 'malformed'
    ? { status: MALFORMED.status, detail: `Malformed JSON at byte ${problem.byte}` }
    : { status: UNPROCESSABLE.status, detail: problem.findings };
}
