import {
  FIELD_NAMES,
  LABEL_FIELDS,
  RECORDING_FIELD,
  SCORE_FIELDS,
  SERIES_ALIASES,
  SERIES_FIELDS,
  SESSION_SCALARS,
} from '#rules/fields.js';
import { LAYOUT } from '../night/layout.js';
import { SCALAR_PLACES, SERIES_PLACES } from '../night/places.js';
import type { WasmParser } from './wasmParser.js';

/**
 * A JSON body, as the positions of its values in the parser's memory. Only fields that the contract knows are
 * located, and only requested ones become values of JavaScript. All other content of a body is skipped as
 * bytes.
 */

/** Start and end of a value. */
export interface JsonValue {
  readonly start: number;
  readonly end: number;
}

export type Fields = ReadonlyMap<string, JsonValue>;

export interface KnownFields {
  readonly fields: Fields;
  readonly unknown: number;
}

/** An element of an array that can't be a sample. */
export interface Misfit {
  readonly index: number;
  /** Whether it is a number that is too large to represent; otherwise it is not a number. */
  readonly isInfinite: boolean;
}

export interface DecodedNumbers {
  readonly isTooLong: boolean;
  /** The first ones, as many as an answer lists. */
  readonly misfits: readonly Misfit[];
  /** All numbers if there is no misfit; valid until another array is decoded. */
  readonly samples: Float32Array;
}

type Names = readonly (string | undefined)[];

/** Objects of a body: what the parser calls each kind, and the names of its fields by their indexes. */
const OBJECTS = {
  top: {
    number: LAYOUT.TOP,
    names: named([
      ['current_session', LAYOUT.CURRENT_SESSION_FIELD],
      ['past_sessions', LAYOUT.PAST_SESSIONS_FIELD],
      ['past_targets', LAYOUT.PAST_TARGETS_FIELD],
      ['past_target', LAYOUT.PAST_TARGET_FIELD],
      ['explain', LAYOUT.EXPLAIN_FIELD],
      ['history', LAYOUT.HISTORY_FIELD],
      ['night', LAYOUT.NIGHT_FIELD],
      ['measurements', LAYOUT.MEASUREMENTS_FIELD],
    ]),
  },
  session: {
    number: LAYOUT.SESSION,
    names: named([
      ...SESSION_SCALARS.map((field) => [field, SCALAR_PLACES[field]] as const),
      ...SERIES_FIELDS.map((field) => [field, LAYOUT.SERIES_INDEX + SERIES_PLACES[field]] as const),
      [RECORDING_FIELD, LAYOUT.RECORDING_INDEX],
      [SERIES_ALIASES.HR_night, LAYOUT.SERIES_ALIAS_INDEX + LAYOUT.HR_NIGHT],
      [SERIES_ALIASES.RR_night, LAYOUT.SERIES_ALIAS_INDEX + LAYOUT.RR_NIGHT],
    ]),
  },
  target: { number: LAYOUT.TARGET, names: [...SCORE_FIELDS, ...LABEL_FIELDS] as Names },
  measurement: { number: LAYOUT.MEASUREMENT, names: FIELD_NAMES.measurement as Names },
};

function named(indexes: readonly (readonly [name: string, index: number])[]): Names {
  const names: (string | undefined)[] = [];
  for (const [name, index] of indexes) names[index] = name;
  return names;
}

const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** Text without escapes, the same in UTF-8. */
const PLAIN = /^[ -[\]-~]*$/;

/** A longer string is no word of the contract, even if every letter is written as an escape. */
const WORD_BYTES_MAX = 2 + 6 * 'reasoning'.length;

/** The body that `parser` has opened; everything is valid until the next one is opened. */
export class Outline {
  constructor(private readonly parser: WasmParser) {}

  body(): JsonValue {
    this.parser.exports.outlineBody();
    return this.noted(0);
  }

  /** The known fields of an object of that kind. */
  fields({ start }: JsonValue, kind: keyof typeof OBJECTS): KnownFields {
    const { number, names } = OBJECTS[kind];
    const unknown = this.parser.exports.outlineFields(start, number);
    const { outline } = this.parser;
    const fields = new Map<string, JsonValue>();
    for (let index = 0; index < names.length; index++) {
      const name = names[index];
      if (name !== undefined && outline[2 * index]! > 0) fields.set(name, this.noted(index)); // as in `noted`
    }
    return { fields, unknown };
  }

