import type { SESSION_SCALARS, SeriesField } from '#rules/fields.js';
import { LAYOUT } from './layout.js';

/** Where the single-value fields are in a record. */
export const SCALAR_PLACES: Readonly<Record<(typeof SESSION_SCALARS)[number], number>> = {
  sleepTimeSeconds: LAYOUT.SLEEP_TIME,
  deepSleepSeconds: LAYOUT.DEEP,
  remSleepSeconds: LAYOUT.REM,
  lightSleepSeconds: LAYOUT.LIGHT,
  awakeSleepSeconds: LAYOUT.AWAKE,
  deepPercentage: LAYOUT.DEEP_SHARE,
  remPercentage: LAYOUT.REM_SHARE,
  lightPercentage: LAYOUT.LIGHT_SHARE,
  age: LAYOUT.AGE,
  height_cm: LAYOUT.HEIGHT,
  weight_kg: LAYOUT.WEIGHT,
  sex: LAYOUT.SEX,
};

/** The order of the series in a record. */
export const SERIES_PLACES: Readonly<Record<SeriesField, number>> = {
  HR_day_1h: LAYOUT.HR_DAY,
  RR_day_1h: LAYOUT.RR_DAY,
  HR_night: LAYOUT.HR_NIGHT,
  RR_night: LAYOUT.RR_NIGHT,
};

/** Where the summary of a series starts in `records`. */
export function summaryAt(session: number, field: SeriesField): number {
  return session * LAYOUT.RECORD_LENGTH + LAYOUT.SCALARS + SERIES_PLACES[field] * LAYOUT.SUMMARY_LENGTH;
}

/** Clears whole records: every scalar NaN, every series without samples. */
export function clearRecords(records: Float64Array): void {
  records.fill(0);
  for (let record = 0; record < records.length; record += LAYOUT.RECORD_LENGTH) {
    for (let place = 0; place < LAYOUT.SCALARS; place++) records[record + place] = NaN;
  }
}
