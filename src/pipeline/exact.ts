import { isUtf8 } from 'node:buffer';
import type Type from 'typebox';
import { Compile } from 'typebox/compile';
import { FINDINGS_MAX, type BodyProblem, type Finding, type FindingType } from '../contract/problems.js';
import {
  PAST_MAX,
  SERIES_FIELDS,
  ScoreRecordSchema,
  SessionFrameSchema,
  samplesMax,
  type ScoreRecord,
  type SeriesField,
  type SeriesLimits,
  type SessionFrame,
} from '../contract/request.js';
import { firstBadByte } from './jsonScan.js';
import { LAYOUT, isUnitError, type WasmParser, type PredictionRequest } from './wasmParser.js';
import { writeScalars, writeTarget } from './records.js';
import { unitMessage } from './unitErrors.js';

/**
 * The exact path: the whole body through JSON.parse, every array element looked at, every refusal worded. It
 * is the reference that faster readers are held against, and the only one that says no.
 */

type JsonObject = Record<string, unknown>;
type Loc = readonly (string | number)[];

const sessionCheck = Compile(SessionFrameSchema);
const scoreRecordCheck = Compile(ScoreRecordSchema);
const SESSION_FIELDS = Object.keys(SessionFrameSchema.properties);

/** A session that was found well formed: its frame, and the series that were taken out of it. */
interface CheckedSession {
  readonly frame: SessionFrame;
  readonly series: ReadonlyMap<SeriesField, readonly number[]>;
  readonly loc: Loc;
}

/** Reads `bytes` into the memory of `parser`, which holds until the next request is read. */
export function readExactly(
  bytes: Uint8Array,
  limits: SeriesLimits,
  parser: WasmParser,
): PredictionRequest | BodyProblem {
  const body = parseJson(bytes);
  if (body === undefined) return { kind: 'malformed', byte: firstBadByte(bytes) };
  return new Reading(limits, parser).read(body.value);
}

/** Undefined where `bytes` are not JSON in UTF-8. */
function parseJson(bytes: Uint8Array): { value: unknown } | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined; // the engine's message quotes the input; our own scan says where
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One body's way from JSON to a request, gathering what is wrong with it in the order of the contract. */
class Reading {
  private readonly findings: Finding[] = [];

  constructor(
    private readonly limits: SeriesLimits,
    private readonly parser: WasmParser,
  ) {}

  read(body: unknown): PredictionRequest | BodyProblem {
    if (!isObject(body)) {
      this.find(['body'], 'object_type');
      return this.refusal();
    }
    const current = this.session(body['current_session'], ['body', 'current_session']);
    const targetsName = this.targetsName(body);
    const pastItems = this.list(body['past_sessions'], ['body', 'past_sessions']);
    const targetItems = this.list(body[targetsName], ['body', targetsName]);
    if (pastItems === undefined || targetItems === undefined) return this.refusal();
    if (!this.isPair(pastItems, targetItems, targetsName)) return this.refusal();
    const past = pastItems.map((item, index) => this.session(item, ['body', 'past_sessions', index]));
    const targets = targetItems.map((item, index) => this.scoreRecord(item, ['body', targetsName, index]));
    if (current === undefined || this.findings.length > 0) return this.refusal();
    return this.request([current, ...past.filter(isPresent)], targets.filter(isPresent));
  }

  /** Past targets may be called `past_target`, but not both at once. */
  private targetsName(body: JsonObject): 'past_target' | 'past_targets' {
    const singular = body['past_target'] ?? undefined;
    const plural = body['past_targets'] ?? undefined;
    if (singular !== undefined && plural !== undefined) {
      this.find(
        ['body', 'past_target'],
        'value_error',
        'past_target is an alias of past_targets: give one of the two',
      );
    }
    return singular !== undefined && plural === undefined ? 'past_target' : 'past_targets';
  }

  private session(value: unknown, loc: Loc): CheckedSession | undefined {
    if (value === undefined) return this.find(loc, 'missing');
    if (!isObject(value)) return this.find(loc, 'object_type');
    const series = new Map<SeriesField, readonly number[]>();
    const found = new Map<string, Finding[]>();
    for (const field of SERIES_FIELDS) {
      const items = value[field];
      if (!Array.isArray(items)) continue;
      value[field] = [];
      const findings = this.seriesFindings(items as unknown[], field, loc);
      if (findings.length > 0) found.set(field, findings);
      else series.set(field, items as number[]);
    }
    for (const entry of schemaFindings(sessionCheck, value, loc)) {
      const field = String(entry.loc[loc.length]);
      if (!found.has(field)) found.set(field, [entry]);
    }
    if (found.size === 0) return { frame: value as SessionFrame, series, loc };
    for (const field of SESSION_FIELDS) this.findings.push(...(found.get(field) ?? []));
    return undefined;
  }

