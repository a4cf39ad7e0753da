import { messageOf } from '../base/errors.js';
import { OperatorError } from '../base/operatorError.js';
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

/** An input in a form that this command does not read, with the remedy. */
export class FormatError extends OperatorError {
  override readonly name: string = 'FormatError';
}

/** A table that can't be read. */
export class TableError extends OperatorError {
  override readonly name = 'TableError';
}

/** Names in an input, or names requested of it, that prevent scoring. */
export class NamesError extends OperatorError {
  override readonly name = 'NamesError';
}

/**
 * An error thrown while reading `what`: a decoder's error becomes one about the table; others, such as a failing
 * disk's, stay unchanged.
 */
export function readingError(error: unknown, what: string): unknown {
  if (error instanceof OperatorError || (error instanceof Error && 'syscall' in error)) return error;
  const message = messageOf(error);
  const advice = /compressed/.test(message) ? ': write it uncompressed, or as Parquet' : '';
  return new TableError(`${what} can't be read: ${message}${advice}`);
}
