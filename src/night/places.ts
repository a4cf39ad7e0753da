import { LABEL_FIELDS, SCORE_FIELDS, type SeriesField, SESSION_SCALARS } from '#rules/fields.js';
import { LAYOUT } from './layout.js';
import type { ScoreRecord, SessionFrame } from '../contract/request.js';

/** Where the single-value fields are in a record. */
export const SCALAR_PLACES = Object.fromEntries(
  SESSION_SCALARS.map((field, place) => [field, place]),
) as Readonly<Record<(typeof SESSION_SCALARS)[number], number>>;

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

const SEX_VALUES = { M: 1, F: -1 } as const;

/** Writes the scalars of a session to the record that starts at `records[record]`; a missing one is NaN. */
export function writeScalars(frame: SessionFrame, records: Float64Array, record: number): void {
  for (const field of SESSION_SCALARS) {
    const value = frame[field];
    records[record + SCALAR_PLACES[field]] = typeof value === 'string' ? SEX_VALUES[value] : (value ?? NaN);
  }
}

/** Writes a past target to `targets[offset …]`: five scores, then the labels as 1 (High) or −1 (Low). */
export function writeTarget(target: ScoreRecord, targets: Float64Array, offset: number): void {
  let at = offset;
  for (const field of SCORE_FIELDS) targets[at++] = target[field];
  for (const field of LABEL_FIELDS) targets[at++] = target[field] === 'High' ? 1 : -1;
}