  /** What is wrong with the elements of a series, up to as much as an answer tells. */
  private seriesFindings(items: readonly unknown[], field: SeriesField, loc: Loc): Finding[] {
    const most = samplesMax(field, this.limits);
    if (items.length > most) {
      return [finding([...loc, field], 'too_long', `List should have at most ${most} items`)];
    }
    const found: Finding[] = [];
    for (let index = 0; index < items.length && found.length < FINDINGS_MAX; index++) {
      const item = items[index];
      if (typeof item !== 'number') found.push(finding([...loc, field, index], 'number_type'));
      else if (!Number.isFinite(item)) found.push(finding([...loc, field, index], 'finite_number'));
    }
    return found;
  }

  private scoreRecord(value: unknown, loc: Loc): ScoreRecord | undefined {
    if (!isObject(value)) return this.find(loc, 'object_type');
    const findings = schemaFindings(scoreRecordCheck, value, loc);
    this.findings.push(...findings);
    return findings.length === 0 ? (value as ScoreRecord) : undefined;
  }

  /** The items of one half of the pair: absent and null count as none; undefined where it is no list. */
  private list(value: unknown, loc: Loc): readonly unknown[] | undefined {
    if (value === undefined || value === null) return [];
    return Array.isArray(value) ? (value as unknown[]) : this.find(loc, 'list_type');
  }

  /** Both or neither, of one length: what is wrong is said of each of the two. */
  private isPair(past: readonly unknown[], targets: readonly unknown[], targetsName: string): boolean {
    if (past.length === targets.length && past.length <= PAST_MAX) return true;
    const isHalf = past.length === 0 || targets.length === 0;
    const msg = `past_sessions and ${targetsName} must ${isHalf ? 'be given together' : 'have the same length'}`;
    this.findHalf(past, ['body', 'past_sessions'], msg);
    this.findHalf(targets, ['body', targetsName], msg);
    return false;
  }

  private findHalf(items: readonly unknown[], loc: Loc, msg: string): void {
    if (items.length > PAST_MAX) this.find(loc, 'too_long', `List should have at most ${PAST_MAX} items`);
    else this.find(loc, 'value_error', msg);
  }

  private find(loc: Loc, type: FindingType, msg?: string): undefined {
    this.findings.push(finding(loc, type, msg));
  }

  private refusal(): BodyProblem {
    return { kind: 'unprocessable', findings: this.findings.slice(0, FINDINGS_MAX) };
  }

  /** Writes what was checked into the parser's memory; a series in another unit is found only here. */
  private request(
    sessions: readonly CheckedSession[],
    targets: readonly ScoreRecord[],
  ): PredictionRequest | BodyProblem {
    const request = this.parser.blank(targets.length);
    sessions.forEach(({ frame, series, loc }, index) => {
      writeScalars(frame, request.records, index * LAYOUT.RECORD_LENGTH);
      for (const [field, values] of series) {
        this.parser.summarise(values, field, index);
        if (isUnitError(request, index, field))
          this.find([...loc, field], 'unit_error', unitMessage(field, values));
      }
    });
    targets.forEach((target, index) => writeTarget(target, request.targets, index * LAYOUT.TARGET_LENGTH));
    return this.findings.length > 0 ? this.refusal() : request;
  }
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}

const MESSAGES: Readonly<Record<FindingType, string>> = {
  missing: 'Field required',
  object_type: 'Input should be an object',
  list_type: 'Input should be a list',
  number_type: 'Input should be a number',
  int_type: 'Input should be a whole number',
  literal_error: 'Input should be one of the allowed values',
  greater_than_equal: 'Input is too small',
  less_than_equal: 'Input is too large',
  too_long: 'List is too long',
  finite_number: 'Input should be a finite number',
  unit_error: 'Input seems to be in another unit',
  value_error: 'Input is inconsistent',
};

function finding(loc: Loc, type: FindingType, msg: string = MESSAGES[type]): Finding {
  return { loc, msg, type };
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
}

/** The schema's own errors in our words: one for each field, in the order of the schema. */
function schemaFindings(check: SchemaCheck, value: JsonObject, loc: Loc): Finding[] {
  if (check.Check(value)) return [];
  const byField = new Map<string, Finding>();
  for (const error of check.Errors(value)) {
    for (const entry of translate(error, check.Type(), value, loc)) {
      const field = String(entry.loc[loc.length]);
      if (!byField.has(field)) byField.set(field, entry);
    }
  }
  return [...byField.values()];
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
      return [finding(at, 'greater_than_equal', `Input should be greater than or equal to ${params.limit}`)];
    case 'maximum':
      return [finding(at, 'less_than_equal', `Input should be less than or equal to ${params.limit}`)];
    case 'enum':
      return [finding(at, 'literal_error', `Input should be ${words(params.allowedValues ?? [])}`)];
    default:
      return [finding(at, typeFinding(schema.properties[field], value[field]))];
  }
}

/** Which kind of value the schema wanted in a field that holds another kind. */
function typeFinding(schema: unknown, value: unknown): FindingType {
  const types = [(schema as { type?: string | string[] } | undefined)?.type ?? []].flat();
  if (types.includes('array')) return 'list_type';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'finite_number';
  return types.includes('integer') ? 'int_type' : 'number_type';
}

/** "'M', 'F' or null". */
function words(values: readonly unknown[]): string {
  const quoted = values.map((value) => (value === null ? 'null' : `'${String(value)}'`));
  return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
}
