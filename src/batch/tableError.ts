import { messageOf } from '../base/errors.js';
import { OperatorError } from '../base/operatorError.js';

/** A table that can't be scored as it is, or can't be read. */
export class TableError extends OperatorError {
  override readonly name = 'TableError';
}

/** What was thrown while `what` was read: of a decoder about the table, else (a disk that fails) as it is. */
export function readingError(error: unknown, what: string): unknown {
  if (error instanceof OperatorError || (error instanceof Error && 'syscall' in error)) return error;
  const message = messageOf(error);
  const advice = /compressed/.test(message) ? ': write it uncompressed, or as Parquet' : '';
  return new TableError(`${what} can't be read: ${message}${advice}`);
}
