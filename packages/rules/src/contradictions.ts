import type { NumberField } from './fields.js';
import { BREATHING } from './plausible.js';
import { areFractions, normalise, Sleep } from './sleep.js';

/**
 * Values of one session that can't all be true and most likely come from a mistaken unit: scored, they would
 * silently give wrong scores. The service refuses them.
 * (`assembly/doubts.ts` has these bounds: the parser must not accept any of these.)
 */
export interface Contradiction {
  /** The field that is most likely wrong. */
  readonly field: NumberField;
  /** Names the likely cause, never a value. */
  readonly msg: string;
}

/** The numbers of a session. Only those about sleep are examined. */
type GivenNumbers = { readonly [Field in NumberField]?: number | null | undefined };

export const STAGES = ['deepSleepSeconds', 'remSleepSeconds', 'lightSleepSeconds'] as const;
export const SHARES = ['deepPercentage', 'remPercentage', 'lightPercentage'] as const;

/** Contradictions among a session's sleep fields, in the order of the fields. */
export function sleepContradictions(given: GivenNumbers): Contradiction[] {
  const found = isInMinutesBesideSeconds(given)
    ? MINUTES_BESIDE_SECONDS
    : (allInAnotherUnit(given) ?? oneInMinutes(given));
  return [found, wrongShares(given)].filter((contradiction) => contradiction !== undefined);
}

export const MINUTES_BESIDE_SECONDS: Contradiction = {
  field: 'deepSleepSeconds',
  msg: 'Expected seconds; deepSleepSeconds, remSleepSeconds and lightSleepSeconds look like minutes beside sleepTimeSeconds',
};

/**
 * Stages in minutes beside a sleep time in seconds, as seconds of sleep time for a minute of stages. Awake
 * time makes the sleep time up to a third longer than the stages (60 / 0.75), rounding up to a tenth shorter
 * (60 / 1.1, a fraction; whole numbers are not rounded).
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
/** A stage below this counts as absent: rounding left it. */
export const STAGE_S_MIN = 0.5;

export const ALL_IN_MINUTES_MESSAGE =
  'Expected seconds; so little sleep with both deep and REM sleep in it looks like minutes';

/** Nights of up to a day, in hours. */
export const HOURS_MIN = 1;
export const HOURS_MAX = 24;

export const ALL_IN_HOURS_MESSAGE =
  'Expected seconds; so few seconds of sleep with stages in them look like hours';

/** No night has both deep and REM sleep within minutes, or any stage within seconds, be it of none. */
function allInAnotherUnit(given: GivenNumbers): Contradiction | undefined {
  const sleep = sleepOf(given);
  normalise(sleep);
  const { deepS, remS, lightS } = sleep;
  // Stages that are all 0 say nothing of the length.
  const sleepS = sleep.sleepS === 0 ? (given.sleepTimeSeconds ?? 0) : sleep.sleepS;
  if (isWithin(sleepS, MINUTES_MIN, MINUTES_MAX) && deepS >= STAGE_S_MIN && remS >= STAGE_S_MIN) {
    return { field: shortField(given, MINUTES_MIN, MINUTES_MAX), msg: ALL_IN_MINUTES_MESSAGE };
  }
  if (isWithin(sleepS, HOURS_MIN, HOURS_MAX) && (deepS >= 0 || remS >= 0 || lightS >= 0)) {
    return { field: shortField(given, HOURS_MIN, HOURS_MAX), msg: ALL_IN_HOURS_MESSAGE };
  }
  return undefined;
}

/** The sleep time if it is as short as the night seems to be, else the first given stage. */
function shortField(given: GivenNumbers, least: number, most: number): NumberField {
  const { sleepTimeSeconds } = given;
  const isTimeShort = isGiven(sleepTimeSeconds) && isWithin(sleepTimeSeconds, least, most);
  return isTimeShort ? 'sleepTimeSeconds' : firstGiven(given, STAGES);
}

export const STAGE_IN_MINUTES_MESSAGE =
  'Expected seconds; this stage looks like minutes beside sleepTimeSeconds and the other stages';
/** Devices stage sleep in epochs: a stage of whole half minutes may well be in seconds. */
export const EPOCH_S = 30;
/** How much rounding to a minute may add or remove, in seconds; exclusive. */
export const ROUNDED_S = 60;

/**
 * Finds one stage in minutes beside others in seconds. The stages would be scored, and the sleep time, which
 * shows the mistake, would be dropped.
 */
