/** What may be the night of a session, when one is built of samples and stages. */

/** The night before: it ended no longer ago than this. */
export const NIGHT_AGE_HOURS_MAX = 36;
export const NIGHT_HOURS_MAX = 24;
/** Longer than any night, in minutes: such minutes are seconds. */
export const NIGHT_MINUTES_MAX = 24 * 60;
/** Shorter than any night, in seconds: such seconds are minutes or hours. */
export const NIGHT_SECONDS_MIN = 15 * 60;
