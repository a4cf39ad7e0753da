import type { Session } from './contract.js';
import { areFractions, normalise, Sleep } from './sleepArithmetic.js';

/**
 * What can't be true of one session at once, and most likely comes from a mistaken unit: scored, it would give
 * wrong scores without a word. The service refuses it, the SDK before it is sent. (`assembly/doubts.ts` has the same
 * bounds: the parser must not say yes to any of these.)
 */
export interface Contradiction {
  /** The field that most likely is wrong. */
  readonly field: keyof Session;
  /** Names the likely cause, never a value. */
  readonly msg: string;
}

/** What the sleep fields of a session say against each other, in the order of its fields. */
export function sleepContradictions(given: Session): Contradiction[] {
  const found = isInMinutesBesideSeconds(given) ? MINUTES_BESIDE_SECONDS : allInMinutes(given);
  return [found, tooLargeShares(given)].filter((contradiction) => contradiction !== undefined);
}

const MINUTES_BESIDE_SECONDS: Contradiction = {
  field: 'deepSleepSeconds',
  msg: 'Expected seconds; deepSleepSeconds, remSleepSeconds and lightSleepSeconds look like minutes beside sleepTimeSeconds',
};

/** A sleep time with awake time in it is longer than its stages, but not by more than a third. */
function isInMinutesBesideSeconds({ sleepTimeSeconds, ...given }: Session): boolean {
  const { deepSleepSeconds: deep, remSleepSeconds: rem, lightSleepSeconds: light } = given;
  if (!isGiven(sleepTimeSeconds) || !isGiven(deep) || !isGiven(rem) || !isGiven(light)) return false;
  const stages = deep + rem + light;
  // From 0.75 to 1.1, in whole numbers: nothing is rounded.
  return stages > 0 && 80 * stages >= sleepTimeSeconds && 600 * stages <= 11 * sleepTimeSeconds;
}

/** Nights of two to twelve hours, in minutes. */
const MINUTES_MIN = 120;
const MINUTES_MAX = 720;
/** Less of a stage is none of it, but for rounding. */
const STAGE_S_MIN = 0.5;

/** Nobody has both deep and REM sleep within so short a time. */
function allInMinutes(given: Session): Contradiction | undefined {
  const sleep = sleepOf(given);
  normalise(sleep);
  const isShort = sleep.sleepS >= MINUTES_MIN && sleep.sleepS <= MINUTES_MAX;
  if (!(isShort && sleep.deepS >= STAGE_S_MIN && sleep.remS >= STAGE_S_MIN)) return undefined;
  const { sleepTimeSeconds } = given;
  const isTimeShort =
    isGiven(sleepTimeSeconds) && sleepTimeSeconds >= MINUTES_MIN && sleepTimeSeconds <= MINUTES_MAX;
  return {
    field: isTimeShort ? 'sleepTimeSeconds' : firstGiven(given, STAGES),
    msg: 'Expected seconds; so little sleep with both deep and REM sleep in it looks like minutes',
  };
}

/** Above the whole by more than rounding explains, as a fraction. */
const SHARES_SUM_MAX = 1.05;
/** What adding up may add. */
const ROUNDING = 1e-9;

/** Shares that the stages do not replace. */
function tooLargeShares(given: Session): Contradiction | undefined {
  if (STAGES.every((field) => isGiven(given[field]))) return undefined;
  const sum = SHARES.reduce((total, field) => total + (given[field] ?? 0), 0);
  const whole = areFractions(sleepOf(given)) ? 1 : 100;
  if (sum <= whole * (SHARES_SUM_MAX + ROUNDING)) return undefined;
  return {
    field: firstGiven(given, SHARES),
    msg: 'The shares add up to more than the whole sleep; one seems to count another stage too, or to be on another scale',
  };
}

const STAGES = ['deepSleepSeconds', 'remSleepSeconds', 'lightSleepSeconds'] as const;
const SHARES = ['deepPercentage', 'remPercentage', 'lightPercentage'] as const;

function firstGiven<Field extends keyof Session>(
  given: Session,
  fields: readonly [Field, ...Field[]],
): Field {
  return fields.find((field) => isGiven(given[field])) ?? fields[0];
}

function sleepOf(given: Session): Sleep {
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

/** Breaths a minute that a series may hold at all; what lies outside counts for nothing here. */
const BREATHS_MIN = 3;
const BREATHS_MAX = 70;
/** Nobody breathes so often for long; a heart beats so often. */
const BREATHS_MEDIAN_MAX = 40;
const BREATHS_SAMPLES_MIN = 10;

/** Whether a series that is called breathing is heart rate: most of its samples, of at least ten, are above 40. */
export function isHeartRate(breaths: ArrayLike<number>): boolean {
  let plausible = 0;
  let fast = 0;
  for (let index = 0; index < breaths.length; index++) {
    const value = breaths[index] ?? NaN;
    if (!(value >= BREATHS_MIN && value <= BREATHS_MAX)) continue;
    plausible++;
    if (value > BREATHS_MEDIAN_MAX) fast++;
  }
  return plausible >= BREATHS_SAMPLES_MIN && 2 * fast > plausible;
}

export const HEART_RATE_MESSAGE =
  'Expected breaths per minute; so high a median looks like heart rate in the place of respiratory rate';
