import type { TestScore } from '#rules/fields.js';
import { boundFinding, type Finding } from '../contract/problems.js';
import type { SessionFrame } from '../contract/request.js';
import type { Norm, Norms } from '../contract/norms.js';
import { LISTED, isOnScale, percentileOf, scaleOf, type ListedResult } from '../night/testResult.js';
import { elementFinding, finding, words, type JsonObject, type Loc, type UnboundType } from './findings.js';
import type { Fields, JsonValue, Outline } from './outline.js';

/** Reads raw results of tests, and makes percentiles of them by the norms. */
export class RawResults {
  constructor(
    private readonly outline: Outline,
    private readonly norms: Norms,
  ) {}

  /** Whether a measurement is the raw result of a test. */
  has(fields: Fields): boolean {
    return !this.outline.isAbsent(fields.get('test')) || this.given(fields).length > 0;
  }

  /** Reads the measurement in `fields`; `frame` has its score and value. */
  read(
    fields: Fields,
    frame: JsonObject,
    loc: Loc,
    { age, sex }: Pick<SessionFrame, 'age' | 'sex'>,
  ): RawResult {
    const name = fields.get('test');
    const isName = name !== undefined && this.outline.isString(name);
    const test = isName ? (this.outline.text(name, NAME_CHARS_MAX) ?? '') : '';
    const norm = this.norms.get(test);
    const wrong = (field: string, type: UnboundType, msg?: string): RawResult => ({
      test,
      score: norm?.score ?? 'attention',
      value: 0,
      finding: finding([...loc, field], type, msg),
    });
    if (this.outline.isAbsent(name)) return wrong('test', 'missing');
    if (norm === undefined)
      return wrong('test', 'literal_error', `Input should be ${words([...this.norms.keys()])}`);
    const { score } = norm;
    if ((frame['score'] ?? score) !== score)
      return wrong('score', 'value_error', `${test} measures ${score}: leave score out`);
    if ((frame['value'] ?? undefined) !== undefined)
      return wrong('value', 'value_error', 'Give the raw result of the test, or score and value, not both');
    const result = this.result(test, norm, fields, loc);
    if (typeof result !== 'number') return { test, score, value: 0, finding: result };
    const value = typeof age === 'number' ? percentileOf(norm, result, { age, sex: sex ?? undefined }) : 0;
    return value === undefined ? wrong('test', 'value_error', scaleOf(test, norm)) : { test, score, value };
  }

  /** The result on the scale of the norm. */
  private result(test: string, norm: Norm, fields: Fields, loc: Loc): number | Finding {
    const listed = LISTED.get(test);
    const given = this.given(fields);
    const [form = 'result'] = given;
    const value = fields.get(form);
    const isListed = listed !== undefined && form === listed.field;
    const taken = listed === undefined ? 'result' : `one of ${listed.field} and result`;
    const at = [...loc, form];
    if (value === undefined || given.length === 0) return finding(at, 'missing', `Field required: ${taken}`);
    if (given.length > 1 || !(isListed || form === 'result'))
      return finding(at, 'value_error', `${test} takes ${taken}`);
    const result = isListed ? this.list(value, listed, at) : this.number(value, at);
    if (typeof result !== 'number' || isOnScale(norm, result)) return result;
    const scale = scaleOf(test, norm);
    return finding(at, 'value_error', isListed ? `Expected ${listed.expected}; ${scale}` : scale);
  }

  /** The forms of the result that have a value; an empty list is none, but for `result`, which is no list. */
  private given(fields: Fields): (typeof FORMS)[number][] {
    return FORMS.filter((form) =>
      form === 'result' ? !this.outline.isAbsent(fields.get(form)) : this.outline.hasValue(fields.get(form)),
    );
  }

  private number(value: JsonValue, loc: Loc): number | Finding {
    const number = this.outline.scalar(value);
    if (typeof number !== 'number') return finding(loc, 'number_type');
    return Number.isFinite(number) ? number : finding(loc, 'finite_number');
  }

  private list(value: JsonValue, { least, most, resultOf }: ListedResult, loc: Loc): number | Finding {
    if (!this.outline.isArray(value)) return finding(loc, 'list_type');
    const { isTooLong, misfits, samples } = this.outline.numbers(value, most);
    if (isTooLong) return boundFinding(loc, 'too_long', most, 'items; of a longer test send the result');
    const [misfit] = misfits;
    if (misfit !== undefined) return elementFinding(loc, misfit);
    if (samples.length < least) return boundFinding(loc, 'too_short', least, 'items');
    return resultOf(samples);
  }
}

const FORMS = ['answers', 'reactions_ms', 'result'] as const;

/** A longer name is no test's. */
const NAME_CHARS_MAX = 64;

/** The raw result of a test as a measurement. */
export interface RawResult {
  readonly test: string;
  readonly score: TestScore;
  /** The percentile; 0 where it is unknown. */
  readonly value: number;
  /** Its fault; undefined if it has none. */
  readonly finding?: Finding;
}
