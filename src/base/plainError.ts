import { asError } from './errors.js';
import { OperatorError } from './operatorError.js';

/**
 * An error in a form that survives crossing threads: classes are lost, and an error of a native library would arrive
 * as an empty object.
 */
export interface PlainError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly isForOperator: boolean;
}

export function plainError(cause: unknown): PlainError {
  const { message, stack } = asError(cause);
  return { message, stack, isForOperator: cause instanceof OperatorError };
}

export function errorOf({ message, stack, isForOperator }: PlainError): Error {
  const error = isForOperator ? new OperatorError(message) : new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
