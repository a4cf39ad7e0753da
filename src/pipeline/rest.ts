import { HOUR_AT_REST } from '../contract/features.js';
import { LAYOUT } from '../records/layout.js';
import { summaryAt } from '../records/places.js';

/** What an hour not at rest takes out of a session. */
export const HOUR_FIELDS: readonly string[] = ['HR_day_1h', 'RR_day_1h'];

const { COUNT, LEVEL } = LAYOUT;
const DAY = summaryAt(0, 'HR_day_1h');
const NIGHT = summaryAt(0, 'HR_night');

/** Whether the hour by day of the record that begins at `records[record]` was spent at rest, as far as its heart rate tells. */
export function isAtRest(records: Float64Array, record: number): boolean {
  if (!(records[record + DAY + COUNT]! > 0)) return true; // within a record, as below
  const isNightKnown = records[record + NIGHT + COUNT]! > 0;
  const most = isNightKnown ? records[record + NIGHT + LEVEL]! + HOUR_AT_REST.aboveNight : HOUR_AT_REST.most;
  return records[record + DAY + LEVEL]! <= most;
}
