import type { Stage } from '../sleep.js';
import { isReading } from '../unitChecks.js';
import { AdapterError } from './adapterError.js';
import { adapt, givenMoment, withinHours, type Adapted, type AdapterOptions } from './adapt.js';
import { elementsOf, type ExportRecord } from './appleExport.js';
import { stretches } from './durations.js';
import { Field } from './field.js';
import { bySource, groupsOf, piecesWithin, type Group, type Piece } from './pieces.js';
import { Recent } from './recent.js';
import type { Left, Series, SleepRecord } from './records.js';

/**
 * Apple Health export: `export.xml` of the Health app; types and values as in
 * https://developer.apple.com/documentation/healthkit/hkcategoryvaluesleepanalysis, 2026-11-22. The format of the
 * file is not documented beyond the DTD at its beginning. The file holds the records of every app from all years and
 * can't be edited by its owner, so only records near the night are kept and checked.
 */
export interface AppleHealthInput extends AdapterOptions {
  /** The text of `export.xml`, in one piece or in several; read large ones in pieces. */
  readonly export: string | Iterable<string>;
}

const SLEEP = 'HKCategoryTypeIdentifierSleepAnalysis';
const HEART = 'HKQuantityTypeIdentifierHeartRate';
const BREATH = 'HKQuantityTypeIdentifierRespiratoryRate';
const TYPES: ReadonlySet<string> = new Set([SLEEP, HEART, BREATH]);
/** After `HKCategoryValueSleepAnalysis`. "InBed" is no sleep, and overlaps the others. */
const VALUES: Readonly<Record<string, Stage | 'asleep'>> = {
  AsleepDeep: 'deep',
  AsleepREM: 'rem',
  AsleepCore: 'light',
  Awake: 'awake',
  Asleep: 'asleep',
  AsleepUnspecified: 'asleep',
};
const PER_MINUTE: Readonly<Record<string, number>> = { 'count/min': 1, 'count/s': 60 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Without a moment to score: the types come one after the other, and the newest heartbeat may be later than the newest sleep. */
const SLEEP_DAYS = 4;
const SAMPLE_DAYS = 14;

interface Reading {
  readonly at: number;
  /** Per minute; NaN if the unit is unknown. */
  readonly value: number;
  /** The record to name then. */
  readonly path?: string;
}

interface Unread {
  readonly day: number;
  readonly left: Left;
}

/** The session of an export of the Health app. */
export function fromAppleHealth({ export: sent, ...options }: AppleHealthInput): Adapted {
  const kept = new Kept(givenMoment(options), withinHours(options.newestNightWithinHours), options.zone);
  const isObject = typeof sent !== 'string' && !(Symbol.iterator in Object(sent));
  if (isObject) new Field(sent, 'export').expected('the text of export.xml, with HealthData');
  for (const element of elementsOf(typeof sent === 'string' ? [sent] : sent, TYPES)) {
    if ('exportedAt' in element) kept.exported(element.exportedAt);
    else kept.add(element);
  }
  const unread = kept.unreadNear();
  try {
    const heart = seriesOf(HEART, kept.heart.items());
    const adapted = adapt(options, sleepsOf(kept), heart, seriesOf(BREATH, kept.breath.items()));
    return { ...adapted, left: [...adapted.left, ...unread] };
  } catch (error) {
    // Where nothing else can be scored, what could not be read is why.
    const [first] = unread;
    if (first === undefined || !(error instanceof AdapterError) || error.field !== 'sleep') throw error;
    throw new AdapterError(first.what, first.why);
  }
}

/** Records near the moment to score, or else the newest. */
class Kept {
  readonly sleep: Recent<Piece>;
  readonly heart: Recent<Reading>;
  readonly breath: Recent<Reading>;
  private readonly unread: Recent<Unread>;
  private lastDay = Infinity;
  private readonly sources = new Map<string, string>();

  constructor(
    atMs: number | undefined,
    hours: number,
    private readonly zone: string | undefined,
  ) {
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

  add(record: ExportRecord): void {
    const day = dayAt(record.attribute('startDate'));
    if (day === undefined || day > this.lastDay) return;
    try {
      if (record.type === SLEEP) this.addSleep(day, record);
      else (record.type === HEART ? this.heart : this.breath).add(day, readingOf(record, this.zone));
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error;
      this.leave(day, error.field, error.message.slice(error.field.length + 2));
    }
  }

  private addSleep(day: number, record: ExportRecord): void {
    const { path } = record;
    const value = record.attribute('value')?.replace('HKCategoryValueSleepAnalysis', '');
    const stage = VALUES[value ?? ''];
    if (stage === undefined) return;
    const until = fieldOf(record, 'endDate', this.zone);
    const [from, to] = [fieldOf(record, 'startDate', this.zone).moment(), until.moment()];
    if (to <= from) this.leave(day, path, 'ends before it begins');
    else if (to - from > DAY_MS) this.leave(day, path, 'is longer than a day');
    else
      this.sleep.add(day, { path, stage, from, to, eastMs: until.eastMs(), source: this.sourceOf(record) });
  }

  private leave(day: number, what: string, why: string): void {
    this.unread.add(day, { day, left: { what, why } });
  }

  /** Unreadable records of the days of the kept sleeps. */
  unreadNear(): Left[] {
    return this.unread.items().flatMap(({ day, left }) => (this.sleep.holds(day) ? [left] : []));
  }

  /** One copy of each name. */
  private sourceOf(record: ExportRecord): string {
    const source = record.attribute('sourceName') ?? '';
    const known = this.sources.get(source);
    if (known === undefined) this.sources.set(source, source);
    return known ?? source;
  }
}

function fieldOf(record: ExportRecord, name: string, zone: string | undefined): Field {
  return new Field(record.attribute(name), `${record.path}.${name}`, zone);
}

/** Days since 1970 of a moment, or of the date that a time begins with. */
function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

function dayAt(text: string | undefined): number | undefined {
  const ms = Date.parse((text ?? '').slice(0, 10));
  return Number.isNaN(ms) ? undefined : dayOf(ms);
}

function readingOf(record: ExportRecord, zone: string | undefined): Reading {
  const at = fieldOf(record, 'startDate', zone).moment();
  const factor = PER_MINUTE[record.attribute('unit') ?? ''];
  if (factor === undefined) return { at, value: NaN, path: record.path };
  const value = Number(record.attribute('value'));
  return { at, value: isReading(value) ? value * factor : 0 };
}

/** The records of devices overlap: the intervals of each are joined separately. */
function sleepsOf(kept: Kept): SleepRecord[] {
  return bySource(kept.sleep.items()).flatMap((pieces) =>
    groupsOf(pieces).map((group) => sleepOf(kept, pieces, group)),
  );
}

function sleepOf(kept: Kept, pieces: readonly Piece[], group: Group): SleepRecord {
  const span = { fromMs: group[0].from, toMs: (group.at(-1) ?? group[0]).to };
  const { first, last } = piecesWithin(pieces, span);
  const field = new Field(undefined, first?.path ?? 'export');
  const read = () => {
    for (const signal of [kept.heart, kept.breath]) checkUnits(signal.items(), span.fromMs, span.toMs);
    const isOld = kept.heart.lacks(dayOf(span.fromMs)) || kept.breath.lacks(dayOf(span.fromMs));
    const details = stretches(field, span, group);
    return isOld ? { ...details, left: [...(details.left ?? []), { what: 'export', why: OLD }] } : details;
  };
  return { field, ...span, eastMs: last?.eastMs, source: last?.source, read };
}

const OLD = 'samples go on for weeks after the newest sleep: give its morning as the moment to score';

/** @throws AdapterError if a sample of the night has an unknown unit */
function checkUnits(readings: readonly Reading[], fromMs: number, toMs: number): void {
  const strange = readings.find(({ at, path }) => path !== undefined && at >= fromMs && at <= toMs);
  if (strange !== undefined) throw new AdapterError(`${strange.path}.unit`, 'expected count/min');
}

function seriesOf(type: string, samples: readonly Reading[]): Series[] {
  return [{ field: new Field(undefined, `export.${type}`), samples }];
}
