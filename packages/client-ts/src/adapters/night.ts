import { momentMs, type Moment } from '#rules/moment.js';
import { NIGHT_AGE_HOURS_MAX, NIGHT_HOURS_MAX } from '#rules/night.js';
import type { Signal } from '#rules/plausible.js';
import type { Session } from '../contract.js';
import type { Person } from '../person.js';
import { SessionBuilder, type Sample } from '../sessionBuilder.js';
import { measureStages, type Stage, type StageDurations, type StageInterval } from '../sleep.js';
import { checkUnit, isReading, UnitError } from '../unitChecks.js';
import { AdapterError, type Field } from './field.js';

/** What every adapter takes beside what the provider sent. */
export interface AdapterOptions {
  /** The moment to score; without it the end of the night. */
  readonly at?: Moment;
  readonly person?: Person;
  /** Of times that have none: an offset ("+01:00") or a name ("Europe/Berlin"). */
  readonly zone?: string;
}

/** A session, and the moment that it is of: both are what `History.score` takes. */
export interface Adapted {
  /** ISO 8601 with Z. */
  readonly at: string;
  readonly session: Session;
}

/** Samples of one signal, and the field to name where they can't be right. @internal */
export interface Series {
  readonly field: Field;
  readonly samples: readonly Sample[];
}

/** What a provider says of one sleep. @internal */
export interface SleepDetails {
  readonly stages?: StageDurations;
  /** Time asleep, without the time awake in between: where the stages are not known. */
  readonly asleepS?: number | undefined;
  readonly heart?: Series;
  readonly breath?: Series;
  /** Averages of the night, where the provider has no series: each is the one sample. */
  readonly heartAverage?: Field;
  readonly breathAverage?: Field;
}

/** A sleep among those that a provider sent; only the one that counts is read further. @internal */
export interface SleepRecord {
  readonly field: Field;
  readonly fromMs: number;
  readonly toMs: number;
  readonly isNap: boolean;
  readonly isDeleted?: boolean;
  readonly read: () => SleepDetails;
}

const HOUR_MS = 3_600_000;
const NIGHT_AGE_MAX_MS = NIGHT_AGE_HOURS_MAX * HOUR_MS;
const SLEEP_MAX_MS = NIGHT_HOURS_MAX * HOUR_MS;
/** Sleeps that end this close to each other are of one day: the longest is the night, the others naps. */
const DAY_OF_SLEEP_MS = 16 * HOUR_MS;

/**
 * The session of what a provider sent.
 * @param sleeps  every sleep it sent; undefined where it was not asked
 * @param heart  samples beside those of the sleep: the hour's, and the night's where the sleep has none
 * @internal
 */
