import { MEASUREMENTS_MAX, PAST_MAX, TARGET_FIELDS } from './rules';

/**
 * Where things lie in the parser's memory, in bytes. The host reads the exported offsets: there is no second
 * copy of this table.
 */

/** Sessions of one request: the current one first, then the past ones, oldest first. */
export const SESSIONS_MAX: i32 = 1 + PAST_MAX;

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
export const TARGET_LENGTH: i32 = TARGET_FIELDS;

/** The compiler's own data (the names of the fields) lies below; `initialise` checks that it does. */
export const RECORDS: usize = 16_384;
export const TARGETS: usize = RECORDS + SESSIONS_MAX * RECORD_LENGTH * 8;
export const HISTOGRAM_BINS: i32 = 512;
/** Percentile histogram of the series in hand, all zero between two series: four tables of u32. */
export const HISTOGRAM: usize = (TARGETS + (SESSIONS_MAX - 1) * TARGET_LENGTH * 8 + 15) & ~15;
/** Its running sums: i32 each, with room for one vector in front. */
export const CUMULATIVE: usize = HISTOGRAM + 4 * HISTOGRAM_BINS * 4 + 16;
/** 10^0 … 10^22, all exact: f64 each. */
export const POWERS_OF_TEN: usize = CUMULATIVE + HISTOGRAM_BINS * 4;
export const EXACT_POWER_MAX: i32 = 22;
/** The contract's bounds of each scalar but the sex: least, most, and 1 where only whole numbers are; the host writes them. */
export const SCALAR_BOUNDS: usize = POWERS_OF_TEN + (EXACT_POWER_MAX + 1) * 8;
export const SCALAR_BOUNDS_LENGTH: i32 = 3;
/** The leading 128 bits of 5^−342 … 5^308, two u64 each, the higher one first; the host writes them. */
export const POWERS_OF_FIVE: usize = (SCALAR_BOUNDS + SEX * SCALAR_BOUNDS_LENGTH * 8 + 15) & ~15;
export const FIVE_EXPONENT_MIN: i32 = -342;
export const FIVE_EXPONENT_MAX: i32 = 308;
/** Two whole numbers that are compared: a count, then limbs of 32 bits; some 800 digits and a power of two or five. */
export const LIMBS_MAX: i32 = 200;
export const LIMBS_LEFT: usize = POWERS_OF_FIVE + (FIVE_EXPONENT_MAX - FIVE_EXPONENT_MIN + 1) * 16;
export const LIMBS_RIGHT: usize = LIMBS_LEFT + (1 + LIMBS_MAX) * 4;
/** Unknown fields of the request that was read last: i32. */
export const UNKNOWN_FIELDS: usize = (LIMBS_RIGHT + (1 + LIMBS_MAX) * 4 + 7) & ~7;
/** 1 where that request asks for an explanation, else 0: i32. */
export const EXPLAIN: usize = UNKNOWN_FIELDS + 4;
/**
 * Where in the input the array begins that each summary was made of: u32 for every series of every record, 0 where
 * the input in hand has given none. What the fast path has summarised the exact path need not decode again.
 */
export const SUMMARISED: usize = UNKNOWN_FIELDS + 8;
/** How many samples each of them was made of, sentinels included: u32. */
export const LENGTHS: usize = SUMMARISED + SESSIONS_MAX * 4 * 4;
/**
 * Where the texts of `history` and of `night` begin, behind their quotes, and where they end: u32; 0 for none. The same of
 * the bytes that a history says its measurements with.
 */
export const TEXTS: usize = LENGTHS + SESSIONS_MAX * 4 * 4;
export const HISTORY_TEXT: i32 = 0;
export const NIGHT_TEXT: i32 = 1;
export const MEASURED_BYTES: i32 = 2;
/** An even number, that they are set to zero with what lies before them. */
export const TEXTS_LENGTH: i32 = 4;
/**
 * What the exact path finds of an object or array: where a value begins and where it ends, u32 each, for every field
 * by its index there, or for the first elements. A value that begins at 0 is absent.
 */
export const OUTLINE: usize = TEXTS + TEXTS_LENGTH * 8;
/** The longest list, and one element more. */
export const OUTLINE_LENGTH: i32 = MEASUREMENTS_MAX + 1;
/** Indexes of a session: its scalars as above, its series from here on, and their aliases behind those. */
export const SERIES_INDEX: i32 = 16;
export const SERIES_ALIAS_INDEX: i32 = SERIES_INDEX + 4;
/** Elements of a series that can't be one: how many, then the index of each, negative − 1 where it is no number. */
export const MISFITS: usize = (OUTLINE + OUTLINE_LENGTH * 8 + 15) & ~15;
export const MISFITS_MAX: i32 = 8;
/** A key without its escapes, as far as it may be a known one. */
export const KEY: usize = (MISFITS + 4 + MISFITS_MAX * 4 + 15) & ~15;
export const KEY_MAX: i32 = 24;
/** What a history holds, as `readHistory` leaves it: the number of its sessions and of the nights in its long run, u32 each. */
export const HISTORY: usize = (KEY + KEY_MAX + 8 + 15) & ~15;
/** One session more than a history has: the one in hand gets a place there. */
export const HISTORY_PLACES: i32 = SESSIONS_MAX + 1;
export const LABELS: i32 = 2;
/** Of each session f64: its day, NaN where it has none; its record; its target; the chances of High, NaN where not known. */
export const HISTORY_DAYS: usize = HISTORY + 8;
export const HISTORY_RECORDS: usize = HISTORY_DAYS + HISTORY_PLACES * 8;
export const HISTORY_TARGETS: usize = HISTORY_RECORDS + HISTORY_PLACES * RECORD_LENGTH * 8;
export const HISTORY_CHANCES: usize = HISTORY_TARGETS + HISTORY_PLACES * TARGET_LENGTH * 8;
/** Of each quantity of the long run: weight, mean and spread, f32, and in how many nights it was known, u16. */
export const QUANTITIES: i32 = 20;
export const RUN_WEIGHTS: usize = HISTORY_CHANCES + HISTORY_PLACES * LABELS * 8;
export const RUN_MEANS: usize = RUN_WEIGHTS + QUANTITIES * 4;
export const RUN_SPREADS: usize = RUN_MEANS + QUANTITIES * 4;
export const RUN_COUNTS: usize = RUN_SPREADS + QUANTITIES * 4;
export const HISTORY_LENGTH: usize = RUN_COUNTS + QUANTITIES * 2 - HISTORY;
/** Least and most of each quantity, and its widest spread: f64; the host writes them. */
export const QUANTITY_BOUNDS: usize = (HISTORY + HISTORY_LENGTH + 15) & ~15;
/** The bytes of a history. As many as the longest has are read before it is seen where they end. */
export const HISTORY_BYTES: usize = QUANTITY_BOUNDS + QUANTITIES * 3 * 8;
/** What each character of base64url stands for, u8, and the tables of a CRC-32 of eight bytes at once, u32. */
export const BASE64: usize = HISTORY_BYTES + 1_552;
export const CRC_TABLES: usize = BASE64 + 256;
/** The samples of the series in hand: f32 each. */
export const SAMPLES: usize = CRC_TABLES + 8 * 256 * 4;
/**
 * Room for so many more samples behind the longest series that is accepted: a block of so many bytes may be
 * written there before they are counted, and a series is filled up to whole vectors.
 */
export const SAMPLES_SLACK: i32 = 64;

/** Room behind the input for zero bytes, which the parser writes: blocks are read beyond the end. */
export const INPUT_PADDING: usize = 128;
