// Generated from packages/rules by `npm run docs`: change it there.
import { RECORDING_INDEX, SERIES_INDEX } from './layout';
import { same } from './names';

/** Which field a name means: the numbers are indexes of `OUTLINE`, −1 is an unknown field. */

/** A series has an alias of this length, and no name of its own of that length. */
export const SERIES_ALIAS_LENGTH: i32 = 16;

export const CURRENT_SESSION_FIELD: i32 = 0;
export const PAST_SESSIONS_FIELD: i32 = 1;
export const PAST_TARGETS_FIELD: i32 = 2;
export const PAST_TARGET_FIELD: i32 = 3;
export const EXPLAIN_FIELD: i32 = 4;
export const HISTORY_FIELD: i32 = 5;
export const NIGHT_FIELD: i32 = 6;
export const MEASUREMENTS_FIELD: i32 = 7;

/** The field whose name of `length` bytes lies at `key`; an alias is its field. */
export function sessionField(key: usize, length: i32): i32 {
  switch (length) {
    case 3:
      if (same(key, 'age', 3)) return 8;
      return same(key, 'sex', 3) ? 11 : -1;
    case 8:
      if (same(key, 'HR_night', 8)) return SERIES_INDEX + 2;
      return same(key, 'RR_night', 8) ? SERIES_INDEX + 3 : -1;
    case 9:
      if (same(key, 'HR_day_1h', 9)) return SERIES_INDEX + 0;
      if (same(key, 'RR_day_1h', 9)) return SERIES_INDEX + 1;
      if (same(key, 'height_cm', 9)) return 9;
      if (same(key, 'weight_kg', 9)) return 10;
      return same(key, 'recording', 9) ? RECORDING_INDEX : -1;
    case 13:
      return same(key, 'remPercentage', 13) ? 6 : -1;
    case 14:
      return same(key, 'deepPercentage', 14) ? 5 : -1;
    case 15:
      if (same(key, 'remSleepSeconds', 15)) return 2;
      return same(key, 'lightPercentage', 15) ? 7 : -1;
    case 16:
      if (same(key, 'sleepTimeSeconds', 16)) return 0;
      if (same(key, 'deepSleepSeconds', 16)) return 1;
      if (same(key, 'HR_night_imputed', 16)) return SERIES_INDEX + 2;
      return same(key, 'RR_night_imputed', 16) ? SERIES_INDEX + 3 : -1;
    case 17:
      if (same(key, 'lightSleepSeconds', 17)) return 3;
      return same(key, 'awakeSleepSeconds', 17) ? 4 : -1;
  }
  return -1;
}

export function targetField(key: usize, length: i32): i32 {
  switch (length) {
    case 6:
      if (same(key, 'memory', 6)) return 2;
      return same(key, 'stress', 6) ? 4 : -1;
    case 7:
      if (same(key, 'C_SCORE', 7)) return 0;
      if (same(key, 'valence', 7)) return 5;
      return same(key, 'arousal', 7) ? 6 : -1;
    case 9:
      if (same(key, 'attention', 9)) return 1;
      return same(key, 'reasoning', 9) ? 3 : -1;
  }
  return -1;
}

export function measurementField(key: usize, length: i32): i32 {
  switch (length) {
    case 2:
      return same(key, 'on', 2) ? 2 : -1;
    case 4:
      return same(key, 'test', 4) ? 4 : -1;
    case 5:
      if (same(key, 'score', 5)) return 0;
      return same(key, 'value', 5) ? 1 : -1;
    case 6:
      return same(key, 'result', 6) ? 7 : -1;
    case 7:
      return same(key, 'answers', 7) ? 5 : -1;
    case 11:
      return same(key, 'reliability', 11) ? 3 : -1;
    case 12:
      return same(key, 'reactions_ms', 12) ? 6 : -1;
  }
  return -1;
}

export function topField(key: usize, length: i32): i32 {
  switch (length) {
    case 5:
      return same(key, 'night', 5) ? NIGHT_FIELD : -1;
    case 7:
      if (same(key, 'explain', 7)) return EXPLAIN_FIELD;
      return same(key, 'history', 7) ? HISTORY_FIELD : -1;
    case 11:
      return same(key, 'past_target', 11) ? PAST_TARGET_FIELD : -1;
    case 12:
      if (same(key, 'past_targets', 12)) return PAST_TARGETS_FIELD;
      return same(key, 'measurements', 12) ? MEASUREMENTS_FIELD : -1;
    case 13:
      return same(key, 'past_sessions', 13) ? PAST_SESSIONS_FIELD : -1;
    case 15:
      return same(key, 'current_session', 15) ? CURRENT_SESSION_FIELD : -1;
  }
  return -1;
}
