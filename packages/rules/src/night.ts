/** Bounds of a session's night, when one is built from samples and stages. */

/** The night before ended at most this long ago. */
export const NIGHT_AGE_HOURS_MAX = 36;
export const NIGHT_HOURS_MAX = 24;
/** Longer than any night, in minutes: such values are seconds. */
export const NIGHT_MINUTES_MAX = 24 * 60;
/** Shorter than any night, in seconds: such values are minutes or hours. */
export const NIGHT_SECONDS_MIN = 15 * 60;
