/** A provider's data does not have the documented form. The message names the field, never its value. */
export class AdapterError extends RangeError {
  override readonly name = 'AdapterError';

  constructor(
    /** The place, such as `sleep.data[0].bedtime_start`. */
    readonly field: string,
    what: string,
  ) {
    super(`${field}: ${what}`);
  }
}
