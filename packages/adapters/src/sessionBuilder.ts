import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { momentMs, type Moment } from '#rules/moment.js';
import { NIGHT_AGE_HOURS_MAX, NIGHT_HOURS_MAX } from '#rules/night.js';
import type { Signal } from '#rules/plausible.js';
import type { Session } from './session.js';
import { wakingDate } from './wakingDate.js';
import { personFields, type Person } from './person.js';
import {
  checkSeconds,
  measureStages,
  secondsOfMinutes,
  sleepFields,
  type Span,
  type StageDurations,
  type StageInterval,
} from './sleep.js';
import { checkApart, checkSession, checkUnit, isReading } from './unitChecks.js';

/** One sample of a wearable. No-readings (null, 0, −1, −2, 255) are left out. */
export interface Sample {
  readonly at: Moment;
  readonly value: number | null | undefined;
}

interface Reading {
  readonly atMs: number;
  readonly value: number;
}

const HOUR_MS = 3_600_000;
/** The limits of a service with default settings. */
const { daySamplesMax, nightSamplesMax } = DEFAULT_SERIES_LIMITS;

/**
 * Builds a session from wearable data: timestamped samples in any order and of any length, and stages of sleep. The
 * hour before `at` becomes the day series, samples within the night become the night series.
 *
 *     new SessionBuilder(now).person({ age: 34, sex: 'F' }).heartRate(samples).sleepStages(stages).build()
 */
export class SessionBuilder {
  readonly #at: Moment;
  readonly #atMs: number;
  #who: Person = {};
  #heart: readonly Reading[] = [];
  #breath: readonly Reading[] = [];
  #span: Span | undefined;
  /** The end of the night as it was given. */
  #woke: Moment | undefined;
  #seconds: StageDurations = {};

  /** @param at  the moment to score */
  constructor(at: Moment) {
    this.#at = at;
    this.#atMs = momentMs(at, 'the moment to score');
  }

  person(person: Person): this {
    this.#who = person;
    return this;
  }

  /** Heart rate in beats per minute. */
  heartRate(samples: Iterable<Sample>): this {
    this.#heart = readings(samples, 'heart rate');
    return this;
  }

  /** Respiratory rate in breaths per minute; not R-R intervals. */
  respiratoryRate(samples: Iterable<Sample>): this {
    this.#breath = readings(samples, 'respiratory rate');
    return this;
  }

  /** The night as a tracker gives it: intervals of stages, which also say when the night was. */
  sleepStages(intervals: readonly StageInterval[]): this {
    const { night, woke, seconds } = measureStages(intervals);
    this.#span = night;
    this.#woke = woke;
    this.#seconds = seconds;
    return this;
  }

  /** For totals alone, in minutes; say with `night` when the night was. */
  sleepMinutes(minutes: StageDurations): this {
    this.#seconds = secondsOfMinutes(minutes);
    return this;
  }

  /** For totals alone, in seconds; say with `night` when the night was. */
  sleepSeconds(seconds: StageDurations): this {
    this.#seconds = checkSeconds(seconds);
    return this;
  }

  /** From falling asleep to getting up. */
  night(from: Moment, to: Moment): this {
    const span = {
      fromMs: momentMs(from, 'the beginning of the night'),
      toMs: momentMs(to, 'the end of the night'),
    };
    if (span.toMs <= span.fromMs) throw new RangeError('the night ends before it begins');
    this.#span = span;
    this.#woke = to;
    return this;
  }

  /**
   * The date on which the person woke, such as "2026-11-21": the `night` of `History.score`. Undefined if neither
   * stages nor `night` have said when the night was.
   * @param zone  of the person, "Europe/Berlin" or "+01:00"; without it the offset of the night's end or of the
   * moment to score counts, else UTC
   * @throws AdapterError if the zone is unknown
   */
  wokeOn(zone?: string): string | undefined {
    return this.#woke === undefined ? undefined : wakingDate(this.#woke, this.#at, zone);
  }

  /**
   * @throws UnitError if values are most likely in another unit
   * @throws RangeError if the night is not the one before
   */
  build(): Session {
    const atMs = this.#atMs;
    const span = this.#span;
    if (span !== undefined) checkNight(span, atMs);
    const hour = { fromMs: atMs - HOUR_MS, toMs: atMs };
    const session: Session = {
      HR_day_1h: seriesWithin(hour, this.#heart, daySamplesMax),
      RR_day_1h: seriesWithin(hour, this.#breath, daySamplesMax),
      HR_night: seriesWithin(span, this.#heart, nightSamplesMax),
      RR_night: seriesWithin(span, this.#breath, nightSamplesMax),
      ...sleepFields(this.#seconds),
      ...personFields(this.#who, atMs),
    };
    checkSeries('heart rate', session.HR_day_1h, session.HR_night);
    checkSeries('respiratory rate', session.RR_day_1h, session.RR_night);
    checkApart(session.HR_day_1h ?? [], session.RR_day_1h ?? []);
    checkApart(session.HR_night ?? [], session.RR_night ?? []);
    checkSession(session, 'session');
    return session;
  }
}

/** Checks each series alone, as the service does. */
function checkSeries(signal: Signal, ...series: readonly (readonly number[] | null | undefined)[]): void {
  for (const values of series) checkUnit(signal, values ?? []);
}

/** Oldest first; of several samples at one moment, as in overlapping downloads, the last counts. */
function readings(samples: Iterable<Sample>, signal: Signal): readonly Reading[] {
  const byMoment = new Map<number, number>();
  for (const { at, value } of samples) {
    if (isReading(value)) byMoment.set(momentMs(at, `the time of a ${signal} sample`), value);
  }
  return Array.from(byMoment, ([atMs, value]) => ({ atMs, value })).toSorted((a, b) => a.atMs - b.atMs);
}

function seriesWithin(span: Span | undefined, all: readonly Reading[], samplesMax: number): number[] {
  if (span === undefined) return [];
  const values = all.filter(({ atMs }) => atMs >= span.fromMs && atMs <= span.toMs).map(({ value }) => value);
  return thinned(values, samplesMax);
}

/** Every second, third, … sample if there are more than the service takes: the spacing stays even. */
function thinned(values: number[], samplesMax: number): number[] {
  const step = Math.ceil(values.length / samplesMax);
  return step <= 1 ? values : values.filter((_, index) => index % step === 0);
}

function checkNight({ fromMs, toMs }: Span, atMs: number): void {
  if (toMs > atMs) throw new RangeError('the night ends after the moment to score');
  if (atMs - toMs > NIGHT_AGE_HOURS_MAX * HOUR_MS)
    throw new RangeError('this is not the night before the moment to score');
  if (toMs - fromMs > NIGHT_HOURS_MAX * HOUR_MS) throw new RangeError('the night is longer than a day');
}
