import {
  COUNT,
  DEEP,
  DEEP_SHARE,
  HR_DAY,
  HR_NIGHT,
  IMPLAUSIBLE,
  LIGHT,
  LIGHT_SHARE,
  REM,
  REM_SHARE,
  RR_DAY,
  RR_NIGHT,
  SCALARS,
  SLEEP_TIME,
  SUMMARY_LENGTH,
} from './layout';
import {
  HOURS_MIN,
  MINUTES_FOR_SECONDS_MIN,
  MINUTES_MAX,
  SECONDS_FOR_A_MINUTE_MAX,
  SECONDS_FOR_MINUTES_MIN,
  SHARES_SUM_MAX,
  SUSPECT_SAMPLES_MIN,
} from './rules';
import { isBreathingFast } from './series';

/**
 * Whether a session may have wrong units or contradict itself. The exact path decides, by `isUnitError` and
 * packages/rules/src/contradictions.ts: everything it refuses must be doubtful here; a false alarm only costs a
 * second reading.
 */
export function isDoubtful(record: usize): bool {
  return (
    isImplausible(record, HR_DAY) ||
    isImplausible(record, RR_DAY) ||
    isImplausible(record, HR_NIGHT) ||
    isImplausible(record, RR_NIGHT) ||
    isBreathingFast ||
    isDoubtfulSleep(record)
  );
}

// @ts-ignore: decorator
@inline
function isImplausible(record: usize, series: i32): bool {
  const implausible = summaryValue(record, series, IMPLAUSIBLE);
  return implausible >= SUSPECT_SAMPLES_MIN && implausible > summaryValue(record, series, COUNT);
}

// @ts-ignore: decorator
@inline
function isDoubtfulSleep(record: usize): bool {
  const sleep = scalar(record, SLEEP_TIME);
  const deep = scalar(record, DEEP);
  const rem = scalar(record, REM);
  const light = scalar(record, LIGHT);
  const stages = deep + rem + light;
  if (stages == stages) {
    const isNotTooLong = SECONDS_FOR_A_MINUTE_MAX * stages >= sleep;
    const isNotTooShort = SECONDS_FOR_MINUTES_MIN * stages <= MINUTES_FOR_SECONDS_MIN * sleep;
    const areMinutes = stages > 0 && isNotTooLong && isNotTooShort;
    const unexplained = sleep - stages;
    return (
      areMinutes ||
      mayBeShort(stages > 0 ? stages : sleep) ||
      mayFill(deep, unexplained) ||
      mayFill(rem, unexplained) ||
      mayFill(light, unexplained)
    );
  }
  // The length of the night is given, or may follow from a stage and its share.
  const areFew = deep <= MINUTES_MAX || rem <= MINUTES_MAX || light <= MINUTES_MAX;
  return (sleep == sleep ? mayBeShort(sleep) : areFew) || areOddShares(record);
}

/** In hours or in minutes. */
// @ts-ignore: decorator
@inline
function mayBeShort(seconds: f64): bool {
  return seconds >= HOURS_MIN && seconds <= MINUTES_MAX;
}

/** Whether the stage, in minutes, may fill what the sleep time leaves unexplained; a minute more for rounding. */
// @ts-ignore: decorator
@inline
function mayFill(stage: f64, unexplained: f64): bool {
  const least = SECONDS_FOR_MINUTES_MIN * (stage - 1);
  return stage > 0 && least <= MINUTES_FOR_SECONDS_MIN * (unexplained + stage);
}

function areOddShares(record: usize): bool {
  const deep = scalar(record, DEEP_SHARE);
  const rem = scalar(record, REM_SHARE);
  const light = scalar(record, LIGHT_SHARE);
  const sum = orZero(deep) + orZero(rem) + orZero(light);
  const areFractions = !(deep > 1 || rem > 1 || light > 1);
  if (areFractions) return sum > SHARES_SUM_MAX;
  return sum > 100 * SHARES_SUM_MAX || isFraction(deep) || isFraction(rem) || isFraction(light);
}

// @ts-ignore: decorator
@inline
function isFraction(share: f64): bool {
  return share > 0 && share < 1;
}

// @ts-ignore: decorator
@inline
function orZero(value: f64): f64 {
  return value == value ? value : 0;
}

// @ts-ignore: decorator
@inline
function scalar(record: usize, field: i32): f64 {
  return load<f64>(record + (<usize>field << 3));
}

// @ts-ignore: decorator
@inline
function summaryValue(record: usize, series: i32, value: i32): f64 {
  return load<f64>(record + (<usize>(SCALARS + series * SUMMARY_LENGTH + value) << 3));
}
