import { AdapterError } from './adapterError.js';
import { grouped, once, runsOf } from './ordered.js';
import { attempt, checkSpan, leftOf, type Left, type SleepRecord } from './records.js';
import type { Span } from './sleep.js';
import { DAY_MS, HOUR_MS } from './zone.js';

/** A night: one sleep, or several that are one. @internal */
export interface Night extends Span {
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
  /** The offset from UTC at a moment of a sleep, if it is known. */
  readonly eastMs: (record: SleepRecord, ms: number) => number | undefined;
}

/** Parts closer together than this belong to one night; */
const GAP_MAX_MS = 3 * HOUR_MS;
/** than this by any local clock: an export may be written in another zone than it was slept in. */
const GAP_ANYWHERE_MS = 1.5 * HOUR_MS;
/** A shorter piece that ended longer before the main one than this is a nap. */
const PIECE_MIN_MS = 1.5 * HOUR_MS;
const PIECE_BEFORE_MS = HOUR_MS;
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

/** The night; where its samples can't be read, a sound record of the same time. @internal */
export function chooseNight(records: readonly SleepRecord[], window: Window): Choice {
  const choice = chosen(records, window);
  const flaw = choice.night && sampleFlaw(choice.night);
  if (choice.night === undefined || flaw === undefined) return choice;
  const bad = new Set(choice.night.parts.map(({ field }) => field.place));
  const others = records.filter(({ field }) => !bad.has(field.place));
  const other = others.length === 0 ? choice : chosen(others, window);
  if (other.night === undefined || !isOneSleep(other.night, choice.night) || sampleFlaw(other.night))
    return choice;
  return { ...other, left: [...other.left, leftOf(flaw)] };
}

function sampleFlaw({ parts }: Night): AdapterError | undefined {
  const read = (): undefined => {
    for (const { heart, breath } of parts.map((part) => part.read()))
      for (const series of [heart, breath]) series?.readings();
  };
  return attempt<AdapterError | undefined>(read, (flaw) => flaw);
}

function chosen(records: readonly SleepRecord[], window: Window): Choice {
  const left = new Remainder();
  const { nights, broken } = nightsOf(records, window, left);
  const isRecent = ({ toMs }: Night) => ageMs(toMs, window) <= window.hours * HOUR_MS;
  const night = newest(nights.filter(isRecent), window, left);
  night?.parts[PARTS_MAX]?.field.fail(MANY_PARTS);
  if (night !== undefined)
    for (const older of nights) if (!isRecent(older)) left.addNight(older, 'an earlier night');
  for (const record of broken) {
    if (canBeNight(record, night, window)) throw record.flaw;
    left.add(record, record.flaw);
  }
  if (night !== undefined) tellProcessing(night, left);
  return { night, why: night === undefined ? whyNone(records, nights, window, left) : '', left: left.all };
}

/** Every night, the longest of each date of waking, in order. @internal */
export function everyNight(
  records: readonly SleepRecord[],
  window: Window,
): { readonly nights: readonly Night[]; readonly left: readonly Left[] } {
  const left = new Remainder(Infinity);
  const { nights, broken } = nightsOf(records, window, left);
  for (const record of broken) left.add(record, record.flaw);
  const longest = new Map<string, Night>();
  for (const night of nights.toSorted((a, b) => lengthMs(b) - lengthMs(a))) {
    const date = dateOf(night, window);
    if (longest.has(date)) left.addNight(night, 'of the same date as a longer night');
    else if (night.parts.length > PARTS_MAX) left.addNight(night, MANY_PARTS);
    else longest.set(date, night);
  }
  for (const night of longest.values()) tellProcessing(night, left);
  return { nights: [...longest.values()].toSorted((a, b) => a.toMs - b.toMs), left: left.all };
}

function tellProcessing({ parts }: Night, left: Remainder): void {
  const why = 'its provider is still processing it: it may change, ask again later';
  for (const part of parts) if (part.state === 'processing') left.add(part, why);
}

/** Whether a record that can't be read might be the night to score: not if it lies earlier, or began after the moment. */
function canBeNight(record: SleepRecord, night: Night | undefined, window: Window): boolean {
  const { fromMs, toMs, isPiece } = record;
  if (isPiece === true) return night === undefined;
  const known = [fromMs, toMs].filter((ms) => !isNaN(ms));
  if (known.length === 0) return true;
  const { atMs = night === undefined ? Infinity : night.toMs } = window;
  if (isNaN(toMs) ? fromMs > atMs : Math.max(...known) > (window.atMs ?? Infinity)) return false;
  if (night !== undefined && Math.max(...known) <= night.toMs) return false;
  return ageMs(isNaN(toMs) ? fromMs + DAY_MS : toMs, window) <= window.hours * HOUR_MS;
}

