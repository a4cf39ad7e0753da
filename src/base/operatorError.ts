/** An error that whoever runs the service can mend: its message says what is wrong, in one line. No stack is shown. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';

  /** For the scripts, which know no class of ours. */
  get isForOperator(): boolean {
    return true;
  }
}
