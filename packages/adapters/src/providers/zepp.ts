import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { fieldsOf, recordsOf, timesOf, type Field } from '../field.js';
import { sleepRecords, type Records, type SleepRecord } from '../records.js';
import { series } from '../series.js';
import { cell } from '../tables.js';

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

function recordsIn(input: ZeppInput): Records {
  const sent = fieldsOf(input);
  const rows = (field: Field) =>
    recordsOf(field, { isList: true, what: 'a list of rows, as objects by the names of columns' });
  const nights = rows(sent('sleep'));
  const heart = rows(sent('heart_rate')) ?? [];
  return {
    sleeps: nights && sleepRecords(nights, recordOf),
    heart: [series(sent('heart_rate'), heart, momentOf, (row) => row.get('heartRate').quotedNumber())],
  };
}

function momentOf(row: Field): number {
  const [date, time] = [cell(row, 'date'), row.get('time')];
  return date.isAbsent ? time.moment() : time.as(`${date.text()} ${time.text()}`).moment();
}

function recordOf(field: Field): SleepRecord {
  const { fromMs, toMs, flaw } = timesOf(field.get('start'), field.get('stop'));
  const minutes = (name: string) => cell(field, name).quotedNumber();
  const read = () =>
    durations(field, { fromMs, toMs }, 'minutes', {
      deep: minutes('deepSleepTime'),
      rem: minutes('REMTime'),
      light: minutes('shallowSleepTime'),
      awake: minutes('wakeTime'),
    });
  // A day without a night has a row of zeros.
  return { field, fromMs, toMs, flaw, unusable: fromMs === toMs ? 'a day without sleep' : undefined, read };
}
