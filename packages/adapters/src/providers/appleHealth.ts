import type { Stage } from '../sleep.js';
import { isReading } from '../unitChecks.js';
import { AdapterError, placeOf, type Path } from '../adapterError.js';
import { adapt, givenMoment, withinHours, type Adapted, type AdapterOptions } from '../adapt.js';
import { elementsOf, type HealthRecord } from './appleExport.js';
import { stretches } from '../durations.js';
import { Field, recordsOf } from '../field.js';
import { firstFrom } from '../firstFrom.js';
import { groupsOf, type Group, type Piece } from '../pieces.js';
import { Recent } from '../recent.js';
import type { SleepRecord } from '../records.js';

/**
 * Apple Health export: `export.xml` of the Health app; types and values as in
 * https://developer.apple.com/documentation/healthkit/hkcategoryvaluesleepanalysis, 2026-11-22. The format of the
 * file is not documented beyond the DTD at its beginning. The file holds the records of every app from all years and
 * can't be edited by its owner, so only records near the night are kept and checked.
 */
export interface AppleHealthInput extends AdapterOptions {
  /** The text of `export.xml`, in one piece or in several; read large ones in pieces. */
  readonly export?: string | Iterable<string>;
  /** Or the attributes of its `Record` elements as objects, which an app reads from HealthKit. */
  readonly records?: unknown;
}

