import type { Span, Stage } from '../sleep.js';
import { isReading } from '../unitChecks.js';
import { AdapterError } from '../adapterError.js';
import { adapter, givenMoment, withinHours, type AdapterOptions } from '../adapt.js';
import { fieldsOf, recordsOf, spanOf, type Field } from '../field.js';
import { firstFrom } from '../ordered.js';
import { sleepsOfPieces, type Piece } from '../pieces.js';
import type { Records, SleepRecord } from '../records.js';
import { Series, type Reading } from '../series.js';

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
/** A night that counts did not begin longer before; an earlier one is told. */
const NIGHTS_MS = 3 * DAY_MS;
const EXPORT =
  'an export.xml is not read here: make requests of it by `acuity adapt apple_health export.xml`, or send the attributes of its Record elements as objects in records';

/** Per minute; NaN if the unit is unknown. @internal */
export interface HealthReading extends Reading {
  /** The record to name then. */
  readonly field?: Field;
}

/** The session of records that an app read. */
export const fromAppleHealth = /* @__PURE__ */ adapter('apple_health', ['records'], recordsIn);

function recordsIn(input: AppleHealthInput): Records {
  const [sent, whole] = [fieldsOf(input)('records'), fieldsOf(input)('export')];
  if (!whole.isAbsent) whole.fail(EXPORT);
  if (sent.isText) sent.fail(EXPORT);
  const { pieces, heart, breath, unread } = readOf(recent(recordsSent(sent), input));
  const place = sent.as(undefined);
  return {
    sleeps: sent.isAbsent ? undefined : sleepsOf(pieces, [...heart, ...breath]),
    heart: [new Series(place.get(HEART), () => heart)],
    breath: [new Series(place.get(BREATH), () => breath)],
    unread,
  };
}

function recordsSent(sent: Field): Field[] {
  const what = `a list of records, as objects with type, startDate, endDate and value`;
  const all = recordsOf(sent, { isList: true, what }) ?? [];
  const known = all.filter((one) => TYPES.has(one.get('type').text() ?? ''));
  if (known.length === 0 && all.length > 0)
    sent.fail(`expected records of the types ${[...TYPES].join(', ')}`);
  return known;
}

/** What is wrong with the records of years ago can't be mended, and is not told: those near `at`, or else the newest sleep. */
function recent(records: readonly Field[], options: AdapterOptions): Field[] {
  const begun = records.map((record) => ({ record, ms: record.get('startDate').moment() }));
  const sleeps = begun.filter(({ record }) => record.get('type').text() === SLEEP);
  const untilMs = givenMoment(options) ?? sleeps.reduce((last, { ms }) => Math.max(last, ms), 0);
  const fromMs = untilMs - withinHours(options.newest_night_within_hours) * HOUR_MS - NIGHTS_MS;
  return begun.filter(({ ms }) => ms >= fromMs).map(({ record }) => record);
}

function readOf(records: readonly Field[]) {
  const pieces: Piece[] = [];
  const heart: HealthReading[] = [];
  const breath: HealthReading[] = [];
  const unread: AdapterError[] = [];
  for (const record of records) {
    const type = record.get('type').text();
    try {
      if (type === SLEEP) pieces.push(...pieceOf(record));
      else (type === HEART ? heart : breath).push(readingOf(record));
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error;
      unread.push(error);
    }
  }
  return { pieces, heart, breath, unread };
}

/**
 * The record of a stage; none if it is of the time in bed.
 * @throws AdapterError if it can't be read
 * @internal
 */
export function pieceOf(field: Field): Piece[] {
  const stage = VALUES.get(
    (field.get('value').textOrNumber() ?? '').replace('HKCategoryValueSleepAnalysis', ''),
  );
  if (stage === undefined) return field.fail('has no value that is known');
  if (stage === 'inBed') return [];
  const { fromMs: from, toMs: to, eastMs } = spanOf(field.get('startDate'), field.get('endDate'));
  if (to <= from) field.fail('ends before it begins');
  if (to - from > DAY_MS) field.fail('is longer than a day');
  return [{ field, stage, from, to, eastMs, source: field.get('sourceName').text() ?? '' }];
}

/** @internal */
export function readingOf(record: Field): HealthReading {
  const at = record.get('startDate').moment();
  const factor = record.get('unit').named(PER_MINUTE);
  if (factor === undefined) return { at, value: NaN, field: record };
  const value = Number(record.get('value').textOrNumber());
  return { at, value: isReading(value) ? value * factor : 0 };
}

function sleepsOf(pieces: readonly Piece[], readings: readonly HealthReading[]): SleepRecord[] {
  const strange = readings.filter(({ field }) => field !== undefined).toSorted((a, b) => a.at - b.at);
  return sleepsOfPieces(pieces).map((record) => {
    const read = () => {
      refuseWithin(strange, record);
      return record.read();
    };
    return { ...record, read };
  });
}

/**
 * @param strange  samples of an unknown unit, oldest first
 * @throws AdapterError if one of them is of the night
 */
function refuseWithin(strange: readonly HealthReading[], { fromMs, toMs }: Span): void {
  const first = strange[firstFrom(fromMs, strange, ({ at }) => at)];
  if (first !== undefined && first.at <= toMs) first.field?.get('unit').fail('expected count/min');
}
