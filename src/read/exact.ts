import { Compile } from 'typebox/compile';
import {
  BREATHS_MEDIAN_MAX,
  HEART_RATE_MESSAGE,
  isHeartRate,
  sleepContradictions,
} from '#rules/contradictions.js';
import { BREATHING } from '#rules/plausible.js';
import { STRUCTURE_BOUNDS } from '#rules/structure.js';
import {
  boundFinding,
  FINDINGS_MAX,
  structureFinding,
  type BodyProblem,
  type Finding,
} from '../contract/problems.js';
import {
  HISTORY_LENGTH_MAX,
  LABEL_FIELDS,
  PAST_MAX,
  RECORDING_FIELD,
  samplesMax,
  SCORE_FIELDS,
  SERIES_ALIASES,
  SERIES_FIELDS,
  type SeriesField,
  type SeriesLimits,
  SESSION_SCALARS,
} from '#rules/fields.js';
import {
  type ScoreRecord,
  ScoreRecordSchema,
  type SessionFrame,
  SessionFrameSchema,
} from '../contract/request.js';
import { LAYOUT } from '../night/layout.js';
import { summaryAt, writeScalars, writeTarget } from '../night/places.js';
import type { PredictionRequest, ReadRequest } from '../night/request.js';
import type { WasmParser } from './wasmParser.js';
import { type DecodedNumbers, type Fields, type JsonValue, Outline } from './outline.js';
import { elementFinding, finding, Found, type Loc, schemaFindings } from './findings.js';
import { dateAt, listAt, MeasurementReader, type MeasurementReaderOptions } from './measurementReader.js';
import { isUnitError, unitMessage } from './unitErrors.js';

/**
 * The exact path: reads any JSON text, checks every element, and words every refusal. It is the reference for
 * the faster readers, and only it refuses.
 */

const sessionCheck = Compile(SessionFrameSchema);
const scoreRecordCheck = Compile(ScoreRecordSchema);
const TARGET_FIELDS = [...SCORE_FIELDS, ...LABEL_FIELDS];

/**
 * Below this level no series is heart rate: for ten or eleven samples the level is the mean without the
 * extremes, so it then includes five samples that are too fast and four of the slowest.
 */
const FAST_BREATHS_MIN = Math.floor((5 * BREATHS_MEDIAN_MAX + 4 * BREATHING.min) / 9);

const STRUCTURE_FINDING = structureFinding(
  ['body'],
  `Body should have at most ${STRUCTURE_BOUNDS.levelsMax} levels of nesting, ` +
    `${STRUCTURE_BOUNDS.bracketsMax} objects and arrays, and ${STRUCTURE_BOUNDS.stringsMax} strings`,
  STRUCTURE_BOUNDS,
);

export type ReaderOptions = SeriesLimits & MeasurementReaderOptions;

/** Reads the bytes that are open in `parser` into its memory; the result is valid until the next request is read. */
export function readOpened(options: ReaderOptions, parser: WasmParser): ReadRequest | BodyProblem {
  return checkOpened(parser) ?? new Reading(options, parser).read();
}

/** The current session of a body is a recording, which is read elsewhere. */
export const RECORDING = 'recording';

/** A recording may exceed the bounds of the rest; elsewhere it is found under a name without escapes. */
const RECORDING_NAME = `"${RECORDING_FIELD}"`;

/** Like `readOpened`, but leaves a recording, and what may contain one beyond the bounds of structure. */
export function readUnlessRecording(
  options: ReaderOptions,
  parser: WasmParser,
): ReadRequest | BodyProblem | typeof RECORDING {
  const problem = checkOpened(parser);
  if (problem?.kind === 'unprocessable' && parser.contains(RECORDING_NAME)) return RECORDING;
  if (problem !== undefined) return problem;
  const reading = new Reading(options, parser);
  const outcome = reading.read();
  return reading.hasRecording ? RECORDING : outcome;
}

