/** A mistake in the arguments, in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
