// Generated from packages/rules by `npm run docs`: change it there.

export const PAST_MAX: i32 = 5;
export const MEASUREMENTS_MAX: i32 = 64;
export const SESSION_SCALARS: i32 = 12;
export const SCORED_NUMBERS: i32 = 11;
export const REACTIONS_MAX: i32 = 120;
export const SCORES: i32 = 5;
export const TARGET_FIELDS: i32 = 7;
export const HEART_LOW: f32 = 25;
export const HEART_HIGH: f32 = 240;
export const BREATH_LOW: f32 = 3;
export const BREATH_HIGH: f32 = 70;
export const SCORE_MIN: f64 = 0;
export const SCORE_MAX: f64 = 100;
export const SUSPECT_SAMPLES_MIN: f64 = 3;
export const BREATHS_MEDIAN_MAX: f64 = 40;
export const SECONDS_FOR_A_MINUTE_MAX: f64 = 80;
export const SECONDS_FOR_MINUTES_MIN: f64 = 600;
export const MINUTES_FOR_SECONDS_MIN: f64 = 11;
export const HOURS_MIN: f64 = 1;
export const MINUTES_MAX: f64 = 720;
export const SHARES_SUM_MAX: f64 = 1.05;

/** Which of four samples say that there was no reading. */
// @ts-ignore: decorator
@inline
export function areSentinels(four: v128): v128 {
  return v128.or(v128.or(f32x4.eq(four, f32x4.splat(0)), f32x4.eq(four, f32x4.splat(255))), v128.or(f32x4.eq(four, f32x4.splat(-1)), f32x4.eq(four, f32x4.splat(-2))));
}

/** Bounds of each scalar but the sex: minimum, maximum, and 1 if only integers are valid. */
export const SCALAR_BOUNDS: StaticArray<f64> = [0, 172800, 1, 0, 172800, 1, 0, 172800, 1, 0, 172800, 1, 0, 172800, 1, 0, 100, 0, 0, 100, 0, 0, 100, 0, 0, 130, 0, 30, 272, 0, 1, 650, 0];
export const SCALAR_BOUNDS_LENGTH: i32 = 3;

/** Every name of a field, and every label in its quotes. */
export const NAMES: StaticArray<string> = [
  'current_session',
  'past_sessions',
  'past_targets',
  'past_target',
  'explain',
  'history',
  'night',
  'measurements',
  'HR_day_1h',
  'RR_day_1h',
  'HR_night',
  'RR_night',
  'HR_night_imputed',
  'RR_night_imputed',
  'sleepTimeSeconds',
  'deepSleepSeconds',
  'remSleepSeconds',
  'lightSleepSeconds',
  'awakeSleepSeconds',
  'deepPercentage',
  'remPercentage',
  'lightPercentage',
  'age',
  'height_cm',
  'weight_kg',
  'sex',
  'recording',
  'C_SCORE',
  'attention',
  'memory',
  'reasoning',
  'stress',
  'valence',
  'arousal',
  'score',
  'value',
  'on',
  'reliability',
  'test',
  'answers',
  'reactions_ms',
  'result',
  '"Low"',
  '"High"',
];
