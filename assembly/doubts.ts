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
import { isBreathingFast } from './series';

/**
 * Whether a session may be in other units than it says, or contradict itself. The exact path decides, by
 * `isUnitError` and `contract/contradictions`: what it refuses must be doubted here, and what is doubted without need
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
  return implausible >= 3 && implausible > summaryValue(record, series, COUNT);
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
    const areMinutes = stages > 0 && 80 * stages >= sleep && 600 * stages <= 11 * sleep;
    return areMinutes || (stages >= 120 && stages <= 720);
  }
  // The length of the night is given, or may follow from a stage and its share.
  const mayBeShort = sleep == sleep ? sleep >= 120 && sleep <= 720 : deep <= 720 || rem <= 720 || light <= 720;
  return mayBeShort || haveTooLargeSum(record);
}

function haveTooLargeSum(record: usize): bool {
  const deep = scalar(record, DEEP_SHARE);
  const rem = scalar(record, REM_SHARE);
  const light = scalar(record, LIGHT_SHARE);
  const sum = orZero(deep) + orZero(rem) + orZero(light);
  return sum > 105 || (sum > 1.05 && !(deep > 1 || rem > 1 || light > 1));
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
