import { MEASUREMENTS_MAX, PAST_MAX, SESSION_SCALARS, TARGET_FIELDS } from './rules';

/**
 * Offsets in the parser's memory, in bytes. The host reads the exported offsets: there is no second copy of this
 * table.
 */

/** Sessions of one request: the current one first, then the past ones, oldest first. */
export const SESSIONS_MAX: i32 = 1 + PAST_MAX;

/**
 * A record is its scalars in the order of the rules, the sex last, and four summaries, all f64; a missing scalar is NaN.
 */
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
export const SEX: i32 = SESSION_SCALARS - 1;
export const SCALARS: i32 = SESSION_SCALARS;

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

/** The compiler's own data (tables, the names of fields) is below; `initialise` checks that. */
export const RECORDS: usize = 16_384;
export const TARGETS: usize = RECORDS + SESSIONS_MAX * RECORD_LENGTH * 8;
export const HISTOGRAM_BINS: i32 = 512;
/** Histogram of the current series, all zero between two series: four tables of u32. */
export const HISTOGRAM: usize = (TARGETS + (SESSIONS_MAX - 1) * TARGET_LENGTH * 8 + 15) & ~15;
/** Its running sums: i32 each, with room for one vector before them. */
export const CUMULATIVE: usize = HISTOGRAM + 4 * HISTOGRAM_BINS * 4 + 16;
/** 10^0 … 10^22, all exact: f64 each. */
export const POWERS_OF_TEN: usize = CUMULATIVE + HISTOGRAM_BINS * 4;
export const EXACT_POWER_MAX: i32 = 22;
/** Number of unknown fields in the request read last: i32. */
export const UNKNOWN_FIELDS: usize = POWERS_OF_TEN + (EXACT_POWER_MAX + 1) * 8;
/** 1 if that request asks for an explanation, else 0: i32. */
export const EXPLAIN: usize = UNKNOWN_FIELDS + 4;
/** How many of its numbers took several times as long as usual: i32. Those left out count a quarter. */
export const SLOW_NUMBERS: usize = EXPLAIN + 4;
/**
 * Where in the input the array of each summary begins: u32 for every series of every record, 0 if the current input
 * has none. The exact path need not decode again what the fast path has summarised.
 */
export const SUMMARISED: usize = UNKNOWN_FIELDS + 16;
/** How many samples each of them has, sentinels included: u32. */
export const LENGTHS: usize = SUMMARISED + SESSIONS_MAX * 4 * 4;
/**
 * Where the texts of `history` and `night` begin, after their quotes, and where they end: u32; 0 for none. Then the
 * same for the bytes of a history's measurements, and where a session begins in the bytes of the history written last.
 */
export const TEXTS: usize = LENGTHS + SESSIONS_MAX * 4 * 4;
export const HISTORY_TEXT: i32 = 0;
export const NIGHT_TEXT: i32 = 1;
export const MEASURED_BYTES: i32 = 2;
export const NOTED_SESSION: i32 = 3;
/** Even, so that they are zeroed together with the data before them. */
export const TEXTS_LENGTH: i32 = 4;
/**
 * The finds of the exact path in an object or array: start and end of each value, u32 each, for every field by its
 * index, or for the first elements. A value with start 0 is absent.
 */
export const OUTLINE: usize = TEXTS + TEXTS_LENGTH * 8;
/** The longest list, plus one element. */
export const OUTLINE_LENGTH: i32 = MEASUREMENTS_MAX + 1;
/** Indexes of a session: its scalars as above, its recording, its series, then their aliases. */
export const RECORDING_INDEX: i32 = SCALARS;
export const SERIES_INDEX: i32 = 16;
export const SERIES_ALIAS_INDEX: i32 = SERIES_INDEX + 4;
/** Invalid elements of a series: their number, then the index of each, or −1 − index if it is not a number. */
export const MISFITS: usize = (OUTLINE + OUTLINE_LENGTH * 8 + 15) & ~15;
export const MISFITS_MAX: i32 = 8;
/** A key with its escapes decoded, up to the length of a known one. */
export const KEY: usize = (MISFITS + 4 + MISFITS_MAX * 4 + 15) & ~15;
export const KEY_MAX: i32 = 24;
/**
 * The content of a history, as `readHistory` leaves it and `writeHistory` takes it: the number of sessions and of nights in its long run, u32
 * each.
 */
export const HISTORY: usize = (KEY + KEY_MAX + 8 + 15) & ~15;
export const HISTORY_NIGHTS: usize = HISTORY + 4;
/** One more than the sessions of a history: the current one gets a place there. */
export const HISTORY_PLACES: i32 = SESSIONS_MAX + 1;
export const LABELS: i32 = 2;
/**
 * For each session, f64: its day, NaN if undated; its record; its target; the probabilities of High, NaN if unknown.
 */
export const HISTORY_DAYS: usize = HISTORY + 8;
export const HISTORY_RECORDS: usize = HISTORY_DAYS + HISTORY_PLACES * 8;
export const HISTORY_TARGETS: usize = HISTORY_RECORDS + HISTORY_PLACES * RECORD_LENGTH * 8;
export const HISTORY_CHANCES: usize = HISTORY_TARGETS + HISTORY_PLACES * TARGET_LENGTH * 8;
/** For each quantity of the long run: weight, mean and spread, f32, and in how many nights it was known, u16. */
export const QUANTITIES: i32 = 20;
export const RUN_WEIGHTS: usize = HISTORY_CHANCES + HISTORY_PLACES * LABELS * 8;
export const RUN_MEANS: usize = RUN_WEIGHTS + QUANTITIES * 4;
export const RUN_SPREADS: usize = RUN_MEANS + QUANTITIES * 4;
export const RUN_COUNTS: usize = RUN_SPREADS + QUANTITIES * 4;
export const HISTORY_LENGTH: usize = RUN_COUNTS + QUANTITIES * 2 - HISTORY;
/**
 * The bytes of a history, or its text, which they replace. As many as the longest one has may be read before its end is
 * found.
 */
export const HISTORY_BYTES: usize = (HISTORY + HISTORY_LENGTH + 15) & ~15;
/** The value of each base64url character, u8, and tables for a CRC-32 of eight bytes at once, u32. */
export const BASE64: usize = HISTORY_BYTES + 2_048;
export const CRC_TABLES: usize = BASE64 + 256;
/** The samples of the current series: f32 each. */
export const SAMPLES: usize = CRC_TABLES + 8 * 256 * 4;
/**
 * Room for this many more samples after the longest accepted series: a block of 64 bytes may be written there before
 * they are counted, and a series is padded to whole vectors.
 */
export const SAMPLES_SLACK: i32 = 64;

/** Room after the input for zero bytes, which the parser writes: blocks are read beyond the end. */
export const INPUT_PADDING: usize = 128;
