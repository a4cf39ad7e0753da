import { LABEL_FIELDS, MEASURED_FIELDS, SCORE_FIELDS, type MeasuredField } from '#rules/fields.js';
import { isLabel, latentOf } from '../measured.js';
import { adjustmentsOf, type Adjustments, type MeasuringConstants } from '../measuredRow.js';
import { LAYOUT } from '../layout.js';
import type {
  GivenMeasurement,
  IgnoredMeasurement,
  MeasuredTest,
  PredictionRequest,
  SessionPlace,
} from '../request.js';
import { CRC_BYTES, sealedText } from './form.js';
import { History, type HistoryFunctions } from './history.js';
import { decodeMeasurements, encodeMeasurements } from './measuredForm.js';
import { keptOf } from './measurements.js';
import { NextHistory } from './nextHistory.js';
import { dateOf } from '../../base/days.js';
import { makePlace, type Place } from './place.js';

/** Places sessions in their histories, one at a time, in the memory of a parser. */
export class HistoryDesk {
  /** The history read last. */
  readonly history: History;
  private readonly bytes: Buffer;
  private readonly noted: Uint32Array;
  /** The request's session. */
  private readonly record: Float64Array;

  /** `memory` and `functions` are those of a parser. */
  constructor(
    memory: ArrayBuffer,
    private readonly functions: HistoryFunctions,
  ) {
    this.history = new History(memory, functions);
    this.record = new Float64Array(memory, LAYOUT.RECORDS, RECORD_LENGTH);
    this.bytes = Buffer.from(memory);
    this.noted = new Uint32Array(memory, LAYOUT.TEXTS + 8 * LAYOUT.NOTED_SESSION, 1);
  }

  /** The text of the history read or begun. */
  text(): string {
    return sealedText(Buffer.from(this.encoded()));
  }

  /** Its bytes, with room for the checksum, valid until the next history; notes where `session` begins. */
  encoded(session = 0): Uint8Array {
    const { bytes } = this;
    const end =
      encodeMeasurements(this.history.measurements, bytes, this.functions.writeHistory(session)) + CRC_BYTES;
    return new Uint8Array(bytes.buffer, LAYOUT.HISTORY_BYTES, end - LAYOUT.HISTORY_BYTES); // subarray takes longer
  }

  /** Begins an empty history. */
  clear(): void {
    this.history.forgetNights();
    this.history.measurements.clear();
  }

  /** Takes over the history that the parser has read; false if its measurements, before byte `end`, are invalid. */
  adopt(start: number, end: number): boolean {
    return decodeMeasurements(this.history.measurements, this.bytes, start, end);
  }

  /** Begins a history with the past of `request`, whose sessions are undated. */
  begin({ records, targets, pastCount }: PredictionRequest): void {
    const { history } = this;
    this.clear();
    history.days.fill(NaN);
    history.chances.fill(NaN);
    history.records.set(records.subarray(RECORD_LENGTH));
    history.targets.set(targets);
    history.count = pastCount;
  }

  /**
   * Places the session of the parser's request in the history read or begun, and gives the request its past. `constants`
   * are those of the scoring model; required if the history or the session has measurements.
   */
  take(session: SessionPlace, constants?: MeasuringConstants): TakenSession {
    const { history, functions } = this;
    const isOthers = this.isOthers(session.day); // before sessions leave
    const place = makePlace(history, session.day);
    const { first, index, isKept } = place;
    functions.placeSession(first, index, isKept, session.day);
    const usual = isKept ? history.longRun.usual() : undefined;
    return { pastCount: index - first, next: this.next(place, session, isOthers, constants), usual };
  }

  private next(
    { index, isKept }: Place,
    session: SessionPlace,
    isOthers: boolean,
    constants: MeasuringConstants | undefined,
  ): NextHistory {
    const { history } = this;
    const { day, given, room } = session;
    const ignored = given.length === 0 ? NOTHING_IGNORED : this.measure(session, stated(constants));
    const tests = given.length === 0 ? NO_TESTS : testsAmong(given);
    const adjustments = history.measurements.isEmpty ? undefined : this.adjustments(day, stated(constants));
    const bytes = this.encoded(index);
    const sessionAt = isKept ? this.noted[0]! - LAYOUT.HISTORY_BYTES : undefined; // its only element
    return new NextHistory(bytes, sessionAt, isOthers, adjustments, ignored, tests, room);
  }

