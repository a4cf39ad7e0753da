import { grouped } from './grouped.js';
import type { Left, SleepDetails, SleepRecord } from './records.js';

/** A night: one sleep, or several that are one. @internal */
export interface Night {
  readonly fromMs: number;
  readonly toMs: number;
  /** In order, without overlap, of one source. */
  readonly parts: readonly [SleepRecord, ...SleepRecord[]];
}

/** The night, or why there is none; and what else was sent. @internal */
export interface Choice {
  readonly night: Night | undefined;
  readonly why: string;
  readonly left: readonly Left[];
}

/** @internal */
export interface Window {
  /** The moment to score; without it the newest night counts. */
  readonly atMs: number | undefined;
  /** A night that ended longer before it does not count. */
  readonly hours: number;
  /** The local time of a moment of a sleep, read as if it were UTC. */
  readonly clockMs: (record: SleepRecord, ms: number) => number;
  /** Whether the local time is known; else it is UTC. */
  readonly isDateKnown: (record: SleepRecord, ms: number) => boolean;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Parts closer together than this belong to one night. */
const GAP_MAX_MS = 3 * HOUR_MS;
/** Parts of one night may overlap by this much. */
const OVERLAP_MAX_MS = HOUR_MS / 6;
/** A night in more pieces is no night: every stage would be one. */
const PARTS_MAX = 48;
/** A shorter sleep is no main sleep, unless its provider says so. */
const MAIN_MIN_MS = 3 * HOUR_MS;
/** A short sleep that ends this soon after a main one is no night of its own. */
const SOON_MS = 12 * HOUR_MS;
/** A sleep of the night begins between this hour of the evening and noon. */
const EVENING_HOUR = 20;
const NOON_HOUR = 12;

/** @internal */
export function chooseNight(records: readonly SleepRecord[], window: Window): Choice {
  const left = new Remainder();
  const { nights, broken } = nightsOf(records, window, left);
  const isRecent = ({ toMs }: Night) => ageMs(toMs, window) <= window.hours * HOUR_MS;
  const night = newest(nights.filter(isRecent), window, left);
  night?.parts[PARTS_MAX]?.field.fail(MANY_PARTS);
  if (night !== undefined)
    for (const older of nights) if (!isRecent(older)) left.addNight(older, 'an earlier night');
  for (const record of broken) {
    const why = flawOf(record) ?? '';
    const isOlder = Math.max(record.fromMs, record.toMs) <= (night?.toMs ?? -Infinity);
    if (!isOlder && ageMs(record.toMs, window) <= window.hours * HOUR_MS) record.field.fail(why);
    left.add(record, why);
  }
  return { night, why: night === undefined ? whyNone(records, nights, window, left) : '', left: left.all };
}

/** Every night, the longest of each date of waking, in order. @internal */
export function everyNight(
  records: readonly SleepRecord[],
  window: Window,
): { readonly nights: readonly Night[]; readonly left: readonly Left[] } {
  const left = new Remainder(Infinity);
  const { nights, broken } = nightsOf(records, window, left);
  for (const record of broken) left.add(record, flawOf(record) ?? '');
  const longest = new Map<string, Night>();
  for (const night of nights.toSorted((a, b) => lengthMs(b) - lengthMs(a))) {
    const date = dateOf(night, window);
    if (longest.has(date)) left.addNight(night, 'of the same date as a longer night');
    else if (night.parts.length > PARTS_MAX) left.addNight(night, MANY_PARTS);
    else longest.set(date, night);
  }
  return { nights: [...longest.values()].toSorted((a, b) => a.toMs - b.toMs), left: left.all };
}

const MANY_PARTS = `is one of more than ${PARTS_MAX} pieces of a night`;

/** The nights, and the records that can be none. */
function nightsOf(
  records: readonly SleepRecord[],
  window: Window,
  left: Remainder,
): { readonly nights: readonly Night[]; readonly broken: readonly SleepRecord[] } {
  const kept = records.filter((record) => counts(record, window, left)).map(readOnce);
  const sound = kept.filter((record) => flawOf(record) === undefined);
  const joined = [...grouped(sound, ({ source }) => source).values()].flatMap((ofSource) =>
    withParts(withoutDoubles(ofSource.map(alone), left), window),
  );
  const nights = withoutNaps(withoutDoubles(joined, left), window, left);
  return { nights, broken: kept.filter((record) => flawOf(record) !== undefined) };
}

/** Sleeps that are not used. Of many the first are named, the others counted. */
class Remainder {
  private readonly named: Left[] = [];
  private more = 0;
  /** Whether all of them end after the moment to score. */
  areAllLater = true;

