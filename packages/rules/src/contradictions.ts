import type { NumberField } from './fields.js';
import { BREATHING } from './plausible.js';
import { areFractions, normalise, Sleep } from './sleep.js';

/** The numbers of a session; sleep is what is looked at. */
type GivenNumbers = { readonly [Field in NumberField]?: number | null | undefined };

/**
 * What can't be true of one session at once, and most likely comes from a mistaken unit: scored, it would give
 * wrong scores without a word. The service refuses it, the clients before it is sent. (`assembly/doubts.ts` has these
 * bounds: the parser must not say yes to any of these.)
 */
export interface Contradiction {
  /** The field that most likely is wrong. */
  readonly field: NumberField;
  /** Names the likely cause, never a value. */
  readonly msg: string;
}

export const STAGES = ['deepSleepSeconds', 'remSleepSeconds', 'lightSleepSeconds'] as const;
export const SHARES = ['deepPercentage', 'remPercentage', 'lightPercentage'] as const;

/** What the sleep fields of a session say against each other, in the order of its fields. */
export function sleepContradictions(given: GivenNumbers): Contradiction[] {
  const found = isInMinutesBesideSeconds(given) ? MINUTES_BESIDE_SECONDS : allInMinutes(given);
  return [found, tooLargeShares(given)].filter((contradiction) => contradiction !== undefined);
}

export const MINUTES_BESIDE_SECONDS: Contradiction = {
  field: 'deepSleepSeconds',
  msg: 'Expected seconds; deepSleepSeconds, remSleepSeconds and lightSleepSeconds look like minutes beside sleepTimeSeconds',
};

/**
 * Stages in minutes beside a sleep time in seconds: a time with awake time in it is up to a third longer than its
 * stages (60 / 0.75 seconds for a minute), rounding makes it up to a tenth shorter (60 / 1.1, a fraction). In whole
 * numbers: nothing is rounded.
 */
export const SECONDS_FOR_A_MINUTE_MAX = 80;
export const SECONDS_FOR_MINUTES_MIN = { seconds: 600, minutes: 11 } as const;

function isInMinutesBesideSeconds({ sleepTimeSeconds, ...given }: GivenNumbers): boolean {
  const { deepSleepSeconds: deep, remSleepSeconds: rem, lightSleepSeconds: light } = given;
  if (!isGiven(sleepTimeSeconds) || !isGiven(deep) || !isGiven(rem) || !isGiven(light)) return false;
  const stages = deep + rem + light;
  const { seconds, minutes } = SECONDS_FOR_MINUTES_MIN;
  const isNotTooLong = SECONDS_FOR_A_MINUTE_MAX * stages >= sleepTimeSeconds;
  return stages > 0 && isNotTooLong && seconds * stages <= minutes * sleepTimeSeconds;
}

/** Nights of two to twelve hours, in minutes. */
export const MINUTES_MIN = 120;
export const MINUTES_MAX = 720;
/** Less of a stage is none of it, but for rounding. */
export const STAGE_S_MIN = 0.5;

export const ALL_IN_MINUTES_MESSAGE =
  'Expected seconds; so little sleep with both deep and REM sleep in it looks like minutes';

/** No night has both deep and REM sleep within so short a time. */
function allInMinutes(given: GivenNumbers): Contradiction | undefined {
  const sleep = sleepOf(given);
  normalise(sleep);
  const isShort = sleep.sleepS >= MINUTES_MIN && sleep.sleepS <= MINUTES_MAX;
  if (!(isShort && sleep.deepS >= STAGE_S_MIN && sleep.remS >= STAGE_S_MIN)) return undefined;
  const { sleepTimeSeconds } = given;
  const isTimeShort =
    isGiven(sleepTimeSeconds) && sleepTimeSeconds >= MINUTES_MIN && sleepTimeSeconds <= MINUTES_MAX;
  return {
    field: isTimeShort ? 'sleepTimeSeconds' : firstGiven(given, STAGES),
    msg: ALL_IN_MINUTES_MESSAGE,
  };
}

/** Above the whole by more than rounding explains, as a fraction. */
export const SHARES_SUM_MAX = 1.05;
/** What adding up may add. */
export const ROUNDING = 1e-9;

export const SHARES_MESSAGE =
  'The shares add up to more than the whole sleep; one seems to count another stage too, or to be on another scale';

/** Shares that the stages do not replace. */
function tooLargeShares(given: GivenNumbers): Contradiction | undefined {
  if (STAGES.every((field) => isGiven(given[field]))) return undefined;
  const sum = SHARES.reduce((total, field) => total + (given[field] ?? 0), 0);
  const whole = areFractions(sleepOf(given)) ? 1 : 100;
  if (sum <= whole * (SHARES_SUM_MAX + ROUNDING)) return undefined;
  return {
    field: firstGiven(given, SHARES),
    msg: SHARES_MESSAGE,
  };
}

function firstGiven<Field extends keyof GivenNumbers>(
  given: GivenNumbers,
  fields: readonly [Field, ...Field[]],
): Field {
  return fields.find((field) => isGiven(given[field])) ?? fields[0];
}

function sleepOf(given: GivenNumbers): Sleep {
  const sleep = new Sleep();
  sleep.sleepS = given.sleepTimeSeconds ?? NaN;
  sleep.deepS = given.deepSleepSeconds ?? NaN;
  sleep.remS = given.remSleepSeconds ?? NaN;
  sleep.lightS = given.lightSleepSeconds ?? NaN;
  sleep.deepShare = given.deepPercentage ?? NaN;
  sleep.remShare = given.remPercentage ?? NaN;
  sleep.lightShare = given.lightPercentage ?? NaN;
  return sleep;
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

/** A heart beats so often; breathing is as fast for moments only. */
export const BREATHS_MEDIAN_MAX = 40;
export const BREATHS_SAMPLES_MIN = 10;

/** Whether a series that is called breathing is heart rate: most of its samples, of at least ten, are above 40. */
export function isHeartRate(breaths: ArrayLike<number>): boolean {
  let plausible = 0;
  let fast = 0;
  for (let index = 0; index < breaths.length; index++) {
    const value = breaths[index] ?? NaN;
    // What lies outside counts for nothing here.
    if (!(value >= BREATHING.min && value <= BREATHING.max)) continue;
    plausible++;
    if (value > BREATHS_MEDIAN_MAX) fast++;
  }
  return plausible >= BREATHS_SAMPLES_MIN && 2 * fast > plausible;
}

export const HEART_RATE_MESSAGE =
  'Expected breaths per minute; so high a median looks like heart rate in the place of respiratory rate';
