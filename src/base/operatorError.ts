/** An error that the operator can fix: its message says what is wrong in one line. Shown without a stack. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';

  /** For the scripts, which can't import this class. */
  get isForOperator(): boolean {
    return true;
  }
}
