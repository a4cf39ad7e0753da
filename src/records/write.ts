import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { ScoreRecord, SessionFrame } from '../contract/request.js';
import { LAYOUT } from './layout.js';

/** The fields of a session that are not series. */
export type SessionScalars = SessionFrame;

const NO_VALUE = NaN;

/** Writes the scalars of a session to the record that starts at `records[record]`. */
export function writeScalars(frame: SessionScalars, records: Float64Array, record: number): void {
  records[record + LAYOUT.SLEEP_TIME] = frame.sleepTimeSeconds ?? NO_VALUE;
  records[record + LAYOUT.DEEP] = frame.deepSleepSeconds ?? NO_VALUE;
  records[record + LAYOUT.REM] = frame.remSleepSeconds ?? NO_VALUE;
  records[record + LAYOUT.LIGHT] = frame.lightSleepSeconds ?? NO_VALUE;
  records[record + LAYOUT.AWAKE] = frame.awakeSleepSeconds ?? NO_VALUE;
  records[record + LAYOUT.DEEP_SHARE] = frame.deepPercentage ?? NO_VALUE;
  records[record + LAYOUT.REM_SHARE] = frame.remPercentage ?? NO_VALUE;
  records[record + LAYOUT.LIGHT_SHARE] = frame.lightPercentage ?? NO_VALUE;
  records[record + LAYOUT.AGE] = frame.age ?? NO_VALUE;
  records[record + LAYOUT.HEIGHT] = frame.height_cm ?? NO_VALUE;
  records[record + LAYOUT.WEIGHT] = frame.weight_kg ?? NO_VALUE;
  records[record + LAYOUT.SEX] = frame.sex === 'M' ? 1 : frame.sex === 'F' ? -1 : NO_VALUE;
}

/** Writes a past target to `targets[offset …]`: five scores, then the labels as 1 (High) or −1 (Low). */
export function writeTarget(target: ScoreRecord, targets: Float64Array, offset: number): void {
  let at = offset;
  for (const field of SCORE_FIELDS) targets[at++] = target[field];
  for (const field of LABEL_FIELDS) targets[at++] = target[field] === 'High' ? 1 : -1;
}
