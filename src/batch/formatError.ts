import { OperatorError } from '../base/operatorError.js';

/** What a name or an option asks for that can't be done, or a file that is not of its form. */
export class FormatError extends OperatorError {
  override readonly name = 'FormatError';
}
