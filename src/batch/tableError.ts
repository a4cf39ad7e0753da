import { OperatorError } from '../base/operatorError.js';

/** A table that can't be scored as it is, or can't be read. */
export class TableError extends OperatorError {
  override readonly name = 'TableError';
}
