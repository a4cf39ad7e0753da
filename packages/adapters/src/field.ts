import { UnitError } from './unitChecks.js';
import { AdapterError, placeOf, withoutStack, type Path } from './adapterError.js';
import { lookOf } from './looks.js';
import { FIRST_MS, localMs, offsetAt, offsetMs, writtenTime } from './zone.js';

const DAY_S = 86_400;

/**
 * A value within a provider's data, and its path. null counts as absent. Nothing gets at the value but through a method
 * that judges its kind: what a stranger sent may have no text and be no number (`{"toString": null}`). @internal
 */
export class Field {
  constructor(
    private readonly value: unknown,
    private readonly name: string | number,
    /** The zone for times within it that have none. */
    readonly zone?: string | null,
    private readonly parent?: Field,
  ) {}

  /** Made only when it is asked for: most fields are read without an error. */
  get path(): Path {
    return this.parent === undefined ? [this.name] : [...this.parent.path, this.name];
  }

  /** The path as text. */
  get place(): string {
    return placeOf(this.path);
  }

  /** Another value in its place. */
  as(value: unknown): Field {
    return new Field(value, this.name, this.zone, this.parent);
  }

  /** The same value, its times in another zone. */
  in(zone: string | undefined): Field {
    return new Field(this.value, this.name, zone, this.parent);
  }

  get isAbsent(): boolean {
    return this.value === undefined || this.value === null;
  }

  get isText(): boolean {
    return typeof this.value === 'string';
  }

  get isList(): boolean {
    return Array.isArray(this.value);
  }

  get isObject(): boolean {
    return typeof this.value === 'object' && this.value !== null && !Array.isArray(this.value);
  }

  /** Whether both are the same text, number or truth. */
  isSame({ value }: Field): boolean {
    return this.value === value;
  }

  /** The same place with the value alone, if it is no object, and nothing of what it came in. */
  detached(): Field {
    return new Field(typeof this.value === 'object' ? undefined : this.value, this.place);
  }

  /** A field of an object, and of its objects. */
  get(name: string, ...names: readonly string[]): Field {
    let field = this.child(name);
    for (const inner of names) field = field.child(inner);
    return field;
  }

  private child(name: string): Field {
    if (this.isAbsent) return new Field(undefined, name, this.zone, this);
    if (!this.isObject) this.fail('expected an object');
    const value = this.value as Readonly<Record<string, unknown>>;
    return new Field(Object.hasOwn(value, name) ? value[name] : undefined, name, this.zone, this);
  }

  /** The field under the first of two names that has a value. */
  either(name: string, other: string): Field {
    const field = this.get(name);
    return field.isAbsent ? this.get(other) : field;
  }

  /** A cell of a row, whose column may stand under a longer name; an empty one is absent. */
  cell(name: string, before = ''): Field {
    const found = this.either(name, `${before}${name}`);
    return found.isText && found.text()?.trim() === '' ? found.as(undefined) : found;
  }

  /** Whether it is an object that has this field, even if null. */
  has(name: string): boolean {
    return typeof this.value === 'object' && this.value !== null && Object.hasOwn(this.value, name);
  }

  /** The elements of an array; none if it is absent. */
  items(): Field[] {
    if (this.isAbsent) return [];
    if (!Array.isArray(this.value)) this.fail('expected an array');
    return this.value.map((item, index) => new Field(item, index, this.zone, this));
  }

  /** The elements of an array, or else the value itself. */
  oneOrItems(): Field[] {
    return Array.isArray(this.value) ? this.items() : [this];
  }

