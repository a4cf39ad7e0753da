import { momentMs, type Moment } from '#rules/moment.js';
import type { Session } from './session.js';
import { personFields, type Person } from './person.js';
import { daySession, nightSession, type Beside } from './build.js';
import { AdapterError } from './adapterError.js';
import { chooseNight, dateOf, flawOf, type Night, type Window } from './choose.js';
import { Field, fieldsOf, type Sent } from './field.js';
import type { Left, Records, SleepRecord } from './records.js';
import type { Span } from './sleep.js';
import { HOUR_MS, FIRST_MS, LAST_MS, offsetAt } from './zone.js';

/** The options of every adapter, besides the provider's data. */
export interface AdapterOptions {
  /** The moment to score; by default the end of the newest night. */
  readonly at?: Moment;
  readonly person?: Person;
  /** The zone for times without one: an offset ("+01:00") or a name ("Europe/Berlin"). */
  readonly zone?: string;
  /** How many hours before `at` a night may have ended; by default 20. Only with `at`. */
  readonly newest_night_within_hours?: number;
}

/** The reader of one provider's answers: called, it is the session of them. */
export interface Adapter<Name extends string, Input extends AdapterOptions> {
  (input: Input): Adapted;
  readonly provider: Name;
  /** The names of the provider's answers in a recording. */
  readonly answers: readonly string[];
  /** Whether they are rows of tables, which may come as CSV. @internal */
  readonly areTables: boolean;
  /** All that they hold, for those who want every night. @internal */
  readonly records: (input: Input) => Records;
}

/** A provider's reader, of the function that makes records of its answers. @internal */
export function adapter<Name extends string, Input extends AdapterOptions>(
  provider: Name,
  answers: readonly Extract<keyof Input, string>[],
  recordsIn: (sent: Sent<Input>) => Records,
  { areTables = false } = {},
): Adapter<Name, Input> {
  const records = (input: Input) => recordsIn(fieldsOf(input));
  const read = (input: Input) => adapt(input, records(input));
  return Object.assign(read, { provider, answers, records, areTables });
}

/** The sleep that a night was made of. */
export interface UsedSleep {
  /** ISO 8601 with Z. */
  readonly from: string;
  readonly to: string;
  /** The device, app or provider that recorded it, if the answer says so. */
  readonly source: string | null;
  /** More than one if the night came in parts. */
  readonly parts: readonly { readonly what: string; readonly from: string; readonly to: string }[];
}

/**
 * The session with its moment and night (the arguments of `History.score`), what it was made of, and what was left
 * out.
 */
export interface Adapted {
  /** ISO 8601 with Z. */
  readonly at: string;
  /** The date of waking, such as "2026-11-21"; null if the session has no night. */
  readonly night: string | null;
  readonly session: Session;
  readonly sleep: UsedSleep | null;
  /** Data that was sent and not used. */
  readonly left: readonly Left[];
}

const NIGHT_WITHIN_HOURS = 20;

/** The session of a provider's records. */
function adapt(options: AdapterOptions, records: Records): Adapted {
  const { heart = [], breath = [], left: told = [] } = records;
  const sleeps = records.sleeps?.();
  const givenMs = givenMoment(options);
  const window = windowOf(options, givenMs);
  const { night, why, left } = chooseNight(sleeps ?? [], window);
  const atMs = givenMs ?? night?.toMs;
  if (atMs === undefined) {
    if (sleeps === undefined)
      throw new AdapterError(['at'], 'is missing, and there is no sleep whose end it could be');
    throw new AdapterError(['sleep'], `no night to score: ${why}`);
  }
  if (night === undefined) {
    const day = dayBefore(atMs, undefined, options, { heart, breath }, sleeps);
    if (day.HR_day_1h?.length === 0 && day.RR_day_1h?.length === 0)
      throw new AdapterError(['sleep'], `no night to score, nor a sample of the hour before: ${why}`);
    const none = sleeps === undefined || left.length > 0 ? [] : [{ what: 'sleep', why }];
    return {
      at: isoOf(atMs),
      night: null,
      session: { ...day, HR_night: [], RR_night: [] },
      sleep: null,
      left: [...none, ...left, ...told],
    };
  }
  const adapted = sessionOfNight(night, options, window, { heart, breath }, atMs, sleeps);
  return { ...adapted, left: [...left, ...adapted.left, ...told] };
}