const MANY_PARTS = `is one of more than ${PARTS_MAX} pieces of a night`;

/** A night that may be compared with another of the same time. There may be tens of thousands. */
interface Joining extends Night {
  /** See `detailOf`; undefined until it is compared. */
  detail: number | undefined;
}

type Flawed = SleepRecord & { readonly flaw: AdapterError };

/** The nights, and the records that can be none. */
function nightsOf(
  records: readonly SleepRecord[],
  window: Window,
  left: Remainder,
): { readonly nights: readonly Night[]; readonly broken: readonly Flawed[] } {
  const sound: Joining[] = [];
  const broken: Flawed[] = [];
  for (const record of records) {
    const why = uncounted(record, window);
    const flaw = why === undefined ? flawOf(record) : undefined;
    if (why !== undefined) left.add(record, why);
    else if (flaw !== undefined) broken.push({ ...record, flaw });
    else sound.push(joining([{ ...record, read: once(record.read) }]));
  }
  const joined = [...grouped(sound, ({ parts }) => parts[0].source).values()].flatMap((ofSource) =>
    nightsOfParts(withoutDoubles(ofSource, left), window, left),
  );
  return { nights: withoutNaps(withoutDoubles(joined, left), window, left), broken };
}

/** Sleeps that are not used. Of many the first are named, the others counted. */
class Remainder {
  private readonly named: Left[] = [];
  private more = 0;
  /** Whether all of them end after the moment to score. */
  areAllLater = true;

  constructor(private readonly namedMax = NAMED_MAX) {}

