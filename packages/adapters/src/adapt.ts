import { momentMs, type Moment } from '#rules/moment.js';
import type { Signal } from '#rules/plausible.js';
import type { Session } from './session.js';
import type { Person } from './person.js';
import { daySession, nightSession } from './build.js';
import { AdapterError } from './adapterError.js';
import { chooseNight, dateOf, type Night, type Window } from './choose.js';
import { Field } from './field.js';
import { joined, type OwnSignal } from './joined.js';
import type { Left, Records, SleepRecord } from './records.js';
import { ofDevice, type Series } from './series.js';
import { FIRST_MS, LAST_MS, offsetAt } from './zone.js';

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
  records: (input: Input) => Records,
  { areTables = false } = {},
): Adapter<Name, Input> {
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

const HOUR_MS = 3_600_000;
const NIGHT_WITHIN_HOURS = 20;

/** The session of a provider's records. */
function adapt(options: AdapterOptions, records: Records): Adapted {
  const { heart = [], breath = [], unread = [] } = records;
  const sleeps = sleepsIn(records, UNREADABLE_MAX);
  const givenMs = givenMoment(options);
  const window = windowOf(options, givenMs);
  const { night, why, left } = chooseNight(sleeps ?? [], window);
  const atMs = givenMs ?? night?.toMs;
  if (atMs === undefined) {
    if (sleeps === undefined)
      throw new AdapterError(['at'], 'is missing, and there is no sleep whose end it could be');
    throw unread[0] ?? new AdapterError(['sleep'], `no night to score: ${why}`);
  }
  const told = leftOf(records);
  const hour = { fromMs: Math.max(atMs - HOUR_MS, night === undefined ? 0 : night.toMs + 1), toMs: atMs };
  const source = night?.parts[0].source;
  const day = daySession(atMs, options.person ?? {}, {
    heart: ofDevice('heart rate', [hour], heart, source),
    breath: ofDevice('respiratory rate', [hour], breath, source),
  });
  if (night === undefined) {
    if (day.HR_day_1h?.length === 0 && day.RR_day_1h?.length === 0)
      throw unread[0] ?? new AdapterError(['sleep'], `no night to score, nor a sample of the hour before: ${why}`); // prettier-ignore
    const none = sleeps === undefined || left.length > 0 ? [] : [{ what: 'sleep', why }];
    return {
      at: isoOf(atMs),
      night: null,
      session: { ...day, HR_night: [], RR_night: [] },
      sleep: null,
      left: [...none, ...left, ...told],
    };
  }
  const adapted = adaptedNight(night, { window, atMs, day, heart, breath });
  return { ...adapted, left: [...left, ...adapted.left, ...told] };
}

/** More unreadable sleeps are no mistake of a few records: each error costs as much as the reading of a night. */
const UNREADABLE_MAX = 200;

/** The sleeps of records, of which so many may be unreadable. @internal */
export function sleepsIn({ sleeps }: Records, unreadableMax: number): readonly SleepRecord[] | undefined {
  return typeof sleeps === 'function' ? sleeps(unreadableMax) : sleeps;
}

/** What was not used whichever night counts. @internal */
export function leftOf({ left = [], unread = [] }: Records): Left[] {
  return [...left, ...unread.map(({ field, sentence }) => ({ what: field, why: sentence }))];
}

/**
 * The zone of a record, or else that of the options, says which date it is.
 * @throws AdapterError if the zone is unknown
 * @internal
 */
export function windowOf(options: AdapterOptions, atMs: number | undefined): Window {
  const zone = options.zone ?? undefined; // null from plain JavaScript
  if (zone !== undefined) offsetAt(0, zone);
  const eastMs = (record: SleepRecord, ms: number) =>
    record.eastMs ?? (zone === undefined ? undefined : offsetAt(ms, zone));
  return {
    atMs,
    hours: withinHours(options.newest_night_within_hours),
    clockMs: (record, ms) => ms + (eastMs(record, ms) ?? 0),
    isDateKnown: (record, ms) => eastMs(record, ms) !== undefined,
  };
}

/**
 * The session of a night at its end.
 * @throws AdapterError or UnitError if it can't be scored
 * @internal
 */
export function sessionOfNight(
  night: Night,
  { person = {} }: AdapterOptions,
  window: Window,
  beside: Beside,
): Adapted {
  return adaptedNight(night, {
    window,
    atMs: night.toMs,
    day: daySession(night.toMs, person, { heart: [], breath: [] }),
    ...beside,
  });
}

/** Samples besides those of the sleep. */
type Beside = Readonly<Record<'heart' | 'breath', readonly Series[]>>;

interface Around extends Beside {
  readonly window: Window;
  readonly atMs: number;
  readonly day: Session;
}

function adaptedNight(night: Night, { window, atMs, day, heart, breath }: Around): Adapted {
  const ofNight = nightOf(night, heart, breath);
  const { HR_day_1h, RR_day_1h } = day;
  if (Object.values({ ...ofNight.session, HR_day_1h, RR_day_1h }).every(isNothing))
    throw new AdapterError(night.parts[0].field.path, NOTHING);
  const [last] = night.parts.slice(-1);
  const isDateKnown = last === undefined || window.isDateKnown(last, night.toMs);
  return {
    at: isoOf(atMs),
    night: dateOf(night, window),
    session: { ...ofNight.session, ...day },
    sleep: usedSleep(night),
    left: [...ofNight.left, ...(isDateKnown ? [] : [{ what: night.parts[0].field.place, why: NO_ZONE }])],
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
    parts: parts.map((part) => ({
      what: part.field.place,
      from: isoOf(part.fromMs),
      to: isoOf(part.toMs),
    })),
  };
}

/** The sleep's own series, else its average, else the series of another device. */
function nightOf(
  night: Night,
  heart: readonly Series[],
  breath: readonly Series[],
): { session: Session; left: readonly Left[] } {
  const { field, source } = night.parts[0];
  const details = joined(night);
  const left = [...details.left];
  const samplesOf = (signal: Signal, beside: readonly Series[], own: OwnSignal) => {
    if (own.samples.length > 0) return own.samples;
    const same = beside.filter((one) => one.source === undefined || one.source === source);
    const ofSame = ofDevice(signal, night.parts, same, source);
    if (ofSame.length > 0 || own.average !== undefined) return ofSame;
    const others = ofDevice(signal, night.parts, beside, source);
    if (others.length > 0 && source !== undefined)
      left.push({ what: field.place, why: `no ${signal} of its own device: that of another was taken` });
    return others;
  };
  const readings = {
    heart: samplesOf('heart rate', heart, details.heart),
    breath: samplesOf('respiratory rate', breath, details.breath),
  };
  const session = field.located(() => nightSession(details.stages, readings));
  if (session.sleepTimeSeconds === undefined && details.asleepS !== undefined)
    session.sleepTimeSeconds = Math.round(details.asleepS);
  if (session.HR_night?.length === 0 && details.heart.average !== undefined)
    session.HR_night = [details.heart.average];
  if (session.RR_night?.length === 0 && details.breath.average !== undefined)
    session.RR_night = [details.breath.average];
  return { session, left };
}