/** The problem of a text beyond the bounds of structure, or of no JSON. */
function checkOpened(parser: WasmParser): BodyProblem | undefined {
  const badByte = parser.check();
  if (badByte === 'beyondBounds')
    return parser.priced({ kind: 'unprocessable', findings: [STRUCTURE_FINDING] });
  return badByte >= 0 ? parser.priced({ kind: 'malformed', byte: badByte }) : undefined;
}

/** Reads one body from JSON to a request, and gathers its findings in the order of the contract. */
class Reading {
  private readonly found = new Found();
  /** Reported only if there are no other findings. */
  private readonly unitFindings: Finding[] = [];
  private readonly outline: Outline;
  private readonly request: PredictionRequest;
  private unknownFields = 0;
  private readonly measurements: MeasurementReader;
  /** The current session without its series, if it is valid. */
  private person: SessionFrame | undefined;
  /** The current session has a recording. */
  hasRecording = false;

  constructor(
    private readonly options: ReaderOptions,
    private readonly parser: WasmParser,
  ) {
    this.outline = new Outline(parser);
    this.measurements = new MeasurementReader(this.outline, this.found, options);
    this.request = parser.written(PAST_MAX, 0);
  }

  read(): ReadRequest | BodyProblem {
    const body = this.outline.body();
    if (!this.outline.isObject(body)) {
      this.found.find(['body'], 'object_type');
      return this.refusal();
    }
    const { fields, unknown } = this.outline.fields(body, 'top');
    this.unknownFields += unknown;
    this.session(fields.get('current_session'), ['body', 'current_session'], 0);
    const explain = this.flag(fields.get('explain'), ['body', 'explain']);
    const history = this.history(fields.get('history'));
    const night = fields.get('night');
    const day = history === undefined ? NaN : this.day(night);
    const given = this.measurements.read(fields, day, this.person);
    this.unknownFields += this.measurements.unknownFields;
    const targetsName = this.targetsName(fields);
    const list = (name: string) =>
      listAt(this.outline, this.found, { value: fields.get(name), loc: ['body', name], most: PAST_MAX });
    const past = list('past_sessions');
    const targets = list(targetsName);
    if (past === undefined || targets === undefined) return this.refusal();
    if (history !== undefined && history !== '' && past.length + targets.length > 0) {
      this.findTwoPasts({ past_sessions: past, [targetsName]: targets });
      return this.refusal();
    }
    if (!this.isPair(past, targets, targetsName)) return this.refusal();
    past.forEach((value, index) => this.session(value, ['body', 'past_sessions', index], 1 + index));
    targets.forEach((value, index) => this.scoreRecord(value, ['body', targetsName, index], index));
    if (this.found.findings.length + this.unitFindings.length > 0) return this.refusal();
    const request = this.parser.written(past.length, this.unknownFields, explain);
    if (history === undefined)
      return this.options.measuredApart === true ? { ...request, measurements: given } : request;
    if (history === '') this.parser.desk.begin(request);
    return { ...request, place: { day, given } };
  }

  /** A string with a history, or an empty one; undefined for absent and null. */
  private history(value: JsonValue | undefined): string | undefined {
    const loc = ['body', 'history'];
    if (this.outline.isAbsent(value)) return undefined;
    if (!this.outline.isString(value)) {
      this.found.find(loc, 'string_type');
      return undefined;
    }
    const text = this.outline.text(value, HISTORY_LENGTH_MAX);
    if (text !== '' && !(text !== undefined && this.parser.readHistoryText(text)))
      this.found.find(loc, 'history_invalid');
    return text;
  }

  /** Days since 1970; NaN if none is given. Read only beside a history. */
  private day(value: JsonValue | undefined): number {
    const day = dateAt(this.outline, value);
    if (day === undefined) this.found.find(['body', 'night'], 'date_type');
    return day ?? NaN;
  }

