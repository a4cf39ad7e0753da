/** Errors: those for the operator, and forms that cross threads. */

/** The thrown value as an error. */
export function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}

/** The message of a thrown value. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** An error that the operator can fix: its message says what is wrong in one line. Shown without a stack. */
export class OperatorError extends Error {
  override readonly name: string = this.constructor.name;

  /** For the scripts, which can't import this class. */
  get isForOperator(): boolean {
    return true;
  }
}

/** A setting that can't be used as it stands, which only the start finds: the exit code is that of a mistaken one. */
export class SettingError extends OperatorError {}

/**
 * An error in a form that survives crossing threads: classes are lost, and an error of a native library would arrive
 * as an empty object.
 */
export interface PlainError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly isForOperator: boolean;
  /** The code of a system call that failed. */
  readonly code?: string;
}

export function plainError(cause: unknown): PlainError {
  const { message, stack, code } = asError(cause) as NodeJS.ErrnoException;
  return {
    message,
    stack,
    isForOperator: cause instanceof OperatorError,
    ...(code !== undefined && { code }),
  };
}

export function errorOf({ message, stack, isForOperator, code }: PlainError): Error {
  const error = isForOperator ? new OperatorError(message) : new Error(message);
  return Object.assign(error, stack !== undefined && { stack }, code !== undefined && { code });
}
