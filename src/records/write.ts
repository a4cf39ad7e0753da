import { LABEL_FIELDS, SCORE_FIELDS, SESSION_SCALARS } from '#rules/fields.js';
import type { ScoreRecord, SessionFrame } from '../contract/request.js';
import { SCALAR_PLACES } from './places.js';

const SEX_VALUES = { M: 1, F: -1 } as const;

/** The fields of a session that are not series. */
export type SessionScalars = SessionFrame;

/** Writes the scalars of a session to the record that starts at `records[record]`; a missing one is NaN. */
export function writeScalars(frame: SessionScalars, records: Float64Array, record: number): void {
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