  private findTwoPasts(lists: Readonly<Record<string, readonly unknown[]>>): void {
    const msg = 'Give history or the lists of the past, not both; a history that is "" takes the lists over';
    this.found.find(['body', 'history'], 'value_error', msg);
    for (const [name, items] of Object.entries(lists)) {
      if (items.length > 0) this.found.find(['body', name], 'value_error', msg);
    }
  }

  /** A boolean; absent and null are false. */
  private flag(value: JsonValue | undefined, loc: Loc): boolean {
    if (this.outline.isAbsent(value)) return false;
    const flag = this.outline.scalar(value);
    if (typeof flag !== 'boolean') this.found.find(loc, 'bool_type');
    return flag === true;
  }

  /** Past targets may be called `past_target`, but only one of the two names may be used. */
  private targetsName(fields: Fields): 'past_target' | 'past_targets' {
    const isPlural = this.outline.hasValue(fields.get('past_targets'));
    const isSingular = this.outline.hasValue(fields.get('past_target'));
    if (isPlural && isSingular)
      this.found.findings.push(aliasFinding(['body'], 'past_target', 'past_targets'));
    return isSingular && !isPlural ? 'past_target' : 'past_targets';
  }

  /** Reads a session into record `session` of the request. */
  private session(value: JsonValue | undefined, loc: Loc, session: number): void {
    if (this.found.isFull) return;
    if (value === undefined) return this.found.find(loc, 'missing', NO_SESSION);
    if (!this.outline.isObject(value)) return this.found.find(loc, 'object_type');
    const { fields, unknown } = this.outline.fields(value, 'session');
    this.unknownFields += unknown;
    if (!this.outline.isAbsent(fields.get(RECORDING_FIELD))) {
      this.hasRecording ||= session === 0;
      return this.found.find([...loc, RECORDING_FIELD], 'value_error', NOT_ALONE);
    }
    const frame = this.outline.values(fields, SESSION_SCALARS);
    const found = SERIES_FIELDS.flatMap((field) => this.series(fields, field, loc, session));
    const wrong = schemaFindings(sessionCheck, frame, loc);
    found.push(...SESSION_SCALARS.flatMap((field) => wrong.get(field) ?? []));
    this.found.findings.push(...found);
    if (found.length > 0) return;
    if (session === 0) this.person = frame as SessionFrame;
    writeScalars(frame as SessionFrame, this.request.records, session * LAYOUT.RECORD_LENGTH);
    for (const { field, msg } of sleepContradictions(frame as SessionFrame)) {
      this.unitFindings.push(finding([...loc, field], 'unit_error', msg));
    }
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
    if (this.outline.isAbsent(value)) {
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
      return [boundFinding(loc, 'too_long', samplesMax(field, this.options), 'items')];
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
    if (this.found.isFull) return;
    if (!this.outline.isObject(value)) return this.found.find(loc, 'object_type');
    const { fields, unknown } = this.outline.fields(value, 'target');
    this.unknownFields += unknown;
    const frame = this.outline.values(fields, TARGET_FIELDS);
    const wrong = schemaFindings(scoreRecordCheck, frame, loc);
    this.found.findings.push(...wrong.values());
    if (wrong.size > 0) return;
    writeTarget(frame as ScoreRecord, this.request.targets, index * LAYOUT.TARGET_LENGTH);
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
    if (items.length > PAST_MAX) this.found.findings.push(boundFinding(loc, 'too_long', PAST_MAX, 'items'));
    else this.found.find(loc, 'value_error', msg);
  }

  /** A wrong unit is reported only if there are no other findings. */
  private refusal(): BodyProblem {
    const found = this.found.findings.length > 0 ? this.found.findings : this.unitFindings;
    const findings = found.slice(0, FINDINGS_MAX);
    const newMeasurements = this.measurements.count;
    return this.parser.priced({
      kind: 'unprocessable',
      findings,
      ...(newMeasurements > 0 && { newMeasurements }),
    });
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
