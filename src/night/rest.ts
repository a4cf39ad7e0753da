/** Whether the hour by day was one at rest: the network gets no other. */
import { HOUR_AT_REST } from '../contract/features.js';
import { LAYOUT } from './layout.js';
import { summaryAt } from './places.js';

/** The fields of a session that an hour not at rest invalidates. */
export const HOUR_FIELDS: readonly string[] = ['HR_day_1h', 'RR_day_1h'];

const { COUNT, LEVEL } = LAYOUT;
const DAY = summaryAt(0, 'HR_day_1h');
const NIGHT = summaryAt(0, 'HR_night');

/** Whether the hour by day in the record that starts at `records[record]` was at rest, judging by its heart rate. */
export function isAtRest(records: Float64Array, record: number): boolean {
  if (!(records[record + DAY + COUNT]! > 0)) return true; // within a record, as below
  const isNightKnown = records[record + NIGHT + COUNT]! > 0;
  const most = isNightKnown ? records[record + NIGHT + LEVEL]! + HOUR_AT_REST.aboveNight : HOUR_AT_REST.most;
  return records[record + DAY + LEVEL]! <= most;
}
