import {
  AGE,
  AWAKE,
  DEEP,
  DEEP_SHARE,
  HEIGHT,
  HR_DAY,
  HR_NIGHT,
  LIGHT,
  LIGHT_SHARE,
  REM,
  REM_SHARE,
  RR_DAY,
  RR_NIGHT,
  SERIES_INDEX,
  SEX,
  SLEEP_TIME,
  WEIGHT,
} from './layout';
import { same } from './names';

/** Which field a name means: the numbers are indexes of `OUTLINE`, −1 is an unknown field. */

/** A series has an alias of this length, and no name of its own of that length. */
export const SERIES_ALIAS_LENGTH: i32 = 16;

/** The field of a session whose name of `length` bytes lies at `key`; an alias is its field. */
export function sessionField(key: usize, length: i32): i32 {
  switch (length) {
    case 3:
      if (same(key, 'age', 3)) return AGE;
      if (same(key, 'sex', 3)) return SEX;
      return -1;
    case 8:
      if (same(key, 'HR_night', 8)) return SERIES_INDEX + HR_NIGHT;
      if (same(key, 'RR_night', 8)) return SERIES_INDEX + RR_NIGHT;
      return -1;
    case 9:
      if (same(key, 'HR_day_1h', 9)) return SERIES_INDEX + HR_DAY;
      if (same(key, 'RR_day_1h', 9)) return SERIES_INDEX + RR_DAY;
      if (same(key, 'height_cm', 9)) return HEIGHT;
      if (same(key, 'weight_kg', 9)) return WEIGHT;
      return -1;
    case 13:
      return same(key, 'remPercentage', 13) ? REM_SHARE : -1;
    case 14:
      return same(key, 'deepPercentage', 14) ? DEEP_SHARE : -1;
    case 15:
      if (same(key, 'remSleepSeconds', 15)) return REM;
      if (same(key, 'lightPercentage', 15)) return LIGHT_SHARE;
      return -1;
    case 16:
      if (same(key, 'sleepTimeSeconds', 16)) return SLEEP_TIME;
      if (same(key, 'deepSleepSeconds', 16)) return DEEP;
      if (same(key, 'HR_night_imputed', 16)) return SERIES_INDEX + HR_NIGHT;
      if (same(key, 'RR_night_imputed', 16)) return SERIES_INDEX + RR_NIGHT;
      return -1;
    case 17:
      if (same(key, 'lightSleepSeconds', 17)) return LIGHT;
      if (same(key, 'awakeSleepSeconds', 17)) return AWAKE;
      return -1;
  }
  return -1;
}

export const TARGET_FIELDS: i32 = 7;

export function targetField(key: usize, length: i32): i32 {
  switch (length) {
    case 6:
      if (same(key, 'memory', 6)) return 2;
      if (same(key, 'stress', 6)) return 4;
      return -1;
    case 7:
      if (same(key, 'C_SCORE', 7)) return 0;
      if (same(key, 'valence', 7)) return 5;
      if (same(key, 'arousal', 7)) return 6;
      return -1;
    case 9:
      if (same(key, 'attention', 9)) return 1;
      if (same(key, 'reasoning', 9)) return 3;
      return -1;
  }
  return -1;
}

export const CURRENT: i32 = 0;
export const PAST_SESSIONS: i32 = 1;
export const PAST_TARGETS: i32 = 2;
export const PAST_TARGET: i32 = 3;
export const EXPLAIN_FIELD: i32 = 4;

export function topField(key: usize, length: i32): i32 {
  switch (length) {
    case 7:
      return same(key, 'explain', 7) ? EXPLAIN_FIELD : -1;
    case 11:
      return same(key, 'past_target', 11) ? PAST_TARGET : -1;
    case 12:
      return same(key, 'past_targets', 12) ? PAST_TARGETS : -1;
    case 13:
      return same(key, 'past_sessions', 13) ? PAST_SESSIONS : -1;
    case 15:
      return same(key, 'current_session', 15) ? CURRENT : -1;
  }
  return -1;
}
