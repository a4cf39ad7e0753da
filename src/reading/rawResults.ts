import type { TestScore } from '#rules/fields.js';
import type { Finding } from '../contract/problems.js';
import type { SessionFrame } from '../contract/request.js';
import type { Norm, Norms } from '../norms/norm.js';
import { LISTED, isOnScale, percentileOf, scaleOf, type ListedResult } from '../pipeline/testResult.js';
import { elementFinding, finding, words, type JsonObject, type Loc } from './findings.js';
import type { Fields, JsonValue, Outline } from './outline.js';

const FORMS = ['answers', 'reactions_ms', 'result'] as const;
type Form = (typeof FORMS)[number];

/** A longer name is no test's. */
const NAME_CHARS_MAX = 64;

/** Of the session; without an age, percentiles are unknown. */
type Person = Pick<SessionFrame, 'age' | 'sex'>;

/** The raw result of a test as a measurement. */
export interface RawResult {
  readonly test: string;
  readonly score: TestScore;
  /** The percentile; 0 where it is unknown. */
  readonly value: number;
  /** What is wrong with it. */
  readonly finding?: Finding;
}

/** Reads raw results of tests, and makes percentiles of them by the norms. */
export class RawResults {
  constructor(
    private readonly outline: Outline,
    private readonly norms: Norms,
  ) {}

  /** Whether a measurement is the raw result of a test; null is absence. */
  has(fields: Fields): boolean {
    return this.isGiven(fields.get('test')) || FORMS.some((form) => this.isGiven(fields.get(form)));
  }

  /** Reads the measurement in `fields`; `frame` has its score and value. */
  read(fields: Fields, frame: JsonObject, loc: Loc, person: Person): RawResult {
    const named = fields.get('test');
    const test = named === undefined ? '' : this.name(named);
    const norm = this.norms.get(test);
    const outcome =
      norm === undefined
        ? this.unnamed(named, [...loc, 'test'])
        : (beside(test, norm, frame, loc) ?? this.percentile(test, norm, fields, loc, person));
    const score = norm?.score ?? 'attention';
    return typeof outcome === 'number'
      ? { test, score, value: outcome }
      : { test, score, value: 0, finding: outcome };
  }

  private name(value: JsonValue): string {
    return this.outline.isString(value) ? (this.outline.text(value, NAME_CHARS_MAX) ?? '') : '';
  }

  private unnamed(value: JsonValue | undefined, loc: Loc): Finding {
    if (!this.isGiven(value)) return finding(loc, 'missing');
    return finding(loc, 'literal_error', `Input should be ${words([...this.norms.keys()])}`);
  }

  private percentile(
    test: string,
    norm: Norm,
    fields: Fields,
    loc: Loc,
    { age, sex }: Person,
  ): number | Finding {
    const result = this.result(test, norm, fields, loc);
    if (typeof result !== 'number') return result;
    const value = typeof age === 'number' ? percentileOf(norm, result, { age, sex: sex ?? undefined }) : 0;
    return value ?? finding([...loc, 'test'], 'value_error', scaleOf(test, norm));
  }

  /** The result on the scale of the norm. */
  private result(test: string, norm: Norm, fields: Fields, loc: Loc): number | Finding {
    const listed = LISTED.get(test);
    const given = FORMS.filter((form) => this.isGiven(fields.get(form)));
    const [form] = given;
    const value = form && fields.get(form);
    const isListed = listed !== undefined && form === listed.field;
    if (given.length !== 1 || value === undefined || !(isListed || form === 'result'))
      return misplaced(test, given, listed, loc);
    const at = [...loc, form];
    const result = isListed ? this.list(value, listed, at) : this.number(value, at);
    if (typeof result !== 'number' || isOnScale(norm, result)) return result;
    const scale = scaleOf(test, norm);
    return finding(at, 'value_error', isListed ? `Expected ${listed.expected}; ${scale}` : scale);
  }

  private number(value: JsonValue, loc: Loc): number | Finding {
    const number = this.outline.scalar(value);
    if (typeof number !== 'number') return finding(loc, 'number_type');
    return Number.isFinite(number) ? number : finding(loc, 'finite_number');
  }

  private list(value: JsonValue, { least, most, resultOf }: ListedResult, loc: Loc): number | Finding {
    if (!this.outline.isArray(value)) return finding(loc, 'list_type');
    const { isTooLong, misfits, samples } = this.outline.numbers(value, most);
    if (isTooLong) return finding(loc, 'too_long', `List should have at most ${most} items`);
    const [misfit] = misfits;
    if (misfit !== undefined) return elementFinding(loc, misfit);
    if (samples.length < least) return finding(loc, 'too_short', `List should have at least ${least} items`);
    return resultOf(samples);
  }

  private isGiven(value: JsonValue | undefined): boolean {
    return value !== undefined && !this.outline.isNull(value);
  }
}

/** The finding about a test without a result, or with another one than it takes. */
function misplaced(
  test: string,
  given: readonly Form[],
  listed: ListedResult | undefined,
  loc: Loc,
): Finding {
  const taken: readonly Form[] = listed === undefined ? ['result'] : [listed.field, 'result'];
  const names = taken.join(' or ');
  const other = given.find((form) => !taken.includes(form)) ?? given[1];
  if (other === undefined) return finding([...loc, 'result'], 'missing', `Field required: ${names}`);
  return finding([...loc, other], 'value_error', `${test} takes ${names}`);
}

/** What contradicts a raw result in the fields beside it. */
function beside(test: string, { score }: Norm, frame: JsonObject, loc: Loc): Finding | undefined {
  if ((frame['score'] ?? score) !== score)
    return finding([...loc, 'score'], 'value_error', `${test} measures ${score}: leave score out`);
  if ((frame['value'] ?? undefined) === undefined) return undefined;
  return finding(
    [...loc, 'value'],
    'value_error',
    'Give the raw result of the test, or score and value, not both',
  );
}
