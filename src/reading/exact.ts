import { Compile } from 'typebox/compile';
import {
  BREATHS_MEDIAN_MAX,
  HEART_RATE_MESSAGE,
  isHeartRate,
  sleepContradictions,
} from '#rules/contradictions.js';
import { BREATHING } from '#rules/plausible.js';
import { STRUCTURE_BOUNDS } from '#rules/structure.js';
import { FINDINGS_MAX, type BodyProblem, type Finding, type FindingType } from '../contract/problems.js';
import {
  FIELD_NAMES,
  HISTORY_LENGTH_MAX,
  LABEL_FIELDS,
  MEASURED_FIELDS,
  MEASUREMENTS_MAX,
  PAST_MAX,
  RECORDING_FIELD,
  SCORE_FIELDS,
  SERIES_ALIASES,
  SERIES_FIELDS,
  SESSION_SCALARS,
  samplesMax,
  type SeriesField,
  type SeriesLimits,
} from '#rules/fields.js';
import {
  MeasuredLabelSchema,
  PercentileSchema,
  ScoreRecordSchema,
  SessionFrameSchema,
  type PlainMeasurement,
  type ScoreRecord,
  type SessionFrame,
} from '../contract/request.js';
import { LAYOUT } from '../records/layout.js';
import { summaryAt } from '../records/places.js';
import type { GivenMeasurement, PredictionRequest, ReadRequest } from '../records/request.js';
import type { Measuring } from '../history/historyDesk.js';
import type { Norms } from '../norms/norm.js';
import { NORMS } from '../norms/norms.js';
import { NIGHT_LENGTH, dayOf } from '../history/night.js';
import type { WasmParser } from './wasmParser.js';
import { Outline, type DecodedNumbers, type Fields, type JsonValue } from './outline.js';
import { writeScalars, writeTarget } from '../records/write.js';
import { elementFinding, finding, schemaFindings, words, type JsonObject, type Loc } from './findings.js';
import { RawResults, type RawResult } from './rawResults.js';
import { isUnitError, unitMessage } from './unitErrors.js';

/**
 * The exact path: reads any JSON text, checks every element, and words every refusal. It is the reference for
 * the faster readers, and only it refuses.
 */

const sessionCheck = Compile(SessionFrameSchema);
const scoreRecordCheck = Compile(ScoreRecordSchema);
const percentileCheck = Compile(PercentileSchema);
const measuredLabelCheck = Compile(MeasuredLabelSchema);
const TARGET_FIELDS = [...SCORE_FIELDS, ...LABEL_FIELDS];

/**
 * Below this level no series is heart rate: for ten or eleven samples the level is the mean without the
 * extremes, so it then includes five samples that are too fast and four of the slowest.
 */
const FAST_BREATHS_MIN = Math.floor((5 * BREATHS_MEDIAN_MAX + 4 * BREATHING.min) / 9);

const STRUCTURE_FINDING: Finding = {
  loc: ['body'],
  msg:
    `Body should have at most ${STRUCTURE_BOUNDS.levelsMax} levels of nesting, ` +
    `${STRUCTURE_BOUNDS.bracketsMax} objects and arrays, and ${STRUCTURE_BOUNDS.stringsMax} strings`,
  type: 'too_long',
};

export interface ReaderOptions extends SeriesLimits {
  /** For raw results of tests; those of the service if absent. */
  readonly norms?: Norms | undefined;
  /** Measurements need neither history nor night, and are passed on. */
  readonly measuredApart?: boolean;
}

/** Reads `bytes` into the memory of `parser`; the result is valid until the next request is read. */
export function readExactly(
  bytes: Uint8Array,
  options: ReaderOptions,
  parser: WasmParser,
  constants?: Measuring['constants'],
): ReadRequest | BodyProblem {
  parser.open(bytes);
  return readOpened(options, parser, constants);
}

/** Like `readExactly`, for the bytes that are open in `parser`. */
export function readOpened(
  options: ReaderOptions,
  parser: WasmParser,
  constants?: Measuring['constants'],
): ReadRequest | BodyProblem {
  return checkOpened(parser) ?? new Reading(options, parser, constants).read();
}

/** The current session of a body is a recording, which is read elsewhere. */
export const RECORDING = 'recording';

