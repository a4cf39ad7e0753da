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
  MINUTES_FOR_SECONDS_MIN,
  MINUTES_MAX,
  MINUTES_MIN,
  SECONDS_FOR_A_MINUTE_MAX,
  SECONDS_FOR_MINUTES_MIN,
  SHARES_SUM_MAX,
  SUSPECT_SAMPLES_MIN,
} from './rules';
import { isBreathingFast } from './series';

/**
 * Whether a session may be in other units than it says, or contradict itself. The exact path decides, by
 * `isUnitError` and packages/rules/src/contradictions.ts: what it refuses must be doubted here, and what is doubted without need
 * costs a second reading and nothing else.
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
    return (stages > 0 && isNotTooLong && isNotTooShort) || mayBeMinutes(stages);
  }
  // The length of the night is given, or may follow from a stage and its share.
  const areFew = deep <= MINUTES_MAX || rem <= MINUTES_MAX || light <= MINUTES_MAX;
  return (sleep == sleep ? mayBeMinutes(sleep) : areFew) || haveTooLargeSum(record);
}

// @ts-ignore: decorator
@inline
function mayBeMinutes(seconds: f64): bool {
  return seconds >= MINUTES_MIN && seconds <= MINUTES_MAX;
}

function haveTooLargeSum(record: usize): bool {
  const deep = scalar(record, DEEP_SHARE);
  const rem = scalar(record, REM_SHARE);
  const light = scalar(record, LIGHT_SHARE);
  const sum = orZero(deep) + orZero(rem) + orZero(light);
  return sum > 100 * SHARES_SUM_MAX || (sum > SHARES_SUM_MAX && !(deep > 1 || rem > 1 || light > 1));
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