export function adapt(
  options: AdapterOptions,
  sleeps: readonly SleepRecord[] | undefined,
  heart: readonly Series[] = [],
  breath: readonly Series[] = [],
): Adapted {
  const givenMs = options.at === undefined ? undefined : momentMs(options.at, 'at');
  const main = sleeps === undefined ? undefined : mainSleep(sleeps, givenMs);
  const atMs = givenMs ?? main?.toMs;
  if (atMs === undefined)
    throw new AdapterError('at', 'is missing, and there is no sleep whose end it could be');
  const details = main?.read() ?? {};
  const hour = { fromMs: Math.max(atMs - HOUR_MS, main === undefined ? 0 : main.toMs + 1), toMs: atMs };
  const hearts = new Pieces('heart rate', hour, main, heart, details.heart);
  const breaths = new Pieces('respiratory rate', hour, main, breath, details.breath);

  const {
    HR_night: _heart,
    RR_night: _breath,
    ...day
  } = new SessionBuilder(atMs)
    .person(options.person ?? {})
    .heartRate(hearts.hour)
    .respiratoryRate(breaths.hour)
    .build();
  const night = new SessionBuilder(atMs);
  if (main !== undefined) {
    night.night(main.fromMs, main.toMs).heartRate(hearts.night).respiratoryRate(breaths.night);
    main.field.located(() => night.sleepSeconds(details.stages ?? {}));
  }
  const ofNight = main === undefined ? night.build() : main.field.located(() => night.build());
  const session: Session = { ...ofNight, ...day };
  if (session.sleepTimeSeconds === undefined && details.asleepS !== undefined)
    session.sleepTimeSeconds = Math.round(details.asleepS);
  if (session.HR_night?.length === 0) session.HR_night = average(details.heartAverage, 25, 150, 'beats');
  if (session.RR_night?.length === 0) session.RR_night = average(details.breathAverage, 3, 40, 'breaths');
  return { at: new Date(atMs).toISOString(), session };
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** One signal, cut into the hour before and the night; each piece is checked by itself. */
class Pieces {
  readonly hour: readonly Sample[];
  readonly night: readonly Sample[];

  constructor(signal: Signal, hour: Span, main: Span | undefined, series: readonly Series[], own?: Series) {
    this.hour = series.flatMap((one) => within(hour, one, signal));
    const ofSleep = own === undefined || main === undefined ? [] : within(main, own, signal);
    const others = main === undefined ? [] : series.flatMap((one) => within(main, one, signal));
    this.night = ofSleep.length > 0 ? ofSleep : others;
  }
}

function within({ fromMs, toMs }: Span, { field, samples }: Series, signal: Signal): Sample[] {
  const found = samples.filter(({ at, value }) => {
    const ms = Number(at);
    return ms >= fromMs && ms <= toMs && isReading(value);
  });
  field.located(() =>
    checkUnit(
      signal,
      found.map(({ value }) => value ?? NaN),
    ),
  );
  return found;
}

/** The night: of the sleeps of the latest day the longest that is no nap. */
function mainSleep(sleeps: readonly SleepRecord[], atMs: number | undefined): SleepRecord {
  const kept = sleeps.filter(({ isNap, isDeleted }) => !isNap && isDeleted !== true);
  for (const { field, fromMs, toMs } of kept) {
    if (toMs <= fromMs) field.fail('ends before it begins');
    if (toMs - fromMs > SLEEP_MAX_MS) field.fail('is longer than a day');
  }
  const past = kept.filter(
    ({ toMs }) => atMs === undefined || (toMs <= atMs && atMs - toMs <= NIGHT_AGE_MAX_MS),
  );
  const lastMs = Math.max(...past.map(({ toMs }) => toMs));
  const [longest] = past
    .filter(({ toMs }) => lastMs - toMs < DAY_OF_SLEEP_MS)
    .toSorted((a, b) => b.toMs - b.fromMs - (a.toMs - a.fromMs) || b.toMs - a.toMs);
  if (longest !== undefined) return longest;
  const why =
    sleeps.length === 0
      ? 'there is none'
      : kept.length === 0
        ? 'there are only naps and deleted ones'
        : 'none is of the night before the moment to score';
  throw new AdapterError('sleep', `no night to score: ${why}`);
}

const UNIT_S = { milliseconds: 0.001, seconds: 1, minutes: 60 } as const;

/**
 * Seconds of the stages that are there. All three stages of sleep at zero are what devices without stages give.
 * @param field  what to name where the stages can't be those of a sleep from `fromMs` to `toMs`
 * @throws UnitError where they add up to far more or far less than the sleep is long
 * @internal
 */
export function durations(
  field: Field,
  { fromMs, toMs }: Span,
  unit: keyof typeof UNIT_S,
  given: { readonly [S in Stage | 'asleep']?: number | undefined },
): Pick<SleepDetails, 'stages' | 'asleepS'> {
  const seconds = (value: number | undefined) => (value === undefined ? undefined : value * UNIT_S[unit]);
  if (Object.values(given).some((value) => value !== undefined && value < 0))
    field.fail('a duration is negative');
  const [deep, rem, light, awake] = [given.deep, given.rem, given.light, given.awake].map(seconds);
  const sum = (deep ?? 0) + (rem ?? 0) + (light ?? 0);
  const asleepS = seconds(given.asleep);
  const hasStages = sum > 0 || asleepS === undefined || asleepS === 0;
  const sleepS = Math.max(sum, asleepS ?? 0);
  const spanS = (toMs - fromMs) / 1000;
  const far = distance(sleepS, awake ?? 0, spanS);
  if (far !== undefined)
    throw new UnitError(`${field.path}: expected ${unit}; they add up to far ${far} than the sleep is long`);
  return {
    stages: {
      ...(hasStages && deep !== undefined && { deep }),
      ...(hasStages && rem !== undefined && { rem }),
      ...(hasStages && light !== undefined && { light }),
      ...(awake !== undefined && { awake }),
    },
    asleepS,
  };
}

/** Whether sleep and time awake can't be those of so long a sleep. Somebody may well lie awake nearly all night. */
function distance(sleepS: number, awakeS: number, spanS: number): 'more' | 'less' | undefined {
  const fits = (seconds: number) => seconds <= spanS * 1.05 + 120;
  if (!fits(sleepS + awakeS)) return 'more';
  const isMinutesBesideSeconds = sleepS * 60 > spanS / 2 && fits(sleepS * 60 + awakeS);
  const isShort = sleepS + awakeS > 0 && sleepS + awakeS < spanS / 30;
  return isShort || (isMinutesBesideSeconds && sleepS < spanS / 30) ? 'less' : undefined;
}

/** Seconds of stages of stretches; `asleep` is sleep of no known stage: there are no stages then, only the sum. @internal */
export function stretches(
  field: Field,
  span: Span,
  intervals: readonly (Omit<StageInterval, 'stage'> & { stage: Stage | 'asleep' | undefined })[],
): Pick<SleepDetails, 'stages' | 'asleepS'> {
  const known = intervals.filter(({ stage }) => stage !== undefined);
  if (known.length === 0) return {};
  const isStaged = known.every(({ stage }) => stage !== 'asleep');
  const named = known.map((one) => ({ ...one, stage: STAGED[one.stage ?? 'asleep'] }));
  const { deep = 0, rem = 0, light = 0, awake = 0 } = field.located(() => measureStages(named).seconds);
  const given = isStaged ? { deep, rem, light, awake } : { asleep: deep + rem + light, awake };
  return durations(field, span, 'seconds', given);
}

const STAGED = { deep: 'deep', rem: 'rem', light: 'light', awake: 'awake', asleep: 'light' } as const;

/** Samples of a list of objects; those without a time or a value are left out. @internal */
export function series(
  field: Field,
  items: readonly Field[],
  atMs: (item: Field) => number,
  value: (item: Field) => number | undefined,
): Series {
  const samples = items.flatMap((item) => {
    const number = item.isAbsent ? undefined : value(item);
    return number === undefined ? [] : [{ at: atMs(item), value: number }];
  });
  return { field, samples };
}

function average(field: Field | undefined, min: number, max: number, what: string): number[] {
  const value = field?.quotedNumber();
  if (field === undefined || value === undefined || !isReading(value)) return [];
  if (value >= min && value <= max) return [value];
  throw new UnitError(`${field.path}: expected ${what} per minute on average, ${min} to ${max}`);
}