/** A recording may exceed the bounds of the rest; elsewhere it is found under a name without escapes. */
const RECORDING_NAME = `"${RECORDING_FIELD}"`;

/** Like `readOpened`, but leaves a recording, and what may contain one beyond the bounds of structure. */
export function readUnlessRecording(
  options: ReaderOptions,
  parser: WasmParser,
  constants?: Measuring['constants'],
): ReadRequest | BodyProblem | typeof RECORDING {
  const problem = checkOpened(parser);
  if (problem?.kind === 'unprocessable' && parser.contains(RECORDING_NAME)) return RECORDING;
  if (problem !== undefined) return problem;
  const reading = new Reading(options, parser, constants);
  const outcome = reading.read();
  return reading.hasRecording ? RECORDING : outcome;
}

/** The problem of a text beyond the bounds of structure, or of no JSON. */
function checkOpened(parser: WasmParser): BodyProblem | undefined {
  const badByte = parser.check();
  if (badByte === 'beyondBounds') return { kind: 'unprocessable', findings: [STRUCTURE_FINDING] };
  return badByte >= 0 ? { kind: 'malformed', byte: badByte } : undefined;
}

/** For a model whose manifest lacks the `MeasuringConstants`. */
const UNMEASURABLE = 'The model in force takes no measurements';

/** Reads one body from JSON to a request, and gathers its findings in the order of the contract. */
class Reading {
  private readonly findings: Finding[] = [];
  /** Reported only if there are no other findings. */
  private readonly unitFindings: Finding[] = [];
  private readonly outline: Outline;
  private readonly request: PredictionRequest;
  private unknownFields = 0;
  private measurementsFound = 0;

  private readonly rawResults: RawResults;
  /** Of the current session, if it is valid. */
  private person: SessionFrame | undefined;
  /** Whether a raw result has already asked for its age. */
  private isAgeMissed = false;
  /** The current session has a recording. */
  hasRecording = false;

  constructor(
    private readonly options: ReaderOptions,
    private readonly parser: WasmParser,
    private readonly constants: Measuring['constants'],
  ) {
    this.outline = new Outline(parser);
    this.rawResults = new RawResults(this.outline, options.norms ?? NORMS);
    this.request = parser.written(PAST_MAX, 0);
  }

  read(): ReadRequest | BodyProblem {
    const body = this.outline.body();
    if (!this.outline.isObject(body)) {
      this.find(['body'], 'object_type');
      return this.refusal();
    }
    const { fields, unknown } = this.outline.top(body);
    this.unknownFields += unknown;
    this.session(fields.get('current_session'), ['body', 'current_session'], 0);
    const explain = this.flag(fields.get('explain'), ['body', 'explain']);
    const history = this.history(fields.get('history'));
    const night = fields.get('night');
    const day = history === undefined ? NaN : this.day(night);
    const given = this.measurements(fields, day);
    const targetsName = this.targetsName(fields);
    const past = this.list(fields.get('past_sessions'), ['body', 'past_sessions'], PAST_MAX);
    const targets = this.list(fields.get(targetsName), ['body', targetsName], PAST_MAX);
    if (past === undefined || targets === undefined) return this.refusal();
    if (history !== undefined && history !== '' && past.length + targets.length > 0) {
      this.findTwoPasts({ past_sessions: past, [targetsName]: targets });
      return this.refusal();
    }
    if (!this.isPair(past, targets, targetsName)) return this.refusal();
    past.forEach((value, index) => this.session(value, ['body', 'past_sessions', index], 1 + index));
    targets.forEach((value, index) => this.scoreRecord(value, ['body', targetsName, index], index));
    if (this.findings.length + this.unitFindings.length > 0) return this.refusal();
    const request = this.parser.written(past.length, this.unknownFields, explain);
    if (history === undefined)
      return this.options.measuredApart === true ? { ...request, measurements: given } : request;
    if (history === '') this.parser.desk.begin(request);
    return this.parser.placed(request, day, this.constants, given);
  }