/** @internal */
export const SLEEP = 'HKCategoryTypeIdentifierSleepAnalysis';
/** @internal */
export const HEART = 'HKQuantityTypeIdentifierHeartRate';
/** @internal */
export const BREATH = 'HKQuantityTypeIdentifierRespiratoryRate';
const TYPES: ReadonlySet<string> = new Set([SLEEP, HEART, BREATH]);
/** After `HKCategoryValueSleepAnalysis`, or HealthKit's number. "InBed" is no sleep, and overlaps the others. */
const VALUES: ReadonlyMap<string, Stage | 'asleep' | 'inBed'> = new Map([
  ['AsleepDeep', 'deep'],
  ['AsleepREM', 'rem'],
  ['AsleepCore', 'light'],
  ['Awake', 'awake'],
  ['Asleep', 'asleep'],
  ['AsleepUnspecified', 'asleep'],
  ['InBed', 'inBed'],
  ['0', 'inBed'],
  ['1', 'asleep'],
  ['2', 'awake'],
  ['3', 'light'],
  ['4', 'deep'],
  ['5', 'rem'],
]);
const PER_MINUTE: Readonly<Record<string, number>> = { 'count/min': 1, 'count/s': 60 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Without a moment to score: the types come one after the other, and the newest heartbeat may be later than the newest sleep. */
const SLEEP_DAYS = 4;
const SAMPLE_DAYS = 14;

/** @internal */
export interface Reading {
  readonly at: number;
  /** Per minute; NaN if the unit is unknown. */
  readonly value: number;
  /** The record to name then. */
  readonly field?: Field;
}

interface Unread {
  readonly day: number;
  readonly path: Path;
  readonly why: string;
}

/** The session of an export of the Health app, or of records that an app read. */
export function fromAppleHealth({ export: text, records, ...options }: AppleHealthInput): Adapted {
  const kept = new Kept(givenMoment(options), withinHours(options.newest_night_within_hours));
  const sent = new Field(records, 'records', options.zone);
  if (sent.isAbsent) readExport(kept, text, options.zone);
  else for (const record of recordsSent(sent)) kept.add(record);
  const unread = kept.unreadNear();
  try {
    const place = sent.isAbsent ? new Field(undefined, 'export') : sent.as(undefined);
    const adapted = adapt(
      options,
      sleepsOf(kept, place),
      [{ field: place.get(HEART), samples: kept.heart.items() }],
      [{ field: place.get(BREATH), samples: kept.breath.items() }],
    );
    return { ...adapted, left: [...adapted.left, ...unread.map(({ path, why }) => ({ what: placeOf(path), why }))] }; // prettier-ignore
  } catch (error) {
    // Where nothing else can be scored, what could not be read is why.
    const [first] = unread;
    if (first === undefined || !(error instanceof AdapterError) || error.field !== 'sleep') throw error;
    throw new AdapterError(first.path, first.why);
  }
}

function readExport(kept: Kept, sent: AppleHealthInput['export'], zone: string | undefined): void {
  const pieces = typeof sent === 'string' ? [sent] : sent;
  if (!(Symbol.iterator in Object(pieces)))
    new Field(sent, 'export').expected('the text of export.xml, with HealthData');
  for (const element of elementsOf(pieces as Iterable<string>, TYPES, zone)) {
    if ('exportedAt' in element) kept.exported(element.exportedAt);
    else kept.add(element);
  }
}

/** Unlike an export, a list can be mended by its sender: each record has a readable beginning. */
function recordsSent(sent: Field): HealthRecord[] {
  const what = `a list of records, as objects with type, startDate, endDate and value`;
  const all = recordsOf(sent, { isList: true, what }) ?? [];
  const known = all.filter((one) => TYPES.has(one.get('type').text() ?? ''));
  if (known.length === 0 && all.length > 0)
    sent.fail(`expected records of the types ${[...TYPES].join(', ')}`);
  for (const one of known) one.get('startDate').moment();
  return known.map((field) => ({
    type: field.get('type').text() ?? '',
    field,
    get: (name) => field.get(name),
  }));
}

/** Records near the moment to score, or else the newest. */
class Kept {
  readonly sleep: Recent<Piece>;
  readonly heart: Recent<Reading>;
  readonly breath: Recent<Reading>;
  private readonly unread: Recent<Unread>;
  private lastDay = Infinity;
  private readonly sources = new Map<string, string>();

  constructor(atMs: number | undefined, hours: number) {
    const around =
      atMs === undefined
        ? undefined
        : { fromDay: dayOf(atMs - hours * HOUR_MS - 2 * DAY_MS), toDay: dayOf(atMs + DAY_MS) };
    this.sleep = new Recent(around, SLEEP_DAYS);
    this.heart = new Recent(around, SAMPLE_DAYS);
    this.breath = new Recent(around, SAMPLE_DAYS);
    this.unread = new Recent(around, SLEEP_DAYS);
  }

  /** A wrong clock may have written records of future days. */
  exported(at: string): void {
    const day = dayAt(at);
    if (day !== undefined) this.lastDay = day + 1;
  }

  add(record: HealthRecord): void {
    const day = dayAt(record.get('startDate').text());
    if (day === undefined || day > this.lastDay) return;
    try {
      if (record.type === SLEEP) this.addSleep(day, record);
      else (record.type === HEART ? this.heart : this.breath).add(day, readingOf(record));
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error;
      this.leave(day, error.path, error.sentence);
    }
  }

  private addSleep(day: number, record: HealthRecord): void {
    const piece = pieceOf(record);
    if (piece !== undefined) this.sleep.add(day, { ...piece, source: this.sourceOf(record) });
  }

  private leave(day: number, path: Path, why: string): void {
    this.unread.add(day, { day, path, why });
  }

  /** Unreadable records of the days of the kept sleeps. */
  unreadNear(): Unread[] {
    return this.unread.items().filter(({ day }) => this.sleep.holds(day));
  }

  /** One copy of each name. */
  private sourceOf(record: HealthRecord): string {
    const source = record.get('sourceName').text() ?? '';
    const known = this.sources.get(source);
    if (known === undefined) this.sources.set(source, source);
    return known ?? source;
  }
}

/**
 * The record of a stage; undefined if it is of the time in bed.
 * @throws AdapterError if it can't be read
 * @internal
 */
export function pieceOf(record: HealthRecord): Piece | undefined {
  const { field } = record;
  const { value } = record.get('value');
  const stage = VALUES.get(String(value).replace('HKCategoryValueSleepAnalysis', ''));
  if (stage === undefined) return field.fail('has no value that is known');
  if (stage === 'inBed') return undefined;
  const until = record.get('endDate');
  const [from, to] = [record.get('startDate').moment(), until.moment()];
  if (to <= from) field.fail('ends before it begins');
  if (to - from > DAY_MS) field.fail('is longer than a day');
  return { field, stage, from, to, eastMs: until.eastMs(), source: record.get('sourceName').text() ?? '' };
}

/** Days since 1970 of a moment, or of the date that a time begins with. */
function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

function dayAt(text: string | undefined): number | undefined {
  const ms = Date.parse((text ?? '').slice(0, 10));
  return Number.isNaN(ms) ? undefined : dayOf(ms);
}

/** @internal */
export function readingOf(record: HealthRecord): Reading {
  const at = record.get('startDate').moment();
  const factor = record.get('unit').named(PER_MINUTE);
  if (factor === undefined) return { at, value: NaN, field: record.field };
  const value = Number(record.get('value').value);
  return { at, value: isReading(value) ? value * factor : 0 };
}

function sleepsOf(kept: Kept, place: Field): SleepRecord[] {
  const strange = [...kept.heart.items(), ...kept.breath.items()]
    .filter(({ field }) => field !== undefined)
    .toSorted((a, b) => a.at - b.at);
  return sleepsOfPieces(kept.sleep.items()).map((record) => {
    const read = () => {
      refuseWithin(strange, record);
      const isOld = kept.heart.lacks(dayOf(record.fromMs)) || kept.breath.lacks(dayOf(record.fromMs));
      const details = record.read();
      return isOld ? { ...details, left: [...(details.left ?? []), { what: place.place, why: OLD }] } : details; // prettier-ignore
    };
    return { ...record, read };
  });
}

/** @internal */
export function sleepsOfPieces(pieces: readonly Piece[]): SleepRecord[] {
  return groupsOf(pieces).map(({ span, stretches: group, first: { field }, last }) => {
    const read = () => stretches(field, span, group);
    return { field, ...span, eastMs: last.eastMs, source: last.source, read };
  });
}

const OLD = 'samples go on for weeks after the newest sleep: give its morning as the moment to score';

/**
 * @param strange  samples of an unknown unit, oldest first
 * @throws AdapterError if one of them is of the night
 */
function refuseWithin(strange: readonly Reading[], { fromMs, toMs }: Group['span']): void {
  const first = strange[firstFrom(fromMs, strange, ({ at }) => at)];
  if (first !== undefined && first.at <= toMs)
    first.field?.as(undefined).get('unit').fail('expected count/min');
}
