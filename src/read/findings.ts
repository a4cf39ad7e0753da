import type Type from 'typebox';
import {
  boundFinding,
  FINDINGS_MAX,
  type BoundType,
  type Finding,
  type FindingType,
} from '../contract/problems.js';
import type { Misfit } from './outline.js';

/** The findings in a body that is refused, in the words of the contract. */

export type JsonObject = Record<string, unknown>;
export type Loc = readonly (string | number)[];

/** Those of a bound are worded by `boundFinding`. */
export type UnboundType = Exclude<FindingType, BoundType>;

const MESSAGES: Readonly<Record<UnboundType, string>> = {
  missing: 'Field required',
  object_type: 'Input should be an object',
  list_type: 'Input should be a list',
  number_type: 'Input should be a number',
  bool_type: 'Input should be true or false',
  string_type: 'Input should be a string',
  date_type: 'Input should be a date of the form YYYY-MM-DD, from 1970 to 2149',
  // Seconds are the only whole numbers of a request.
  int_type: 'Input should be a whole number of seconds: hours times 3600, minutes times 60',
  literal_error: 'Input should be one of the allowed values',
  finite_number: 'Input should be a finite number',
  history_invalid:
    'History is damaged or of another version: send that of the last answer as it was, or "" to begin a new one',
  recording_invalid: 'Recording is not of the documented form',
  unit_error: 'Input seems to be in another unit',
  value_error: 'Input is inconsistent',
};

/** The findings in a body so far, in the order of the contract. */
export class Found {
  readonly findings: Finding[] = [];

  /** More findings are not reported, so finding them would only cost time. */
  get isFull(): boolean {
    return this.findings.length >= FINDINGS_MAX;
  }

  find(loc: Loc, type: UnboundType, msg?: string): void {
    this.findings.push(finding(loc, type, msg));
  }
}

export function finding(loc: Loc, type: UnboundType, msg: string = MESSAGES[type]): Finding {
  return { loc, msg, type };
}

/** The finding about an element of a list of numbers. */
export function elementFinding(loc: Loc, { index, isInfinite }: Misfit): Finding {
  return finding([...loc, index], isInfinite ? 'finite_number' : 'number_type');
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
}

/** The schema's own errors in our words: one for each field. */
export function schemaFindings(
  check: SchemaCheck,
  value: JsonObject,
  loc: Loc,
): ReadonlyMap<string, Finding> {
  const byField = new Map<string, Finding>();
  if (check.Check(value)) return byField;
  for (const error of check.Errors(value)) {
    for (const entry of translate(error, check.Type(), value, loc)) {
      const field = String(entry.loc[loc.length]);
      if (!byField.has(field)) byField.set(field, entry);
    }
  }
  return byField;
}

interface SchemaCheck {
  Check(value: unknown): boolean;
  Errors(value: unknown): readonly SchemaError[];
  Type(): Type.TObject;
}

function translate(error: SchemaError, schema: Type.TObject, value: JsonObject, loc: Loc): Finding[] {
  const params = error.params as { requiredProperties?: string[]; limit?: number; allowedValues?: unknown[] };
  if (error.keyword === 'required') {
    return (params.requiredProperties ?? []).map((field) => finding([...loc, field], 'missing'));
  }
  const field = error.instancePath.split('/')[1] ?? '';
  const at = [...loc, field];
  switch (error.keyword) {
    case 'minimum':
      return [boundFinding(at, 'greater_than_equal', params.limit!)];
    case 'maximum':
      return [boundFinding(at, 'less_than_equal', params.limit!)];
    case 'enum':
      return [finding(at, 'literal_error', `Input should be ${words(params.allowedValues ?? [])}`)];
    default:
      return [finding(at, typeFinding(schema.properties[field], value[field]))];
  }
}

/** The finding about a value that is not of the schema's type. */
function typeFinding(schema: unknown, value: unknown): UnboundType {
  if (typeof value !== 'number') return 'number_type';
  if (!Number.isFinite(value)) return 'finite_number';
  const types = [(schema as { type?: string | string[] } | undefined)?.type ?? []].flat();
  return types.includes('integer') ? 'int_type' : 'number_type';
}

/** "'M', 'F' or null". */
export function words(values: readonly unknown[]): string {
  const quoted = values.map((value) => (value === null ? 'null' : `'${String(value)}'`));
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}
