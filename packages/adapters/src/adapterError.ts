/** The steps to a value within what was sent, such as `['sleep', 'data', 0, 'bedtime_start']`. */
export type Path = readonly (string | number)[];

/** A path as text: `sleep.data[0].bedtime_start`. @internal */
export function placeOf(path: Path): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('').replace(/^\./, ''); // prettier-ignore
}

/**
 * Makes an error that says what is wrong with data, in a fraction of the time: it has no stack, which would be the
 * reader's. Of tens of thousands of unreadable records each has its error. @internal
 */
export function withoutStack<Made extends Error>(make: () => Made): Made {
  const engine = Error as { stackTraceLimit?: number }; // of V8; elsewhere it changes nothing
  const { stackTraceLimit = 10 } = engine;
  engine.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    engine.stackTraceLimit = stackTraceLimit;
  }
}

/** A provider's data does not have the documented form. The message names the field, never its value. */
export class AdapterError extends RangeError {
  override readonly name = 'AdapterError';

  constructor(
    readonly path: Path,
    /** The message without the field. */
    readonly sentence: string,
    readonly type: 'recording_invalid' | 'literal_error' = 'recording_invalid',
  ) {
    super(`${placeOf(path)}: ${sentence}`);
  }

  /** The place as text, such as `sleep.data[0].bedtime_start`. */
  get field(): string {
    return placeOf(this.path);
  }
}
