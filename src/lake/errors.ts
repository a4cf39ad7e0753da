import { messageOf, OperatorError } from '../base/errors.js';
import { MALFORMED, UNPROCESSABLE, type BodyProblem, type Finding } from '../contract/problems.js';

/** Errors of rows, of tables and of whole runs. */

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

/** A table that can't be read. */
export class TableError extends OperatorError {}

/** A trouble that another run of the same command may not meet. */
export class TryAgainError extends OperatorError {}

/** Names in an input, or names requested of it, that prevent scoring. */
export class NamesError extends OperatorError {}

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

const NUMBER_REMEDY = 'write it with a point, without a unit, or leave the cell empty';

/** Bad rows of a run to report; the others are only in their file. */
export const TOLD_MAX = 3;

/**
 * The words for a bad row, with the remedy. `header`: the input's names by the session field that they are read as, if
 * it has a header.
 */
export function sentenceOf(
  detail: RowProblem['detail'],
  header: ReadonlyMap<string, string> | undefined,
): string {
  if (typeof detail === 'string') return detail;
  const [first] = detail;
  if (first === undefined) return 'refused';
  const { loc, msg, type } = first;
  const more = detail.length === 1 ? '' : `, and ${detail.length - 1} more`;
  const [, , field, index] = loc;
  const column = typeof field === 'string' ? header?.get(field) : undefined;
  if (column === undefined) return `${loc.slice(1).join('.') || 'the row'}: ${msg}${more}`;
  const number = typeof index === 'number' ? `, number ${index + 1}` : '';
  const remedy = type === 'number_type' ? `; ${NUMBER_REMEDY}` : '';
  return `column ${column}${number}: ${msg}${remedy}${more}`;
}