  /** A string with a history, or an empty one; undefined for absent and null. */
  private history(value: JsonValue | undefined): string | undefined {
    const loc = ['body', 'history'];
    if (value === undefined || this.outline.isNull(value)) return undefined;
    if (!this.outline.isString(value)) {
      this.find(loc, 'string_type');
      return undefined;
    }
    const text = this.outline.text(value, HISTORY_LENGTH_MAX);
    const { desk } = this.parser;
    if (text !== '' && !(text !== undefined && desk.read(text))) this.find(loc, 'history_invalid');
    else if (text !== '' && this.constants === undefined && !desk.history.measurements.isEmpty)
      this.find(loc, 'value_error', `${UNMEASURABLE}: the history has some`);
    return text;
  }

  /** The measurements; absent, null and an empty list give none. */
  private measurements(fields: Fields, night: number): GivenMeasurement[] {
    const loc = ['body', 'measurements'];
    const value = fields.get('measurements');
    if (value !== undefined && this.outline.isEmptyArray(value)) return [];
    const items = this.list(value, loc, MEASUREMENTS_MAX);
    if (items === undefined || items.length === 0) return [];
    if (this.options.measuredApart !== true && this.isAbsent(fields.get('history'))) {
      this.find(loc, 'value_error', 'Measurements are kept in the history: send that, or "" to begin one');
      return [];
    }
    if (this.constants === undefined) this.find(loc, 'value_error', UNMEASURABLE);
    if (this.options.measuredApart !== true && this.isAbsent(fields.get('night')))
      this.find(['body', 'night'], 'missing');
    if (items.length > MEASUREMENTS_MAX) {
      this.find(loc, 'too_long', `List should have at most ${MEASUREMENTS_MAX} items`);
      return [];
    }
    this.measurementsFound = items.length;
    const given: GivenMeasurement[] = [];
    for (const [index, item] of items.entries()) {
      const one = this.measurement(item, [...loc, index], night);
      if (one !== undefined) given.push(one);
    }
    return given;
  }

  private measurement(value: JsonValue, loc: Loc, night: number): GivenMeasurement | undefined {
    if (this.isFull) return undefined;
    if (!this.outline.isObject(value)) {
      this.find(loc, 'object_type');
      return undefined;
    }
    const { fields, unknown } = this.outline.measurement(value);
    this.unknownFields += unknown;
    const frame = this.frame(fields, ['score', 'value', 'reliability']);
    const raw = this.rawResults.has(fields) ? this.rawResult(fields, frame, loc) : undefined;
    if (raw !== undefined) {
      frame['score'] = raw.score;
      frame['value'] = raw.value;
    }
    const found = measurementFindings(frame, loc);
    const day = this.dayOfMeasurement(fields.get('on'), [...loc, 'on'], night);
    if (found.size === 0 && raw?.finding === undefined && typeof day === 'number') {
      const { score, value: measured, reliability } = frame as PlainMeasurement;
      return { score, value: measured, day, reliability: reliability ?? undefined, test: raw?.test };
    }
    const wrong = new Map(found);
    if (raw?.finding !== undefined) wrong.set(String(raw.finding.loc[loc.length]), raw.finding);
    if (typeof day !== 'number') wrong.set('on', day);
    this.findings.push(...FIELD_NAMES.measurement.flatMap((field) => wrong.get(field) ?? []));
    return undefined;
  }

  private rawResult(fields: Fields, frame: JsonObject, loc: Loc): RawResult {
    const { person } = this;
    if (person !== undefined && (person.age ?? undefined) === undefined && !this.isAgeMissed) {
      this.isAgeMissed = true;
      this.find(
        ['body', 'current_session', 'age'],
        'missing',
        'Field required: the norms of tests go by age',
      );
    }
    return this.rawResults.read(fields, frame, loc, person ?? {});
  }

  /** NaN if it is the day of a night that is missing or itself wrong. */
  private dayOfMeasurement(value: JsonValue | undefined, loc: Loc, night: number): number | Finding {
    const day = this.dateAt(value);
    if (day === undefined) return finding(loc, 'date_type');
    if (day > night) return afterNight(loc);
    return Number.isNaN(day) ? night : day;
  }

  /** Days since 1970; NaN if none is given. Read only beside a history. */
  private day(value: JsonValue | undefined): number {
    const day = this.dateAt(value);
    if (day === undefined) this.find(['body', 'night'], 'date_type');
    return day ?? NaN;
  }

