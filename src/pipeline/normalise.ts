import { LAYOUT } from './wasmParser.js';

/** Sleep in one unit; what could not be derived is NaN. Durations in seconds, shares as fractions. */
export class Sleep {
  sleepS = NaN;
  deepS = NaN;
  remS = NaN;
  lightS = NaN;
  awakeS = NaN;
  deepShare = NaN;
  remShare = NaN;
  lightShare = NaN;
}

/** Shares are fractions only where each is at most 1 and their sum at most this: room for rounding. */
const FRACTION_SUM_MAX = 1.05;

/**
 * Reads the sleep fields of the record that begins at `records[record]` into `sleep`: one scale for the shares,
 * one meaning for the sleep time, and what arithmetic can derive.
 */
export function normaliseSleep(records: Float64Array, record: number, sleep: Sleep): void {
  // record + SCALARS ≤ records.length, and a missing scalar is NaN
  sleep.sleepS = records[record + LAYOUT.SLEEP_TIME]!;
  sleep.deepS = records[record + LAYOUT.DEEP]!;
  sleep.remS = records[record + LAYOUT.REM]!;
  sleep.lightS = records[record + LAYOUT.LIGHT]!;
  sleep.awakeS = records[record + LAYOUT.AWAKE]!;
  const stagesS = sleep.deepS + sleep.remS + sleep.lightS;
  if (Number.isNaN(stagesS)) {
    readShares(records, record, sleep);
    deriveMissing(sleep);
    return;
  }
  // The stages are what was measured: whether sleepTimeSeconds holds awake time too no longer matters.
  sleep.sleepS = stagesS;
  sleep.deepShare = ratio(sleep.deepS, stagesS);
  sleep.remShare = ratio(sleep.remS, stagesS);
  sleep.lightShare = ratio(sleep.lightS, stagesS);
}

function readShares(records: Float64Array, record: number, sleep: Sleep): void {
  const deep = records[record + LAYOUT.DEEP_SHARE]!; // as above
  const rem = records[record + LAYOUT.REM_SHARE]!;
  const light = records[record + LAYOUT.LIGHT_SHARE]!;
  // NaN compares as false: an absent share speaks neither for nor against a scale.
  const tooLarge = deep > 1 || rem > 1 || light > 1;
  const scale = tooLarge || orZero(deep) + orZero(rem) + orZero(light) > FRACTION_SUM_MAX ? 0.01 : 1;
  sleep.deepShare = deep * scale;
  sleep.remShare = rem * scale;
  sleep.lightShare = light * scale;
}

/** A known value is never overwritten; every line does nothing where its inputs are missing (NaN). */
function deriveMissing(sleep: Sleep): void {
  sleep.deepShare = known(sleep.deepShare, 1 - sleep.remShare - sleep.lightShare);
  sleep.remShare = known(sleep.remShare, 1 - sleep.deepShare - sleep.lightShare);
  sleep.lightShare = known(sleep.lightShare, 1 - sleep.deepShare - sleep.remShare);
  sleep.sleepS = known(sleep.sleepS, ratio(sleep.deepS, sleep.deepShare));
  sleep.sleepS = known(sleep.sleepS, ratio(sleep.remS, sleep.remShare));
  sleep.sleepS = known(sleep.sleepS, ratio(sleep.lightS, sleep.lightShare));
  sleep.deepS = known(sleep.deepS, sleep.deepShare * sleep.sleepS);
  sleep.remS = known(sleep.remS, sleep.remShare * sleep.sleepS);
  sleep.lightS = known(sleep.lightS, sleep.lightShare * sleep.sleepS);
  sleep.deepS = known(sleep.deepS, sleep.sleepS - sleep.remS - sleep.lightS);
  sleep.remS = known(sleep.remS, sleep.sleepS - sleep.deepS - sleep.lightS);
  sleep.lightS = known(sleep.lightS, sleep.sleepS - sleep.deepS - sleep.remS);
  sleep.deepShare = known(sleep.deepShare, ratio(sleep.deepS, sleep.sleepS));
  sleep.remShare = known(sleep.remShare, ratio(sleep.remS, sleep.sleepS));
  sleep.lightShare = known(sleep.lightShare, ratio(sleep.lightS, sleep.sleepS));
}

/**
 * `value` where it is known, else what was derived. A derived negative is no knowledge, nor is the infinity that
 * division by a vanishing share gives.
 */
function known(value: number, derived: number): number {
  if (!Number.isNaN(value)) return value;
  return derived >= 0 && derived < Infinity ? derived : NaN;
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : NaN;
}

function orZero(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}
