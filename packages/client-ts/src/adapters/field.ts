import { localMs, TIME } from './zone.js';

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

/** A value within what a provider sent, and where it lies. What is null counts as absent. @internal */
export class Field {
  constructor(
    readonly value: unknown,
    readonly path: string,
  ) {}

  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  /** A field of an object, and of its objects. */
  get(...names: readonly string[]): Field {
    return names.reduce<Field>((field, name) => field.child(name), this);
  }

  private child(name: string): Field {
    const path = this.path === '' ? name : `${this.path}.${name}`;
    if (this.isAbsent) return new Field(undefined, path);
    if (typeof this.value !== 'object' || Array.isArray(this.value)) this.fail('expected an object');
    return new Field((this.value as Readonly<Record<string, unknown>>)[name], path);
  }

  /** The elements of an array; none where it is absent. */
  items(): Field[] {
    if (this.isAbsent) return [];
    if (!Array.isArray(this.value)) this.fail('expected an array');
    return this.value.map((item, index) => new Field(item, `${this.path}[${index}]`));
  }

  /** The fields of an object, by their names; none where it is absent. */
  entries(): [name: string, field: Field][] {
    if (this.isAbsent) return [];
    if (typeof this.value !== 'object' || Array.isArray(this.value)) this.fail('expected an object');
    return Object.keys(this.value as object).map((name) => [name, this.child(name)]);
  }

  number(): number | undefined {
    if (this.isAbsent) return undefined;
    if (typeof this.value !== 'number' || !Number.isFinite(this.value)) this.fail('expected a number');
    return this.value;
  }

  /** A number, also in quotes, as protocol buffers write whole numbers in JSON. */
  quotedNumber(): number | undefined {
    if (typeof this.value !== 'string') return this.number();
    return /^\d+(\.\d+)?$/.test(this.value) ? Number(this.value) : this.fail('expected a number');
  }

  text(): string | undefined {
    if (this.isAbsent) return undefined;
    return typeof this.value === 'string' ? this.value : this.fail('expected a string');
  }

  flag(): boolean {
    if (this.isAbsent) return false;
    return typeof this.value === 'boolean' ? this.value : this.fail('expected true or false');
  }

  /** Milliseconds since 1970 of an ISO 8601 time; `zone` is that of a time that has none. */
  moment(zone?: string): number {
    const found = TIME.exec(this.required(this.text()).trim());
    if (found === null) this.fail('expected a time in ISO 8601');
    const clock = Date.parse(`${found[1]}T${found[2]}Z`);
    if (Number.isNaN(clock)) this.fail('is no point in time');
    const own = found[3] ?? zone;
    if (own === undefined) this.fail('a local time without an offset; give the zone of the person');
    return this.located(() => localMs(clock, own));
  }

  /** Milliseconds since 1970 of seconds since 1970. */
  unixSeconds(): number {
    const seconds = this.required(this.number());
    if (!(seconds > 1e8 && seconds < 1e11)) this.fail('expected seconds since 1970');
    return seconds * 1000;
  }

  required<Value>(value: Value | undefined): Value {
    return value === undefined ? this.fail('is missing') : value;
  }

  fail(what: string): never {
    throw new AdapterError(this.path, what);
  }

  /** Names this field in what `work` throws. */
  located<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (error instanceof Error && !(error instanceof AdapterError))
        error.message = `${this.path}: ${error.message}`;
      throw error;
    }
  }
}