  /** Days since 1970; NaN if none is given, undefined for an invalid date. */
  private dateAt(value: JsonValue | undefined): number | undefined {
    if (value === undefined || this.outline.isNull(value)) return NaN;
    const text = this.outline.isString(value) ? this.outline.text(value, NIGHT_LENGTH) : undefined;
    return text === undefined ? undefined : dayOf(text);
  }

  private findTwoPasts(lists: Readonly<Record<string, readonly unknown[]>>): void {
    const msg = 'Give history or the lists of the past, not both; a history that is "" takes the lists over';
    this.find(['body', 'history'], 'value_error', msg);
    for (const [name, items] of Object.entries(lists)) {
      if (items.length > 0) this.find(['body', name], 'value_error', msg);
    }
  }

  /** A boolean; absent and null are false. */
  private flag(value: JsonValue | undefined, loc: Loc): boolean {
    if (value === undefined || this.outline.isNull(value)) return false;
    const flag = this.outline.scalar(value);
    if (typeof flag !== 'boolean') this.find(loc, 'bool_type');
    return flag === true;
  }

  /** Past targets may be called `past_target`, but only one of the two names may be used. */
  private targetsName(fields: Fields): 'past_target' | 'past_targets' {
    const isPlural = this.outline.hasValue(fields.get('past_targets'));
    const isSingular = this.outline.hasValue(fields.get('past_target'));
    if (isPlural && isSingular) this.findings.push(aliasFinding(['body'], 'past_target', 'past_targets'));
    return isSingular && !isPlural ? 'past_target' : 'past_targets';
  }

  private isAbsent(value: JsonValue | undefined): boolean {
    return value === undefined || this.outline.isNull(value);
  }

  /** Reads a session into record `session` of the request. */
  private session(value: JsonValue | undefined, loc: Loc, session: number): void {
    if (this.isFull) return;
    if (value === undefined) return this.find(loc, 'missing', NO_SESSION);
    if (!this.outline.isObject(value)) return this.find(loc, 'object_type');
    const { fields, unknown } = this.outline.session(value);
    this.unknownFields += unknown;
    if (!this.isAbsent(fields.get(RECORDING_FIELD))) {
      this.hasRecording ||= session === 0;
      return this.find([...loc, RECORDING_FIELD], 'value_error', NOT_ALONE);
    }
    const frame = this.frame(fields, SESSION_SCALARS);
    const found = SERIES_FIELDS.flatMap((field) => this.series(fields, field, loc, session));
    const wrong = schemaFindings(sessionCheck, frame, loc);
    found.push(...SESSION_SCALARS.flatMap((field) => wrong.get(field) ?? []));
    this.findings.push(...found);
    if (found.length > 0) return;
    if (session === 0) this.person = frame as SessionFrame;
    writeScalars(frame as SessionFrame, this.request.records, session * LAYOUT.RECORD_LENGTH);
    for (const { field, msg } of sleepContradictions(frame as SessionFrame)) {
      this.unitFindings.push(finding([...loc, field], 'unit_error', msg));
    }
  }

  /** The values of fields that are one value each. */
  private frame(fields: Fields, names: readonly string[]): JsonObject {
    const frame: JsonObject = {};
    for (const name of names) {
      const value = fields.get(name);
      if (value !== undefined) frame[name] = this.outline.scalar(value);
    }
    return frame;
  }

  /** Reads a series by the one of its names that has a value. */
  private series(fields: Fields, field: SeriesField, loc: Loc, session: number): Finding[] {
    const alias = SERIES_ALIASES[field as keyof typeof SERIES_ALIASES] as string | undefined;
    const isAliased = alias !== undefined && this.outline.hasValue(fields.get(alias));
    if (!isAliased) return this.samples(fields.get(field), field, [...loc, field], session);
    if (!this.outline.hasValue(fields.get(field))) {
      return this.samples(fields.get(alias), field, [...loc, alias], session);
    }
    const found = this.samples(fields.get(field), field, [...loc, field], session);
    return [...found, aliasFinding(loc, alias, field)];
  }