  /** Adds the measurements; returns those that came too late. */
  private measure({ day: night, given }: SessionPlace, known: MeasuringConstants): IgnoredMeasurement[] {
    const { history } = this;
    const ignored: IgnoredMeasurement[] = [];
    for (const { score, value, day, reliability } of given.toSorted((one, other) => one.day - other.day)) {
      const kept = keptOf(value, reliability ?? known.reliability[score], day);
      const isTaken = history.measurements.add(score, kept, known, (field, on) =>
        this.latent(field, on, night),
      );
      if (!isTaken) ignored.push({ score, on: dateOf(day) });
    }
    return ignored;
  }

  private adjustments(night: number, constants: MeasuringConstants): Adjustments | undefined {
    const { history } = this;
    const today = Number.isNaN(night) ? latestOf(history.latestDay, history.measurements.latestDay) : night;
    const latent = (field: MeasuredField, day: number): number | undefined => this.latent(field, day, night);
    return adjustmentsOf(
      (field) => history.measurements.evidence(field, today, constants, latent),
      constants,
    );
  }

  /**
   * The network's output for `field` on `day`, as λ: of that night if it is one of the sessions, else of the long-run
   * mean, else of 50. Undefined for the current night, which is not scored yet.
   */
  private latent(field: MeasuredField, day: number, night: number): number | undefined {
    if (day === night) return undefined;
    const score = this.saidOn(field, day);
    return Number.isNaN(score) ? 0 : latentOf(field, score);
  }

  /** In percent, for labels too; NaN if unknown. */
  private saidOn(field: MeasuredField, day: number): number {
    const { days, count, targets, chances, longRun } = this.history;
    const column = FIRST_COLUMN + MEASURED_FIELDS.indexOf(field);
    const label = column - SCORES;
    const unit = isLabel(field) ? 100 : 1;
    let said = NaN;
    for (let index = 0; index < count; index++) {
      if (days[index] !== day) continue;
      said = label < 0 ? targets[index * TARGET_LENGTH + column]! : chances[index * LABELS + label]!; // within them
    }
    return unit * (Number.isNaN(said) ? longRun.meanOfScore(column) : said);
  }

  /** Whether the newest session of another night than `night` seems to be another person's. */
  private isOthers(night: number): boolean {
    const { history, record } = this;
    const newest = history.count - 1;
    const other = (history.days[newest] === night ? newest - 1 : newest) * RECORD_LENGTH;
    if (other < 0) return false;
    const sexes = record[SEX]! * history.records[other + SEX]!; // within a record, as below
    const yearsApart = Math.abs(record[AGE]! - history.records[other + AGE]!);
    return sexes < 0 || yearsApart > YEARS_APART_MAX; // both comparisons are false for unknown values
  }
}

const { RECORD_LENGTH, TARGET_LENGTH, SEX, AGE } = LAYOUT;
const LABELS = LABEL_FIELDS.length;
const YEARS_APART_MAX = 2;
const SCORES = SCORE_FIELDS.length;
/** The first measurable field in a row of scores: after `C_SCORE`. */
const FIRST_COLUMN = 1;

/** A session placed in its history: its past, and the resulting history. */
export interface TakenSession {
  readonly pastCount: number;
  readonly next: NextHistory;
  /**
   * The usual day before it, as in requests: valid until the next session; undefined for a night that is not kept.
   */
  readonly usual: Float64Array | undefined;
}

const NOTHING_IGNORED: readonly IgnoredMeasurement[] = [];
const NO_TESTS: readonly MeasuredTest[] = [];

function stated(constants: MeasuringConstants | undefined): MeasuringConstants {
  if (constants === undefined) throw new Error('the model says nothing of measurements');
  return constants;
}

function testsAmong(given: readonly GivenMeasurement[]): MeasuredTest[] {
  const tests: MeasuredTest[] = [];
  for (const { test, score, value, day } of given)
    if (test !== undefined) tests.push({ test, score, value: value as number, on: dateOf(day) });
  return tests;
}

/** The later day; NaN means no day. */
function latestOf(one: number, other: number): number {
  if (Number.isNaN(one) || one < other) return other;
  return one;
}