  /** The elements of an array, at most `most` + 1. */
  elements({ start }: JsonValue, most: number): JsonValue[] {
    const count = this.parser.exports.outlineElements(start, most + 1);
    const values: JsonValue[] = [];
    for (let index = 0; index < count; index++) values.push(this.noted(index));
    return values;
  }

  isObject(value: JsonValue): boolean {
    return this.firstByte(value) === OPEN_OBJECT;
  }

  isArray(value: JsonValue): boolean {
    return this.firstByte(value) === OPEN_ARRAY;
  }

  /** The contract treats null like an absent value nearly everywhere. */
  isNull(value: JsonValue): boolean {
    return this.firstByte(value) === 0x6e; // n
  }

  isAbsent(value: JsonValue | undefined): value is undefined {
    return value === undefined || this.isNull(value);
  }

  isEmptyArray(value: JsonValue): boolean {
    return this.isArray(value) && this.parser.exports.outlineElements(value.start, 1) === 0;
  }

  /** Null and an empty array count as absent beside another name. */
  hasValue(value: JsonValue | undefined): value is JsonValue {
    return value !== undefined && !this.isNull(value) && !this.isEmptyArray(value);
  }

  isString(value: JsonValue): boolean {
    return this.firstByte(value) === QUOTE;
  }

  /** A string; undefined if it is longer than `charsMax`, even if each of its characters is an escape. */
  text({ start, end }: JsonValue, charsMax: number): string | undefined {
    if (end - start > 2 + 6 * charsMax) return undefined;
    return this.string(start, end);
  }

  /** A JavaScript value of the same type; the same value if the contract checks more than the type. */
  scalar(value: JsonValue): unknown {
    const { start, end } = value;
    switch (this.firstByte(value)) {
      case OPEN_OBJECT:
        return {};
      case OPEN_ARRAY:
        return [];
      case QUOTE:
        return end - start > WORD_BYTES_MAX ? '' : this.string(start, end);
      case 0x74: // t
        return true;
      case 0x66: // f
        return false;
      case 0x6e: // n
        return null;
      default:
        return this.parser.exports.numberAt(start);
    }
  }

  /** The values of fields that are one value each. */
  values(fields: Fields, names: readonly string[]): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const name of names) {
      const value = fields.get(name);
      if (value !== undefined) values[name] = this.scalar(value);
    }
    return values;
  }

  /** Decodes an array of at most `most` numbers to the samples of the parser. */
  numbers({ start }: JsonValue, most: number): DecodedNumbers {
    const length = this.parser.exports.decodeSeries(start, most);
    const { samples, misfits } = this.parser;
    return {
      isTooLong: length < 0,
      misfits:
        length < 0 || misfits[0] === 0
          ? NO_MISFITS
          : Array.from(misfits.subarray(1, 1 + misfits[0]!), misfitOf),
      samples: samples.subarray(0, Math.max(length, 0)),
    };
  }

  /** The string in the quotes at `start` and before `end`. */
  private string(start: number, end: number): string {
    const text = this.parser.bytes.toString('latin1', start + 1, end - 1);
    return PLAIN.test(text) ? text : (JSON.parse(this.parser.bytes.toString('utf8', start, end)) as string);
  }

  private noted(index: number): JsonValue {
    const { outline } = this.parser;
    return { start: outline[2 * index]!, end: outline[2 * index + 1]! }; // index < OUTLINE_LENGTH
  }

  private firstByte({ start }: JsonValue): number {
    return this.parser.bytes[start]!; // within the body
  }
}

const NO_MISFITS: readonly Misfit[] = [];

/**
 * The parser notes the index of an infinite number, and −1 minus the index of an element that is not a
 * number.
 */
function misfitOf(noted: number): Misfit {
  return noted < 0 ? { index: -1 - noted, isInfinite: false } : { index: noted, isInfinite: true };
}