  constructor(private readonly namedMax = NAMED_MAX) {}

  add({ field }: SleepRecord, why: string | (() => string)): void {
    this.areAllLater &&= why === LATER;
    if (this.named.length === this.namedMax) this.more++;
    else this.named.push({ what: field.place, why: typeof why === 'string' ? why : why() });
  }

  addNight({ parts }: Night, why: string | (() => string)): void {
    for (const part of parts) this.add(part, why);
  }

  get all(): readonly Left[] {
    if (this.more === 0) return this.named;
    return [...this.named, { what: 'sleep', why: `${this.more} more sleeps were not used` }];
  }
}

const NAMED_MAX = 40;
const LATER = 'ends after the moment to score';

function ageMs(toMs: number, { atMs }: Window): number {
  return atMs === undefined ? 0 : atMs - toMs;
}

function counts(record: SleepRecord, window: Window, left: Remainder): boolean {
  const why =
    record.unusable ??
    (record.isNap === true ? 'a nap' : undefined) ??
    (ageMs(record.toMs, window) < 0 ? LATER : undefined);
  if (why !== undefined) left.add(record, why);
  return why === undefined;
}

/** Of many records of one time each is compared with the next. */
function readOnce(record: SleepRecord): SleepRecord {
  let read = (): SleepDetails => {
    try {
      const details = record.read();
      read = () => details;
    } catch (error) {
      read = () => {
        throw error;
      };
    }
    return read();
  };
  return { ...record, read: () => read() };
}

function flawOf({ fromMs, toMs }: SleepRecord): string | undefined {
  if (toMs <= fromMs) return 'ends before it begins';
  return toMs - fromMs > DAY_MS ? 'is longer than a day' : undefined;
}

function alone(record: SleepRecord): Night {
  return { fromMs: record.fromMs, toMs: record.toMs, parts: [record] };
}

function lengthMs({ fromMs, toMs }: Night): number {
  return toMs - fromMs;
}

/** Of overlapping sleeps the better one: the same night, recorded or sent more than once. */
function withoutDoubles(nights: readonly Night[], left: Remainder): Night[] {
  const kept: Night[] = [];
  let ofOneTime = 0;
  for (const night of nights.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = kept.at(-1);
    if (last === undefined || !isSameTime(last, night)) {
      kept.push(night);
      ofOneTime = 0;
      continue;
    }
    const isRead = ++ofOneTime < READ_MAX;
    const why = betterBecause(last, night, isRead);
    const [winner, loser, because] =
      why === undefined
        ? [night, last, betterBecause(night, last, isRead) ?? 'was sent later']
        : [last, night, why];
    left.addNight(loser, () => `the same time as ${winner.parts[0].field.place}, which ${because}`);
    kept[kept.length - 1] = winner;
  }
  return kept;
}

function isSameTime(a: Night, b: Night): boolean {
  return a.toMs - b.fromMs > Math.min(OVERLAP_MAX_MS, lengthMs(a) / 2, lengthMs(b) / 2);
}

/** Of more records of one time only the lengths are compared. */
const READ_MAX = 32;

/** Why `a` is the better record of the same time; undefined if it is not. */
function betterBecause(a: Night, b: Night, isRead: boolean): string | undefined {
  const standing = (a.parts[0].standing ?? 0) - (b.parts[0].standing ?? 0);
  if (standing !== 0) return standing > 0 ? 'is more final' : undefined;
  const [ofA, ofB] = isRead ? [detailOf(a), detailOf(b)] : [0, 0];
  // A scrap with stages is no better record of a night than the whole of it without.
  if (ofA !== ofB && Math.min(lengthMs(a), lengthMs(b)) * 2 >= Math.max(lengthMs(a), lengthMs(b)))
    return ofA > ofB ? 'says more' : undefined;
  return lengthMs(a) > lengthMs(b) ? 'is longer' : undefined;
}

/** 2 with stages, 1 without, 0 if unreadable: the error is thrown where it is the one that counts. */
function detailOf({ parts }: Night): number {
  if (parts.length > PARTS_MAX) return 0;
  try {
    return parts.every((part) => part.read().stages?.deep !== undefined) ? 2 : 1;
  } catch {
    return 0;
  }
}

/** Sleeps of one source; those that are parts of one night are joined. */
function withParts(nights: readonly Night[], window: Window): Night[] {
  const joined: { fromMs: number; toMs: number; parts: [SleepRecord, ...SleepRecord[]] }[] = [];
  for (const { fromMs, toMs, parts } of nights) {
    const last = joined.at(-1);
    if (last === undefined || !isOne(last, parts[0], window)) {
      joined.push({ fromMs, toMs, parts: [...parts] });
      continue;
    }
    last.parts.push(...parts);
    last.toMs = toMs;
  }
  return joined;
}

function isOne(a: Night, b: SleepRecord, window: Window): boolean {
  if (b.fromMs - a.toMs >= GAP_MAX_MS || b.toMs - a.fromMs > DAY_MS) return false;
  const last = a.parts.at(-1) ?? a.parts[0];
  return [last, b].every((part) => !isAfternoon(hourOf(part, part.fromMs, window)));
}

function hourOf(record: SleepRecord, ms: number, { clockMs }: Window): number {
  return new Date(clockMs(record, ms)).getUTCHours();
}

function isAfternoon(hour: number): boolean {
  return hour >= NOON_HOUR && hour < EVENING_HOUR;
}

/** Short sleeps without a mark: by day, or soon after a main sleep. */
function withoutNaps(nights: readonly Night[], window: Window, left: Remainder): Night[] {
  let main: Night | undefined;
  return nights
    .toSorted((a, b) => a.toMs - b.toMs)
    .filter((night) => {
      const isShort = lengthMs(night) < MAIN_MIN_MS && !night.parts.some(({ isMain }) => isMain === true);
      if (!isShort) {
        main = night;
        return true;
      }
      const [first] = night.parts;
      const before = main;
      const why = isAfternoon(hourOf(first, first.fromMs, window))
        ? 'a short sleep of the afternoon is no night'
        : before !== undefined && night.toMs - before.toMs < SOON_MS
          ? () => `a short sleep soon after ${before.parts[0].field.place}`
          : undefined;
      if (why !== undefined) left.addNight(night, why);
      return why === undefined;
    });
}

/** The longest of those with the newest date of waking. */
function newest(nights: readonly Night[], window: Window, left: Remainder): Night | undefined {
  const dated = nights
    .map((night) => ({ night, date: dateOf(night, window) }))
    .toSorted((a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : lengthMs(b.night) - lengthMs(a.night)));
  const [first, ...others] = dated;
  if (first === undefined) return undefined;
  const older = others.filter(({ date }) => date !== first.date);
  for (const { night } of others.slice(0, others.length - older.length))
    left.addNight(night, () => `of the same date as ${first.night.parts[0].field.place}, which is longer`);
  for (const { night } of older) left.addNight(night, 'an earlier night');
  return first.night;
}

/** The date of waking, as `2026-11-21`. @internal */
export function dateOf({ parts, toMs }: Night, { clockMs }: Window): string {
  return new Date(clockMs(parts.at(-1) ?? parts[0], toMs)).toISOString().slice(0, 10);
}

function whyNone(
  records: readonly SleepRecord[],
  nights: readonly Night[],
  window: Window,
  left: Remainder,
): string {
  if (records.length === 0) return 'there is none';
  const latest = nights.toSorted((a, b) => b.toMs - a.toMs)[0];
  if (latest !== undefined) {
    const hours = Math.floor(ageMs(latest.toMs, window) / HOUR_MS);
    const why = `ended ${hours} hours before the moment to score, and a night counts for ${window.hours}; was the device not synced since? An older night has to be asked for`;
    left.addNight(latest, why);
    return `the newest ${why}`;
  }
  if (left.areAllLater) return 'all that were sent end after the moment to score';
  const unmeasured = records.find(({ unusable = 'deleted' }) => unusable !== 'deleted');
  return unmeasured?.unusable ?? 'there are only naps and deleted ones';
}
