import { Compile } from 'typebox/compile';
import { FIELD_NAMES, LABEL_FIELDS, MEASURED_FIELDS, MEASUREMENTS_MAX } from '#rules/fields.js';
import { boundFinding, type Finding } from '../contract/problems.js';
import {
  MeasuredLabelSchema,
  PercentileSchema,
  type PlainMeasurement,
  type SessionFrame,
} from '../contract/request.js';
import { dayOf, NIGHT_LENGTH } from '../night/history/night.js';
import { type Norms, NORMS } from '../contract/norms.js';
import type { GivenMeasurement } from '../night/request.js';
import { finding, type Found, type JsonObject, type Loc, schemaFindings, words } from './findings.js';
import type { Fields, JsonValue, Outline } from './outline.js';
import { type RawResult, RawResults } from './rawResults.js';

/** Reads the measurements of one body on the exact path. */
export class MeasurementReader {
  /** How many the body has. */
  count = 0;
  unknownFields = 0;
  private readonly rawResults: RawResults;
  /** The current session without its series, if it is valid. */
  private person: SessionFrame | undefined;
  /** Whether a raw result has already asked for its age. */
  private isAgeMissed = false;

  constructor(
    private readonly outline: Outline,
    private readonly found: Found,
    private readonly options: MeasurementReaderOptions,
  ) {
    this.rawResults = new RawResults(outline, options.norms ?? NORMS);
  }

  /** The measurements; absent, null and an empty list give none. */
  read(fields: Fields, night: number, person: SessionFrame | undefined): GivenMeasurement[] {
    this.person = person;
    const loc = ['body', 'measurements'];
    const items = listAt(this.outline, this.found, {
      value: fields.get('measurements'),
      loc,
      most: MEASUREMENTS_MAX,
    });
    if (items === undefined || items.length === 0) return [];
    if (this.options.measuredApart !== true && this.outline.isAbsent(fields.get('history'))) {
      this.found.find(
        loc,
        'value_error',
        'Measurements are kept in the history: send that, or "" to begin one',
      );
      return [];
    }
    if (this.options.measuredApart !== true && this.outline.isAbsent(fields.get('night')))
      this.found.find(['body', 'night'], 'missing');
    if (items.length > MEASUREMENTS_MAX) {
      this.found.findings.push(boundFinding(loc, 'too_long', MEASUREMENTS_MAX, 'items'));
      return [];
    }
    this.count = items.length;
    const given: GivenMeasurement[] = [];
    for (const [index, item] of items.entries()) {
      const one = this.measurement(item, [...loc, index], night);
      if (one !== undefined) given.push(one);
    }
    return given;
  }

  private measurement(value: JsonValue, loc: Loc, night: number): GivenMeasurement | undefined {
    if (this.found.isFull) return undefined;
    if (!this.outline.isObject(value)) {
      this.found.find(loc, 'object_type');
      return undefined;
    }
    const { fields, unknown } = this.outline.fields(value, 'measurement');
    this.unknownFields += unknown;
    const frame = this.outline.values(fields, ['score', 'value', 'reliability']);
    const raw = this.rawResults.has(fields) ? this.rawResult(fields, frame, loc) : undefined;
    if (raw !== undefined) {
      frame['score'] = raw.score;
      frame['value'] = raw.value;
    }
    const wrong = new Map(measurementFindings(frame, loc));
    const day = this.dayOfMeasurement(fields.get('on'), [...loc, 'on'], night);
    if (wrong.size === 0 && raw?.finding === undefined && typeof day === 'number') {
      const { score, value: measured, reliability } = frame as PlainMeasurement;
      return { score, value: measured, day, reliability: reliability ?? undefined, test: raw?.test };
    }
    if (raw?.finding !== undefined) wrong.set(String(raw.finding.loc[loc.length]), raw.finding);
    if (typeof day !== 'number') wrong.set('on', day);
    this.found.findings.push(...FIELD_NAMES.measurement.flatMap((field) => wrong.get(field) ?? []));
    return undefined;
  }

  private rawResult(fields: Fields, frame: JsonObject, loc: Loc): RawResult {
    const { person } = this;
    if (person !== undefined && (person.age ?? undefined) === undefined && !this.isAgeMissed) {
      this.isAgeMissed = true;
      this.found.find(
        ['body', 'current_session', 'age'],
        'missing',
        'Field required: the norms of tests go by age',
      );
    }
    return this.rawResults.read(fields, frame, loc, person ?? {});
  }

  /** NaN if it is the day of a night that is missing or itself wrong. */
  private dayOfMeasurement(value: JsonValue | undefined, loc: Loc, night: number): number | Finding {
    const day = dateAt(this.outline, value);
    if (day === undefined) return finding(loc, 'date_type');
    if (day > night) return afterNight(loc);
    return Number.isNaN(day) ? night : day;
  }
}

const percentileCheck = Compile(PercentileSchema);
const measuredLabelCheck = Compile(MeasuredLabelSchema);

export interface MeasurementReaderOptions {
  /** For raw results of tests; those of the service if absent. */
  readonly norms?: Norms | undefined;
  /** Measurements need neither history nor night, and are passed on. */
  readonly measuredApart?: boolean;
}

interface ListPlace {
  readonly value: JsonValue | undefined;
  readonly loc: Loc;
  readonly most: number;
}

/**
 * The items of a list, at most one more than `most`; absent and null count as none; undefined for anything but a list.
 */
export function listAt(
  outline: Outline,
  found: Found,
  { value, loc, most }: ListPlace,
): readonly JsonValue[] | undefined {
  if (outline.isAbsent(value)) return [];
  if (outline.isArray(value)) return outline.elements(value, most);
  found.find(loc, 'list_type');
  return undefined;
}

/** Days since 1970; NaN if none is given, undefined for an invalid date. */
export function dateAt(outline: Outline, value: JsonValue | undefined): number | undefined {
  if (outline.isAbsent(value)) return NaN;
  const text = outline.isString(value) ? outline.text(value, NIGHT_LENGTH) : undefined;
  return text === undefined ? undefined : dayOf(text);
}

/** The finding about the day of a measurement. */
export function afterNight(loc: Loc): Finding {
  return finding(loc, 'value_error', 'Day should not be after night');
}

/** The findings in a measurement, except its day, by field. */
export function measurementFindings(frame: JsonObject, loc: Loc): ReadonlyMap<string, Finding> {
  const { score, value } = frame;
  const isOf = (fields: readonly unknown[]): boolean => fields.includes(score);
  const wrong = schemaFindings(isOf(LABEL_FIELDS) ? measuredLabelCheck : percentileCheck, frame, loc);
  if (isOf(MEASURED_FIELDS)) return wrong;
  const known = new Map(wrong);
  if (score !== undefined) {
    const msg = `Input should be ${words(MEASURED_FIELDS)}`;
    known.set('score', finding([...loc, 'score'], 'literal_error', msg));
  }
  if (value !== undefined) known.delete('value'); // its bounds depend on the score
  return known;
}
