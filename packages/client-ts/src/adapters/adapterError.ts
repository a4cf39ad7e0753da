/** What a provider sent can't be read as its documentation says. The message names the field, never its value. */
export class AdapterError extends RangeError {
  override readonly name = 'AdapterError';

  constructor(
    /** Where it is, as `sleep.data[0].bedtime_start`. */
    readonly field: string,
    what: string,
  ) {
    super(`${field}: ${what}`);
  }
}
