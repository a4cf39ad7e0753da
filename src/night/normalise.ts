import { normalise, type Sleep } from '#rules/sleep.js';
import { LAYOUT } from './layout.js';

/** Reads the sleep fields of the record that starts at `records[record]` into `sleep`, and normalises them. */
export function normaliseSleep(records: Float64Array, record: number, sleep: Sleep): void {
  // record + SCALARS ≤ records.length, and a missing scalar is NaN
  sleep.sleepS = records[record + LAYOUT.SLEEP_TIME]!;
  sleep.deepS = records[record + LAYOUT.DEEP]!;
  sleep.remS = records[record + LAYOUT.REM]!;
  sleep.lightS = records[record + LAYOUT.LIGHT]!;
  sleep.awakeS = records[record + LAYOUT.AWAKE]!;
  sleep.deepShare = records[record + LAYOUT.DEEP_SHARE]!;
  sleep.remShare = records[record + LAYOUT.REM_SHARE]!;
  sleep.lightShare = records[record + LAYOUT.LIGHT_SHARE]!;
  normalise(sleep);
}
