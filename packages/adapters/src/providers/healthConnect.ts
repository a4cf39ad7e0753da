import type { Stage } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { stretches } from '../durations.js';
import { changedMs, fieldsOf, recordsOf, timesOf, type Field } from '../field.js';
import { sleepRecords, type Records, type SleepRecord } from '../records.js';
import { namedSeries } from '../series.js';
import { offsetMs } from '../zone.js';

/**
 * Health Connect (Android): the records by the names of their fields in
 * https://developer.android.com/reference/kotlin/androidx/health/connect/client/records, 2026-11-22, with times in
 * ISO 8601. An app has to send them: Health Connect itself has no JSON.
 */
export interface HealthConnectInput extends AdapterOptions {
  /** Records of `SleepSessionRecord`, */
  readonly sleep?: unknown;
  /** `HeartRateRecord`, */
  readonly heart_rate?: unknown;
  /** and `RespiratoryRateRecord`. */
  readonly respiratory_rate?: unknown;
}

/** By number; 0 is unknown. */
const STAGES: readonly (Stage | 'asleep' | undefined)[] = [
  undefined,
  'awake',
  'asleep',
  'awake',
  'light',
  'deep',
  'rem',
  'awake',
];

/** The session of Health Connect's records. */
export const fromHealthConnect = /* @__PURE__ */ adapter(
  'health_connect',
  ['sleep', 'heart_rate', 'respiratory_rate'],
  recordsIn,
);

function recordsIn(input: HealthConnectInput): Records {
  const sent = fieldsOf(input);
  const hearts = sent('heart_rate');
  const samples = listOf(hearts, 'HeartRateRecord')?.flatMap((record) => record.get('samples').items());
  const breaths = sent('respiratory_rate');
  const rates = listOf(breaths, 'RespiratoryRateRecord');
  const sessions = listOf(sent('sleep'), 'SleepSessionRecord');
  return {
    sleeps: sessions && sleepRecords(sessions, recordOf),
    heart: [namedSeries(hearts, samples ?? [], 'time', 'beatsPerMinute')],
    breath: [namedSeries(breaths, rates ?? [], 'time', 'rate')],
  };
}

function listOf(sent: Field, type: string): Field[] | undefined {
  return recordsOf(sent, { isList: true, what: `a list of ${type}` });
}

/** A session without stages says when a person was in bed, not how long they slept. */
function recordOf(field: Field): SleepRecord {
  const { eastMs, ...span } = timesOf(field.get('startTime'), field.get('endTime'));
  const stages = field.get('stages');
  const read = () => {
    const intervals = stages.items().map((one) => ({
      stage: STAGES[one.get('stage').number() ?? 0],
      from: one.get('startTime').moment(),
      to: one.get('endTime').moment(),
    }));
    return stretches(stages, span, intervals);
  };
  const eastEnd = eastOf(field.get('endZoneOffset')) ?? eastMs;
  const changed = changedMs(field.get('metadata', 'lastModifiedTime'));
  return { field, ...span, eastMs: eastEnd, source: appOf(field), changedMs: changed, read };
}

/** An offset as text, or as React Native's object of it. */
function eastOf(offset: Field): number | undefined {
  return offset.isObject ? offset.get('totalSeconds').eastSeconds() : offsetMs(offset.text() ?? '');
}

/** The package of the app that wrote it: a string, or an object with the name. */
function appOf(field: Field): string | undefined {
  const origin = field.get('metadata', 'dataOrigin');
  return origin.isText ? origin.text() : origin.get('packageName').text();
}