  /** Summarises a series into record `session`. Returns its findings, at most as many as an answer lists. */
  private samples(value: JsonValue | undefined, field: SeriesField, loc: Loc, session: number): Finding[] {
    if (value === undefined || this.outline.isNull(value)) {
      this.parser.clearSummary(field, session);
      return [];
    }
    if (!this.outline.isArray(value)) return [finding(loc, 'list_type')];
    // The fast path has summarised it, so it was valid.
    const decode = (): DecodedNumbers => this.outline.numbers(value, samplesMax(field, this.options));
    const series = this.parser.isSummarised(value.start, field, session) ? undefined : decode();
    const found = series === undefined ? [] : this.summarised(series, field, loc, session);
    if (found.length > 0 || this.unitFindings.length >= FINDINGS_MAX) return found;
    if (isUnitError(this.request, session, field)) {
      const msg = unitMessage(field, (series ?? decode()).samples);
      this.unitFindings.push(finding(loc, 'unit_error', msg));
    } else if (this.mayBeHeartRate(field, session) && isHeartRate((series ?? decode()).samples)) {
      this.unitFindings.push(finding(loc, 'unit_error', HEART_RATE_MESSAGE));
    }
    return [];
  }

  private summarised(
    { isTooLong, misfits, samples }: DecodedNumbers,
    field: SeriesField,
    loc: Loc,
    session: number,
  ): Finding[] {
    if (isTooLong) {
      return [finding(loc, 'too_long', `List should have at most ${samplesMax(field, this.options)} items`)];
    }
    if (misfits.length === 0) this.parser.summariseSamples(samples.length, field, session);
    return misfits.map((misfit) => elementFinding(loc, misfit));
  }

  /** Below this level most samples can't be above 40, so there is nothing to count. */
  private mayBeHeartRate(field: SeriesField, session: number): boolean {
    const isBreath = field === 'RR_day_1h' || field === 'RR_night';
    return isBreath && this.request.records[summaryAt(session, field) + LAYOUT.LEVEL]! > FAST_BREATHS_MIN;
  }

  private scoreRecord(value: JsonValue, loc: Loc, index: number): void {
    if (this.isFull) return;
    if (!this.outline.isObject(value)) return this.find(loc, 'object_type');
    const { fields, unknown } = this.outline.target(value);
    this.unknownFields += unknown;
    const frame = this.frame(fields, TARGET_FIELDS);
    const wrong = schemaFindings(scoreRecordCheck, frame, loc);
    this.findings.push(...wrong.values());
    if (wrong.size > 0) return;
    writeTarget(frame as ScoreRecord, this.request.targets, index * LAYOUT.TARGET_LENGTH);
  }

  /**
   * The items of a list, at most one more than `most`; absent and null count as none; undefined for anything
   * but a list.
   */
  private list(value: JsonValue | undefined, loc: Loc, most: number): readonly JsonValue[] | undefined {
    if (value === undefined || this.outline.isNull(value)) return [];
    if (this.outline.isArray(value)) return this.outline.elements(value, most);
    this.find(loc, 'list_type');
    return undefined;
  }

  /** Both or neither must be given, with one length; a finding is reported for each of the two. */
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

  /** More findings are not reported, so finding them would only cost time. */
  private get isFull(): boolean {
    return this.findings.length >= FINDINGS_MAX;
  }

  private find(loc: Loc, type: FindingType, msg?: string): void {
    this.findings.push(finding(loc, type, msg));
  }

  /** A wrong unit is reported only if there are no other findings. */
  private refusal(): BodyProblem {
    const found = this.findings.length > 0 ? this.findings : this.unitFindings;
    const findings = found.slice(0, FINDINGS_MAX);
    const { measurementsFound: newMeasurements } = this;
    return { kind: 'unprocessable', findings, ...(newMeasurements > 0 && { newMeasurements }) };
  }
}

const NOT_ALONE =
  'A recording has to be the current session of a request of its own: send one request for each night, or make ' +
  'requests of an export with acuity adapt';

/** A body that is a session itself is the usual reason. */
const NO_SESSION = 'Field required: wrap the session: {"current_session": {...}}';

/** Two names of one field have a value each. */
function aliasFinding(loc: Loc, alias: string, name: string): Finding {
  return finding([...loc, alias], 'value_error', `${alias} is an alias of ${name}: give one of the two`);
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
