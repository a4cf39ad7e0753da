import { OperatorError } from '../base/operatorError.js';

/** A name or an option that can't be followed, or a file that does not match its format. */
export class FormatError extends OperatorError {
  override readonly name = 'FormatError';
}