/** The hour before the moment to score, without any part of the night or of another sleep; and the person then. */
function dayBefore(
  atMs: number,
  night: Night | undefined,
  { person }: AdapterOptions,
  beside: Beside,
  sleeps: readonly SleepRecord[] = [],
): Session {
  let fromMs = Math.max(atMs - HOUR_MS, night === undefined ? 0 : night.toMs + 1);
  const awake: Span[] = [];
  const asleep = sleeps.filter(
    (sleep) => sleep.toMs >= fromMs && sleep.fromMs <= atMs && flawOf(sleep) === undefined,
  );
  for (const sleep of asleep.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (sleep.fromMs > fromMs) awake.push({ fromMs, toMs: sleep.fromMs - 1 });
    fromMs = Math.max(fromMs, sleep.toMs + 1);
  }
  if (fromMs <= atMs) awake.push({ fromMs, toMs: atMs });
  return { ...daySession(awake, beside, night?.parts[0].source), ...personFields(person ?? {}, atMs) };
}

/**
 * The zone of a record, or else that of the options, says which date it is.
 * @throws AdapterError if the zone is unknown
 * @internal
 */
export function windowOf(options: AdapterOptions, atMs: number | undefined): Window {
  const zone = options.zone ?? undefined; // null from plain JavaScript
  if (zone !== undefined) offsetAt(0, zone);
  return {
    atMs,
    hours: withinHours(options.newest_night_within_hours),
    eastMs: (record, ms) => record.eastMs ?? (zone === undefined ? undefined : offsetAt(ms, zone)),
  };
}

/**
 * The session of a night, by default at its end.
 * @throws AdapterError or UnitError if it can't be scored
 * @internal
 */
export function sessionOfNight(
  night: Night,
  options: AdapterOptions,
  window: Window,
  beside: Beside,
  atMs = night.toMs,
  sleeps: readonly SleepRecord[] = [],
): Adapted {
  const day = dayBefore(atMs, night, options, beside, sleeps);
  const { session, left } = nightSession(night, beside);
  const { HR_day_1h, RR_day_1h } = day;
  const { field } = night.parts[0];
  if (Object.values({ ...session, HR_day_1h, RR_day_1h }).every(isNothing))
    throw new AdapterError(field.path, NOTHING);
  const isDateKnown = window.eastMs(night.parts.at(-1) ?? night.parts[0], night.toMs) !== undefined;
  return {
    at: isoOf(atMs),
    night: dateOf(night, window),
    session: { ...session, ...day },
    sleep: usedSleep(night),
    left: isDateKnown ? left : [...left, { what: field.place, why: NO_ZONE }],
  };
}

const NOTHING =
  'says neither how long nor in which stages somebody slept, and has no heart rate or breathing';

function isNothing(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

const NO_ZONE = 'says no local time: the date of the night is that in UTC; give the zone of the person';

/**
 * @throws AdapterError if it is no moment
 * @internal
 */
export function givenMoment({ at, zone }: AdapterOptions): number | undefined {
  if (at === undefined || at === null) return undefined;
  const field = new Field(at, 'at', zone);
  if (typeof at === 'string') return field.moment();
  const ms = field.located(() => momentMs(at, 'this'));
  return ms >= FIRST_MS && ms < LAST_MS ? ms : field.fail('is no point in time');
}

/** @internal */
export function withinHours(hours: number | undefined): number {
  if (hours === undefined || hours === null) return NIGHT_WITHIN_HOURS;
  if (typeof hours === 'number' && hours > 0 && hours < Infinity) return hours;
  throw new AdapterError(['newest_night_within_hours'], 'expected a number of hours above 0');
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Names of apps and devices are shorter. */
const SOURCE_LENGTH_MAX = 200;

function usedSleep({ fromMs, toMs, parts }: Night): UsedSleep {
  return {
    from: isoOf(fromMs),
    to: isoOf(toMs),
    source: parts[0].source?.slice(0, SOURCE_LENGTH_MAX) ?? null,
    parts: parts.map((part) => ({ what: part.field.place, from: isoOf(part.fromMs), to: isoOf(part.toMs) })),
  };
}