  add({ field }: SleepRecord, why: string | AdapterError | (() => string)): void {
    this.areAllLater &&= why === LATER;
    if (this.named.length === this.namedMax) this.more++;
    else if (why instanceof AdapterError) this.named.push(leftOf(why));
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

function uncounted({ unusable, isNap, toMs }: SleepRecord, window: Window): string | undefined {
  if (unusable !== undefined) return unusable;
  if (isNap === true) return 'a nap';
  return ageMs(toMs, window) < 0 ? LATER : undefined;
}

/** Why a record can be no sleep. @internal */
export function flawOf({ field, flaw, fromMs, toMs }: SleepRecord): AdapterError | undefined {
  return flaw ?? attempt(() => checkSpan(field, fromMs, toMs), (impossible) => impossible); // prettier-ignore
}

function lengthMs({ fromMs, toMs }: Night): number {
  return toMs - fromMs;
}

/** Leaves the better one of overlapping sleeps: the same night, recorded or sent more than once. */
function withoutDoubles(nights: readonly Joining[], left: Remainder): Joining[] {
  const kept: Joining[] = [];
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

/** Whether they are versions of one sleep, or records of it by two devices: most of the longer is in both. */
function isOneSleep(a: Night, b: Night): boolean {
  const bothMs = Math.min(a.toMs, b.toMs) - Math.max(a.fromMs, b.fromMs);
  return bothMs * 2 >= Math.max(lengthMs(a), lengthMs(b));
}

/** Further records of one time are compared by their lengths alone. */
const READ_MAX = 32;

/** Why `a` is the better record of the same time; undefined if it is not. */
function betterBecause(a: Joining, b: Joining, isRead: boolean): string | undefined {
  // A scrap is no better record of a night than the whole of it.
  if (!isOneSleep(a, b)) return lengthMs(a) > lengthMs(b) ? 'is longer' : undefined;
  const [ofA, ofB] = isRead ? [(a.detail ??= detailOf(a)), (b.detail ??= detailOf(b))] : [1, 1];
  if ((ofA === 0) !== (ofB === 0)) return ofA > 0 ? 'can be read' : undefined;
  const [one, other] = [a.parts[0], b.parts[0]];
  if ((one.state === 'processing') !== (other.state === 'processing'))
    return other.state === 'processing' ? 'is more final' : undefined;
  // What two devices say of when they were changed says nothing of which is better.
  const isVersion =
    one.source === other.source && one.changedMs !== undefined && other.changedMs !== undefined;
  const newerMs = isVersion ? (one.changedMs ?? 0) - (other.changedMs ?? 0) : 0;
  if (newerMs !== 0) return newerMs > 0 ? 'was changed later' : undefined;
  const standing = standingOf(one) - standingOf(other);
  if (standing !== 0) return standing > 0 ? 'is more final' : undefined;
  if (ofA !== ofB) return ofA > ofB ? 'says more' : undefined;
  return lengthMs(a) > lengthMs(b) ? 'is longer' : undefined;
}

function standingOf({ state }: SleepRecord): number {
  return state === 'final' ? 1 : state === 'tentative' ? -1 : 0;
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

/** The nights of the sleeps of one source, which do not overlap. */
function nightsOfParts(sleeps: readonly Joining[], window: Window, left: Remainder): Joining[] {
  const runs = runsOf(sleeps.map(({ parts: [sleep] }) => sleep), (run, sleep) => isOne(run, sleep, window)); // prettier-ignore
  return runs.map((run) => joining(withoutEarlyNaps(run, left)));
}

function joining(parts: readonly [SleepRecord, ...SleepRecord[]]): Joining {
  return { fromMs: parts[0].fromMs, toMs: lastOf(parts).toMs, parts, detail: undefined };
}

function lastOf<Item>(items: readonly [Item, ...Item[]]): Item {
  return items.at(-1) ?? items[0];
}

/** Without the short pieces that ended long before the main one, on a sofa in the evening. */
function withoutEarlyNaps(parts: Night['parts'], left: Remainder): Night['parts'] {
  const pieces = runsOf(parts, (run, part) => part.fromMs - lastOf(run).toMs <= PIECE_BEFORE_MS).map(joining);
  const main = pieces.reduce((most, one) => (lengthMs(one) > lengthMs(most) ? one : most));
  const isNap = (piece: Night) =>
    piece.fromMs < main.fromMs && lengthMs(piece) < PIECE_MIN_MS && !piece.parts.some(({ isMain }) => isMain);
  for (const piece of pieces.filter(isNap))
    left.addNight(piece, () => `a nap before ${main.parts[0].field.place}`);
  const [first = parts[0], ...others] = pieces.flatMap((one) => (isNap(one) ? [] : one.parts));
  return [first, ...others];
}

function isOne(parts: Night['parts'], b: SleepRecord, window: Window): boolean {
  const last = lastOf(parts);
  if (b.fromMs - last.toMs >= GAP_MAX_MS || b.toMs - parts[0].fromMs > DAY_MS) return false;
  if (b.fromMs - last.toMs < GAP_ANYWHERE_MS) return true;
  return [last, b].every((part) => !isAfternoon(hourOf(part, window)));
}

function hourOf(record: SleepRecord, { eastMs }: Window): number {
  return Math.floor(((record.fromMs + (eastMs(record, record.fromMs) ?? 0)) % DAY_MS) / HOUR_MS);
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
      const why = isAfternoon(hourOf(first, window))
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
    .map((night) => ({ night, day: dayOf(night, window) }))
    .toSorted((a, b) => b.day - a.day || lengthMs(b.night) - lengthMs(a.night));
  const [first, ...others] = dated;
  if (first === undefined) return undefined;
  const isSame = () => `of the same date as ${first.night.parts[0].field.place}, which is longer`;
  for (const { night, day } of others) left.addNight(night, day === first.day ? isSame : 'an earlier night');
  return first.night;
}

/** The date of waking in days since 1970. */
function dayOf({ parts, toMs }: Night, { eastMs }: Window): number {
  return Math.floor((toMs + (eastMs(lastOf(parts), toMs) ?? 0)) / DAY_MS);
}

/** The date of waking, as `2026-11-21`. @internal */
export function dateOf(night: Night, window: Window): string {
  return new Date(dayOf(night, window) * DAY_MS).toISOString().slice(0, 10);
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
    const why = `ended ${hours} hours before the moment to score, and a night counts for ${window.hours}. Sync the device, or send newest_night_within_hours`;
    left.addNight(latest, why);
    return `the newest night ${why}`;
  }
  if (left.areAllLater) return 'all that were sent end after the moment to score';
  const unmeasured = records.find(({ unusable = 'deleted' }) => unusable !== 'deleted');
  return unmeasured?.unusable ?? 'there are only naps and deleted ones';
}
