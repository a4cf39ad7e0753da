import { adapter, type AdapterOptions } from '../adapt.js';
import { fieldsOf, recordsOf, spanOf, timesOf, type Field } from '../field.js';
import { readEach, sleepsOfPieces, type Piece } from '../pieces.js';
import type { Records, SleepRecord } from '../records.js';
import { series } from '../series.js';
import type { Stage } from '../sleep.js';
import { cell, eastOf } from '../tables.js';

/**
 * Samsung Health: rows of the tables of its export (Settings, Download personal data), 2026-11-28. Times are UTC, and
 * the person's offset stands beside them.
 */
export interface SamsungHealthInput extends AdapterOptions {
  /** Rows of `com.samsung.health.sleep_stage`. */
  readonly sleep_stage?: unknown;
  /** Rows of `com.samsung.shealth.sleep`: of nights without stages. */
  readonly sleep?: unknown;
  /** Rows of `com.samsung.shealth.tracker.heart_rate`. */
  readonly heart_rate?: unknown;
}

const STAGES: Readonly<Record<string, Stage>> = {
  40001: 'awake',
  40002: 'light',
  40003: 'deep',
  40004: 'rem',
};
/** What stands before some names of columns. */
const [SLEEP, HEART] = ['com.samsung.health.sleep.', 'com.samsung.health.heart_rate.'];

/** The session of Samsung Health's tables. */
export const fromSamsungHealth = /* @__PURE__ */ adapter(
  'samsung_health',
  ['sleep_stage', 'sleep', 'heart_rate'],
  recordsIn,
  { areTables: true },
);

function recordsIn(input: SamsungHealthInput): Records {
  const sent = fieldsOf(input);
  const rows = (field: Field) =>
    recordsOf(field.in('Z'), { isList: true, what: 'a list of rows, as objects by the names of columns' });
  const stages = rows(sent('sleep_stage'));
  const staged = new Set(stages?.map((row) => row.get('sleep_id').text()));
  const sessions = rows(sent('sleep'))?.filter((row) => !staged.has(cell(row, 'datauuid', SLEEP).text()));
  const heart = rows(sent('heart_rate')) ?? [];
  const { found: pieces, unread } = readEach(stages ?? [], pieceOf);
  const beats = (row: Field) => cell(row, 'heart_rate', HEART).quotedNumber();
  return {
    sleeps: (stages ?? sessions) && [...sleepsOfPieces(pieces), ...(sessions ?? []).map(sessionOf)],
    heart: [series(sent('heart_rate'), heart, (row) => cell(row, 'start_time', HEART).moment(), beats)],
    unread,
  };
}

function pieceOf(row: Field): Piece {
  const stage = row.get('stage').textOrNumber() ?? '';
  const { fromMs: from, toMs: to } = spanOf(row.get('start_time'), row.get('end_time'));
  const source = cell(row, 'pkg_name').text() ?? '';
  return { field: row, stage: STAGES[stage], from, to, eastMs: eastOf(cell(row, 'time_offset')), source };
}

/** A night without stages says when a person was in bed, not how long they slept. */
function sessionOf(row: Field): SleepRecord {
  const [from, to] = [cell(row, 'start_time', SLEEP), cell(row, 'end_time', SLEEP)];
  const eastMs = eastOf(cell(row, 'time_offset', SLEEP));
  return {
    field: row,
    ...timesOf(from, to),
    eastMs,
    source: cell(row, 'pkg_name', SLEEP).text(),
    read: () => ({}),
  };
}