function oneInMinutes(given: GivenNumbers): Contradiction | undefined {
  const { sleepTimeSeconds, awakeSleepSeconds } = given;
  const { deepSleepSeconds: deep, remSleepSeconds: rem, lightSleepSeconds: light } = given;
  if (!isGiven(sleepTimeSeconds) || !isGiven(deep) || !isGiven(rem) || !isGiven(light)) return undefined;
  const unexplained = sleepTimeSeconds - deep - rem - light;
  const field = STAGES.find((name) => {
    const stage = given[name] ?? 0;
    return stage > 0 && isInMinutes(stage, unexplained + stage, awakeSleepSeconds ?? NaN);
  });
  return field && { field, msg: STAGE_IN_MINUTES_MESSAGE };
}

/**
 * Whether this number of minutes is what the sleep time leaves for the stage, with or without awake time. A
 * stage that is no multiple of an epoch may also differ a little from what is left without a given awake time
 * (NaN: none is given), because the sleep time may include more of it.
 */
function isInMinutes(stage: number, left: number, awake: number): boolean {
  const isEpochs = stage % EPOCH_S === 0;
  const near = isEpochs ? EPOCH_S : ROUNDED_S;
  const asleep = left - awake;
  if (Math.abs(60 * stage - left) < near || Math.abs(60 * stage - asleep) < near) return true;
  const { seconds, minutes } = SECONDS_FOR_MINUTES_MIN;
  return !isEpochs && SECONDS_FOR_A_MINUTE_MAX * stage >= asleep && seconds * stage <= minutes * asleep;
}

/** Above the whole by more than rounding explains, as a fraction. */
export const SHARES_SUM_MAX = 1.05;
/** Rounding error of a sum. */
export const ROUNDING = 1e-9;

export const SHARES_MESSAGE =
  'The shares add up to more than the whole sleep; one seems to count another stage too, or to be on another scale';

/** Shares of one night add up to at least this, with each fraction multiplied by 100. */
export const POINTS_SUM_MIN = 95;
export const POINTS_SUM_MAX = 105;

export const TWO_SCALES_MESSAGE =
  'The shares are on two scales; give all of them as fractions, or all of them as percent points';

/** Shares that the stages do not replace. */
function wrongShares(given: GivenNumbers): Contradiction | undefined {
  if (STAGES.every((field) => isGiven(given[field]))) return undefined;
  const sum = SHARES.reduce((total, field) => total + (given[field] ?? 0), 0);
  const areAllFractions = areFractions(sleepOf(given));
  const whole = areAllFractions ? 1 : 100;
  if (sum > whole * (SHARES_SUM_MAX + ROUNDING)) {
    return { field: firstGiven(given, SHARES), msg: SHARES_MESSAGE };
  }
  const field = areAllFractions ? undefined : SHARES.find((name) => isFraction(given[name]));
  return field && areOnTwoScales(given, sum) ? { field, msg: TWO_SCALES_MESSAGE } : undefined;
}

/** If the sum in points is already near 100, one share may simply be very small. */
function areOnTwoScales(given: GivenNumbers, sum: number): boolean {
  const scaled = SHARES.reduce((total, field) => {
    const share = given[field] ?? 0;
    return total + (isFraction(share) ? 100 * share : share);
  }, 0);
  return isWithin(scaled, POINTS_SUM_MIN, POINTS_SUM_MAX) && Math.abs(100 - scaled) < Math.abs(100 - sum);
}

function isFraction(share: number | null | undefined): boolean {
  return isGiven(share) && share > 0 && share < 1;
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

function isWithin(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

/** A heart beats this often; breathing reaches it for moments only. */
export const BREATHS_MEDIAN_MAX = 40;
export const BREATHS_SAMPLES_MIN = 10;

/**
 * Whether a series given as breathing is heart rate: of its plausible samples, at least ten, most are above
 * 40.
 */
export function isHeartRate(breaths: ArrayLike<number>): boolean {
  let plausible = 0;
  let fast = 0;
  for (let index = 0; index < breaths.length; index++) {
    const value = breaths[index] ?? NaN;
    // Implausible samples don't count here.
    if (!(value >= BREATHING.min && value <= BREATHING.max)) continue;
    plausible++;
    if (value > BREATHS_MEDIAN_MAX) fast++;
  }
  return plausible >= BREATHS_SAMPLES_MIN && 2 * fast > plausible;
}

export const HEART_RATE_MESSAGE =
  'Expected breaths per minute; so high a median looks like heart rate in the place of respiratory rate';
