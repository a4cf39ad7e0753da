/**
 * Where things lie in the parser's memory, in bytes. The host reads the exported offsets: there is no second
 * copy of this table.
 */

/** Sessions of one request: the current one first, then up to five past ones, oldest first. */
export const SESSIONS_MAX: i32 = 6;

/** A record is 12 scalars and four summaries, all f64; a missing scalar is NaN. */
export const SCALARS: i32 = 12;
export const SLEEP_TIME: i32 = 0;
export const DEEP: i32 = 1;
export const REM: i32 = 2;
export const LIGHT: i32 = 3;
export const AWAKE: i32 = 4;
export const DEEP_SHARE: i32 = 5;
export const REM_SHARE: i32 = 6;
export const LIGHT_SHARE: i32 = 7;
export const AGE: i32 = 8;
export const HEIGHT: i32 = 9;
export const WEIGHT: i32 = 10;
/** 1 = M, −1 = F. */
export const SEX: i32 = 11;

/** Series in a record, in the contract's order. */
export const HR_DAY: i32 = 0;
export const RR_DAY: i32 = 1;
export const HR_NIGHT: i32 = 2;
export const RR_NIGHT: i32 = 3;

export const SUMMARY_LENGTH: i32 = 3;
export const COUNT: i32 = 0;
export const IMPLAUSIBLE: i32 = 1;
export const LEVEL: i32 = 2;

export const RECORD_LENGTH: i32 = SCALARS + 4 * SUMMARY_LENGTH;

/** A target is seven f64: five scores, then valence and arousal as 1 (High) or −1 (Low). */
export const TARGET_LENGTH: i32 = 7;

/** The compiler's own data (the names of the fields) lies below; `initialise` checks that it does. */
export const RECORDS: usize = 16_384;
export const TARGETS: usize = RECORDS + SESSIONS_MAX * RECORD_LENGTH * 8;
export const HISTOGRAM_BINS: i32 = 512;
/** Percentile histogram of the series in hand, all zero between two series: four tables of u32. */
export const HISTOGRAM: usize = (TARGETS + (SESSIONS_MAX - 1) * TARGET_LENGTH * 8 + 15) & ~15;
/** Its running sums: i32 each, with room for one vector in front. */
export const CUMULATIVE: usize = HISTOGRAM + 4 * HISTOGRAM_BINS * 4 + 16;
export const POWERS_OF_TEN: usize = CUMULATIVE + HISTOGRAM_BINS * 4;
/** The samples of the series in hand: f32 each. */
export const SAMPLES: usize = POWERS_OF_TEN + 16 * 8;
/**
 * Room for so many more samples behind the longest series that is accepted: a block of so many bytes may be
 * written there before they are counted, and a series is filled up to whole vectors.
 */
export const SAMPLES_SLACK: i32 = 64;

/** Room behind the input for zero bytes, which the parser writes: blocks are read beyond the end. */
export const INPUT_PADDING: usize = 128;
