import { messageOf } from '../base/errors.js';
import { OperatorError } from '../base/operatorError.js';

/** A table that can't be scored in this form, or can't be read. */
export class TableError extends OperatorError {
  override readonly name = 'TableError';
}

/** The names of file formats in messages. */
export const FILE_NAMES = { arrow: 'the Arrow file', parquet: 'the Parquet file' } as const;

/** A decoder that failed in the middle of its work, and can't be used again. */
export function isBroken(error: unknown): boolean {
  return error instanceof Error && error.name === 'RuntimeError';
}

/**
 * An error thrown while reading `what`: a decoder's error becomes one about the table; others, such as a failing
 * disk's, stay unchanged.
 */
export function readingError(error: unknown, what: string): unknown {
  if (error instanceof OperatorError || (error instanceof Error && 'syscall' in error)) return error;
  if (isBroken(error)) return new TableError(`${what} is damaged: its decoder broke off`);
  const message = messageOf(error);
  const advice = /compressed/.test(message) ? ': write it uncompressed, or as Parquet' : '';
  return new TableError(`${what} can't be read: ${message}${advice}`);
}
