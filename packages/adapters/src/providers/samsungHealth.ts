import { adapter, type AdapterOptions } from '../adapt.js';
import { listOf, ROWS, type Field, type Sent } from '../field.js';
import { pieceRecords, type SentPiece } from '../pieces.js';
import { sleepRecords, type Records, type SentSleep } from '../records.js';
import { seriesOfEach } from '../series.js';
import type { Stage } from '../sleep.js';

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

const STAGES: ReadonlyMap<string, Stage> = new Map([
  ['40001', 'awake'],
  ['40002', 'light'],
  ['40003', 'deep'],
  ['40004', 'rem'],
]);
/** A prefix of some names of columns. */
const [SLEEP, HEART] = ['com.samsung.health.sleep.', 'com.samsung.health.heart_rate.'];

/** The session of Samsung Health's tables. */
export const fromSamsungHealth = /* @__PURE__ */ adapter(
  'samsung_health',
  ['sleep_stage', 'sleep', 'heart_rate'],
  recordsIn,
  { areTables: true },
);

function recordsIn(sent: Sent<SamsungHealthInput>): Records {
  const rows = (field: Field) => listOf(field.in('Z'), ROWS);
  const heart = rows(sent('heart_rate')) ?? [];
  return {
    sleeps: pieceRecords(rows(sent('sleep_stage')), stageOf, sleepRecords(rows(sent('sleep')), sessionOf)),
    heart: seriesOfEach(sent('heart_rate'), heart, momentOf, beatsOf, appOf),
  };
}

const momentOf = (row: Field) => row.cell('start_time', HEART).moment();
const beatsOf = (row: Field) => row.cell('heart_rate', HEART).quotedNumber();
const appOf = (row: Field) => row.cell('pkg_name', HEART).text();

function stageOf(row: Field): SentPiece {
  return {
    stage: STAGES.get(row.get('stage').textOrNumber() ?? ''),
    from: row.get('start_time'),
    to: row.get('end_time'),
    eastMs: row.cell('time_offset').offset(0),
    source: row.cell('pkg_name').text(),
  };
}

/** A night without stages says when a person was in bed, not how long they slept. */
function sessionOf(row: Field): SentSleep {
  return {
    field: row,
    from: row.cell('start_time', SLEEP),
    to: row.cell('end_time', SLEEP),
    eastMs: (ms) => row.cell('time_offset', SLEEP).offset(ms),
    source: row.cell('pkg_name', SLEEP).text(),
    read: () => ({}),
  };
}
