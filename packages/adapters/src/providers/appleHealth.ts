import type { Kind } from '../sleep.js';
import { isReading } from '../unitChecks.js';
import { adapter, givenMoment, withinHours, type AdapterOptions } from '../adapt.js';
import { listOf, type Field, type Sent } from '../field.js';
import type { AdapterError } from '../adapterError.js';
import { pieceRecords, type SentPiece } from '../pieces.js';
import { leftOf, readEach, type Left, type Records } from '../records.js';
import { byDevice, Series, type Reading } from '../series.js';
import { DAY_MS, HOUR_MS } from '../zone.js';

/**
 * Apple Health: what an app reads from HealthKit, in the names of the export of the Health app; types and values as in
 * https://developer.apple.com/documentation/healthkit/hkcategoryvaluesleepanalysis, 2026-11-22.
 */
export interface AppleHealthInput extends AdapterOptions {
  /** The attributes of the export's `Record` elements as objects. */
  readonly records?: unknown;
  /** The file of all years is for `acuity adapt`: here it is refused. */
  readonly export?: never;
}

/** @internal */
export const SLEEP = 'HKCategoryTypeIdentifierSleepAnalysis';
/** @internal */
export const HEART = 'HKQuantityTypeIdentifierHeartRate';
/** @internal */
export const BREATH = 'HKQuantityTypeIdentifierRespiratoryRate';
const TYPES: ReadonlySet<string> = new Set([SLEEP, HEART, BREATH]);
/** After `HKCategoryValueSleepAnalysis`, or HealthKit's number. "InBed" is no sleep, and overlaps the others. */
const VALUES: ReadonlyMap<string, Kind | 'inBed'> = new Map([
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
/** A night that counts did not begin longer before; an earlier one is told. */
const NIGHTS_MS = 3 * DAY_MS;
const EXPORT =
  'an export.xml is not read here: make requests of it by `acuity adapt apple_health export.xml`, or send the attributes of its Record elements as objects in records';

/** The session of records that an app read. */
export const fromAppleHealth = /* @__PURE__ */ adapter('apple_health', ['records'], recordsIn);

function recordsIn(sent: Sent<AppleHealthInput>): Records {
  const [list, whole] = [sent('records'), sent('export')];
  if (list.isText || !whole.isAbsent) (list.isText ? list : whole).fail(EXPORT);
  const records = recent(recordsSent(list), sent.options);
  const ofType = (type: string) => records.filter((record) => typeOf(record) === type);
  const place = list.as(undefined);
  const left: Left[] = [];
  const samples = (type: string) => {
    const tell = (flaw: AdapterError) => void left.push(leftOf(flaw));
    return [...byDevice(list, ofType(type), sourceOf)].map(([source, own]) => {
      const found = readEach<Reading | undefined>(own, readingOf, tell).filter((one) => one !== undefined);
      return new Series(place.get(type), () => found, source);
    });
  };
  return {
    sleeps: list.isAbsent ? undefined : pieceRecords(ofType(SLEEP), stageOf),
    heart: samples(HEART),
    breath: samples(BREATH),
    left,
  };
}

function typeOf(record: Field): string | undefined {
  return record.get('type').text();
}

function recordsSent(sent: Field): Field[] {
  const all = listOf(sent, 'records, as objects with type, startDate, endDate and value') ?? [];
  const known = all.filter((one) => TYPES.has(typeOf(one) ?? ''));
  if (known.length === 0 && all.length > 0)
    sent.fail(`expected records of the types ${[...TYPES].join(', ')}`);
  return known;
}

/** Faults of years ago can't be mended, and are not told: only those near `at`, or else near the newest sleep. */
function recent(records: readonly Field[], options: AdapterOptions): Field[] {
  const begun = records.map((record) => ({ record, ms: record.get('startDate').moment() }));
  const sleeps = begun.filter(({ record }) => typeOf(record) === SLEEP);
  const untilMs = givenMoment(options) ?? sleeps.reduce((last, { ms }) => Math.max(last, ms), 0);
  const fromMs = untilMs - withinHours(options.newest_night_within_hours) * HOUR_MS - NIGHTS_MS;
  return begun.filter(({ ms }) => ms >= fromMs).map(({ record }) => record);
}

/**
 * The record of a stage; none if it is of the time in bed.
 * @throws AdapterError if it can't be read
 * @internal
 */
export function stageOf(field: Field): SentPiece | undefined {
  const stage = VALUES.get(
    (field.get('value').textOrNumber() ?? '').replace('HKCategoryValueSleepAnalysis', ''),
  );
  if (stage === undefined) return field.fail('has no value that is known');
  if (stage === 'inBed') return undefined;
  return {
    stage,
    from: field.get('startDate'),
    to: field.get('endDate'),
    source: sourceOf(field),
  };
}

/** The device or app that wrote a record. @internal */
export function sourceOf(record: Field): string | undefined {
  return record.get('sourceName').text();
}

/** @throws AdapterError as above @internal */
export function readingOf(record: Field): Reading {
  const unit = record.get('unit');
  const factor = unit.named(PER_MINUTE) ?? unit.fail('expected count/min');
  const value = Number(record.get('value').textOrNumber());
  return { at: record.get('startDate').moment(), value: isReading(value) ? value * factor : 0 };
}
