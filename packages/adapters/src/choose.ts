import type { Left, SleepRecord } from './records.js';

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
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Parts closer together than this belong to one night. */
const GAP_MAX_MS = 3 * HOUR_MS;
/** Parts of one night may overlap by this much. */
const OVERLAP_MAX_MS = HOUR_MS / 6;
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
  const kept = records.filter((record) => counts(record, window, left));
  const broken = kept.filter((record) => flawOf(record) !== undefined);
  const sound = kept.filter((record) => flawOf(record) === undefined);
  const joined = bySource(sound).flatMap((ofSource) =>
    withParts(withoutDoubles(ofSource.map(alone), left), window),
  );
  const nights = withoutNaps(withoutDoubles(joined, left), window, left);
  const recent = nights.filter(({ toMs }) => ageMs(toMs, window) <= window.hours * HOUR_MS);
  const night = newest(recent, window, left);
  if (night !== undefined)
    for (const older of nights) if (!recent.includes(older)) left.addNight(older, 'an earlier night');
  for (const record of broken) {
    const why = flawOf(record) ?? '';
    const isOlder = Math.max(record.fromMs, record.toMs) <= (night?.toMs ?? -Infinity);
    if (!isOlder && ageMs(record.toMs, window) <= window.hours * HOUR_MS) record.field.fail(why);
    left.add(record, why);
  }
  return { night, why: night === undefined ? whyNone(records, nights, window, left) : '', left: left.all };
}

/** Sleeps that are not used, in the order of the records. */
class Remainder {
  readonly all: Left[] = [];

  add({ field }: SleepRecord, why: string): void {
    this.all.push({ what: field.place, why });
  }

  addNight({ parts }: Night, why: string): void {
    for (const part of parts) this.add(part, why);
  }
}

function ageMs(toMs: number, { atMs }: Window): number {
  return atMs === undefined ? 0 : atMs - toMs;
}

function counts(record: SleepRecord, window: Window, left: Remainder): boolean {
  const why =
    record.unusable ??
    (record.isNap === true ? 'a nap' : undefined) ??
    (ageMs(record.toMs, window) < 0 ? 'ends after the moment to score' : undefined);
  if (why !== undefined) left.add(record, why);
  return why === undefined;
}

function flawOf({ fromMs, toMs }: SleepRecord): string | undefined {
  if (toMs <= fromMs) return 'ends before it begins';
  return toMs - fromMs > DAY_MS ? 'is longer than a day' : undefined;
}

function bySource(records: readonly SleepRecord[]): SleepRecord[][] {
  const groups = new Map<string, SleepRecord[]>();
  for (const record of records) {
    const group = groups.get(record.source ?? '');
    if (group === undefined) groups.set(record.source ?? '', [record]);
    else group.push(record);
  }
  return [...groups.values()];
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
  for (const night of nights.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = kept.at(-1);
    if (last === undefined || !isSameTime(last, night)) {
      kept.push(night);
      continue;
    }
    const why = betterBecause(last, night);
    const [winner, loser, because] =
      why === undefined ? [night, last, betterBecause(night, last) ?? 'was sent later'] : [last, night, why];
    left.addNight(loser, `the same time as ${winner.parts[0].field.place}, which ${because}`);
    kept[kept.length - 1] = winner;
  }
  return kept;
}

function isSameTime(a: Night, b: Night): boolean {
  return a.toMs - b.fromMs > Math.min(OVERLAP_MAX_MS, lengthMs(a) / 2, lengthMs(b) / 2);
}

/** Why `a` is the better record of the same time; undefined if it is not. */
function betterBecause(a: Night, b: Night): string | undefined {
  const standing = (a.parts[0].standing ?? 0) - (b.parts[0].standing ?? 0);
  if (standing !== 0) return standing > 0 ? 'is more final' : undefined;
  const [ofA, ofB] = [detailOf(a), detailOf(b)];
  // A scrap with stages is no better record of a night than the whole of it without.
  if (ofA !== ofB && Math.min(lengthMs(a), lengthMs(b)) * 2 >= Math.max(lengthMs(a), lengthMs(b)))
    return ofA > ofB ? 'says more' : undefined;
  return lengthMs(a) > lengthMs(b) ? 'is longer' : undefined;
}

/** 2 with stages, 1 without, 0 if unreadable. */
function detailOf({ parts }: Night): number {
  try {
    return parts.every((part) => part.read().stages?.deep !== undefined) ? 2 : 1;
  } catch {
    return 0; // read again, and its error thrown, where it is the one that counts
  }
}

/** Sleeps of one source; those that are parts of one night are joined. */
function withParts(nights: readonly Night[], window: Window): Night[] {
  const joined: Night[] = [];
  for (const night of nights) {
    const last = joined.at(-1);
    if (last !== undefined && isOne(last, night, window)) {
      const [first, ...others] = last.parts;
      joined[joined.length - 1] = {
        fromMs: last.fromMs,
        toMs: night.toMs,
        parts: [first, ...others, ...night.parts],
      };
    } else {
      joined.push(night);
    }
  }
  return joined;
}

function isOne(a: Night, b: Night, window: Window): boolean {
  if (b.fromMs - a.toMs >= GAP_MAX_MS || b.toMs - a.fromMs > DAY_MS) return false;
  const last = a.parts.at(-1) ?? a.parts[0];
  return [last, b.parts[0]].every((part) => !isAfternoon(hourOf(part, part.fromMs, window)));
}

function hourOf(record: SleepRecord, ms: number, { clockMs }: Window): number {
  return new Date(clockMs(record, ms)).getUTCHours();
}

function isAfternoon(hour: number): boolean {
  return hour >= NOON_HOUR && hour < EVENING_HOUR;
}

/** Short sleeps without a mark: by day, or soon after a main sleep. */
function withoutNaps(nights: readonly Night[], window: Window, left: Remainder): Night[] {
  const isShort = (night: Night) =>
    lengthMs(night) < MAIN_MIN_MS && !night.parts.some(({ isMain }) => isMain === true);
  return nights.filter((night) => {
    if (!isShort(night)) return true;
    const [first] = night.parts;
    if (isAfternoon(hourOf(first, first.fromMs, window))) {
      left.addNight(night, 'a short sleep of the afternoon is no night');
      return false;
    }
    const main = nights.find(
      (other) => !isShort(other) && other.toMs < night.toMs && night.toMs - other.toMs < SOON_MS,
    );
    if (main !== undefined) left.addNight(night, `a short sleep soon after ${main.parts[0].field.place}`);
    return main === undefined;
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
    left.addNight(night, `of the same date as ${first.night.parts[0].field.place}, which is longer`);
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
  if (left.all.every(({ why }) => why === 'ends after the moment to score'))
    return 'all that were sent end after the moment to score';
  const unmeasured = records.find(({ unusable = 'deleted' }) => unusable !== 'deleted');
  return unmeasured?.unusable ?? 'there are only naps and deleted ones';
}
