import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { listOf, ROWS, type Field, type Sent } from '../field.js';
import { sleepRecords, type Records, type SentSleep, type SleepDetails } from '../records.js';
import { series } from '../series.js';
import type { Span } from '../sleep.js';

/**
 * Zepp (Amazfit, and Mi Band by its former app): rows of the tables of its export (Profile, Privacy, Export data),
 * 2026-11-28. Durations are minutes; the times of SLEEP are UTC, those of HEARTRATE_AUTO local.
 */
export interface ZeppInput extends AdapterOptions {
  /** Rows of `SLEEP`. */
  readonly sleep?: unknown;
  /** Rows of `HEARTRATE_AUTO` or `HEARTRATE`. */
  readonly heart_rate?: unknown;
}

/** The session of Zepp's tables. */
export const fromZepp = /* @__PURE__ */ adapter('zepp', ['sleep', 'heart_rate'], recordsIn, {
  areTables: true,
});

function recordsIn(sent: Sent<ZeppInput>): Records {
  const heart = listOf(sent('heart_rate'), ROWS) ?? [];
  return {
    sleeps: sleepRecords(listOf(sent('sleep'), ROWS), sleepOf),
    heart: [series(sent('heart_rate'), heart, momentOf, (row) => row.get('heartRate').quotedNumber())],
  };
}

function momentOf(row: Field): number {
  const [date, time] = [row.cell('date'), row.get('time')];
  return date.isAbsent ? time.moment() : time.as(`${date.text()} ${time.text()}`).moment();
}

function sleepOf(field: Field): SentSleep {
  const [from, to] = [field.get('start'), field.get('stop')];
  const naps = field.cell('naps');
  const hasNaps = naps.isText && naps.text() !== '[]';
  const read = (span: Span): SleepDetails => {
    const columns = ['deepSleepTime', 'REMTime', 'shallowSleepTime', 'wakeTime'];
    const [deep, rem, light, awake] = columns.map((name) => field.cell(name).quotedNumber());
    const { left = [], ...rest } = durations(field, span, 'minutes', { deep, rem, light, awake });
    return { ...rest, left: hasNaps ? [...left, { what: naps.place, why: 'naps are not read' }] : left };
  };
  // A day without a night has a row of zeros.
  const unusable = !from.isAbsent && from.isSame(to) ? 'a day without sleep' : undefined;
  return { field, from, to, eastMs: () => undefined, unusable, read };
}