  /** The fields of an object, by their names; none if it is absent. */
  entries(): [name: string, field: Field][] {
    if (this.isAbsent) return [];
    if (!this.isObject) this.fail('expected an object');
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

  /** A text, or a number as text: some write one as the other. */
  textOrNumber(): string | undefined {
    if (typeof this.value === 'number') return String(this.value);
    return this.isAbsent || this.isText ? this.text() : this.fail('expected a string or a number');
  }

  /** The entry of a table for a text; undefined if that is not in it. */
  named<Value>(table: Readonly<Record<string, Value>>): Value | undefined {
    const text = this.text();
    return text !== undefined && Object.hasOwn(table, text) ? table[text] : undefined;
  }

  flag(): boolean {
    if (this.isAbsent) return false;
    return typeof this.value === 'boolean' ? this.value : this.fail('expected true or false');
  }

  /** Milliseconds since 1970 of an ISO 8601 time; one without an offset is in `zone`. */
  moment(): number {
    const written = writtenTime(this.required(this.text()).trim());
    if (written === undefined) this.fail('expected a time in ISO 8601');
    if (written.clockMs === undefined) this.fail('is no point in time');
    const own = written.offset ?? this.zone ?? undefined;
    if (own === undefined) this.fail('a local time without an offset; give the zone of the person');
    return localMs(written.clockMs, own);
  }

  /**
   * The offset that a time states, in milliseconds east of UTC; undefined if it states none or only "Z". One of zero is
   * how many write UTC: where the zone of the person is given, it counts.
   */
  eastMs(): number | undefined {
    const offset = this.isText ? writtenTime((this.text() ?? '').trim())?.offset : undefined;
    if (offset === undefined || offset.toUpperCase() === 'Z') return undefined;
    const ms = offsetMs(offset);
    return ms === 0 && this.zone !== undefined ? undefined : ms;
  }

  /**
   * Milliseconds east of UTC of an offset as providers write it: in seconds, as "3600s" too, "+01:00", "UTC+0100", a
   * zone, or an object with the seconds. Undefined if it is none.
   */
  offset(atMs: number): number | undefined {
    if (this.isObject) return this.get('totalSeconds').offset(atMs);
    const text = this.isText ? (this.text() ?? '').replace(/^UTC(?=[+-])/, '') : '';
    const [, written] = /^(-?\d+)s$/.exec(text) ?? [];
    if (this.isText && written === undefined)
      return offsetMs(text) ?? (/^(UTC$|[a-z_]+\/)/i.test(text) ? offsetAt(atMs, text) : undefined);
    const seconds = written === undefined ? this.number() : Number(written);
    if (seconds !== undefined && Math.abs(seconds) > DAY_S) this.fail('expected seconds east of UTC');
    return seconds === undefined ? undefined : seconds * 1000;
  }

  /** Milliseconds since 1970 of seconds since 1970. */
  unixSeconds(): number {
    return this.since1970('seconds', 1000);
  }

  /** Milliseconds since 1970. */
  unixMs(): number {
    return this.since1970('milliseconds', 1);
  }

  private since1970(unit: string, unitMs: number): number {
    const ms = this.required(this.number()) * unitMs;
    return ms > FIRST_MS && ms < 1e14 ? ms : this.fail(`expected ${unit} since 1970`);
  }

  required<Value>(value: Value | undefined): Value {
    return value === undefined ? this.fail('is missing') : value;
  }

  fail(what: string, type?: AdapterError['type']): never {
    throw withoutStack(() => new AdapterError(this.path, what, type));
  }

  /** Names this field in what `work` throws. */
  located<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (error instanceof UnitError) throw new UnitError(error.message, this.path);
      if (error instanceof RangeError && !(error instanceof AdapterError)) this.fail(error.message);
      throw error;
    }
  }

  /** The error for another form than the documented one: says what was expected and, if it can tell, what this is. */
  expected(what: string): never {
    const look = lookOf(this.value);
    return this.fail(`expected ${what}${look === undefined ? '' : `; ${look}`}`);
  }
}

/** Answers by their names, in the zone of the options. @internal */
export interface Sent<Input> {
  (name: Extract<keyof Input, string>): Field;
  readonly options: Input;
}

/** @internal */
export function fieldsOf<Input extends { readonly zone?: string }>(options: Input): Sent<Input> {
  const sent = (name: Extract<keyof Input, string>) => new Field(options[name], name, options.zone);
  return Object.assign(sent, { options });
}

/**
 * @param name  of the field that says whose a record is
 * @returns the first of these fields
 * @throws AdapterError if they are of several people: their nights would become one
 * @internal
 */
export function refuseOthers(
  name: string,
  ...lists: readonly (readonly Field[] | undefined)[]
): Field | undefined {
  const named = lists.flatMap((records) => records?.map((record) => record.get(name)) ?? []);
  const [first, ...others] = named.filter((field) => !field.isAbsent);
  others.find((field) => first?.isSame(field) === false)?.fail('is another person: send the answers of one');
  return first;
}

/** How an answer holds its records. @internal */
export interface Envelope {
  /** The path of the list. */
  readonly list?: readonly string[];
  /** A field of a single record: a record may take the place of the answer. */
  readonly one?: string;
  /** The answer may be the list itself. */
  readonly isList?: boolean;
  /** The answer omits its list if it is empty, as protocol buffers do. */
  readonly omitsEmpty?: boolean;
  /** Names the answer in the message. */
  readonly what: string;
}

/**
 * The records of an answer; undefined if it was not sent. An answer without records is no error; anything that is
 * not an answer is. @internal
 */
export function recordsOf(
  answer: Field,
  { list = [], one, isList, omitsEmpty, what }: Envelope,
): Field[] | undefined {
  if (answer.isAbsent) return undefined;
  if (!answer.isObject) return isList === true && answer.isList ? answer.items() : answer.expected(what);
  if (one !== undefined && !answer.get(one).isAbsent) return [answer];
  if (omitsEmpty === true && answer.entries().length === 0) return [];
  let found = answer;
  for (const name of list) {
    if (!found.isObject) answer.expected(what);
    found = found.get(name);
  }
  return found === answer || !found.isList ? answer.expected(what) : found.items();
}

/** The elements of a list that is sent by itself; undefined if it was not. @internal */
export function listOf(sent: Field, elements: string): Field[] | undefined {
  return recordsOf(sent, { isList: true, what: `a list of ${elements}` });
}

/** The rows of a table. @internal */
export const ROWS = 'rows, as objects by the names of columns';
