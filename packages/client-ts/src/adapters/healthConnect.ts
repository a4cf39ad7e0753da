import type { Stage } from '../sleep.js';
import { Field } from './field.js';
import { adapt, series, stretches } from './night.js';
import type { Adapted, AdapterOptions, SleepRecord } from './night.js';

/**
 * Health Connect (Android): the records by the names of their fields in
 * https://developer.android.com/reference/kotlin/androidx/health/connect/client/records, 2026-11-22, times as ISO 8601.
 * An app has to send them; Health Connect itself has no JSON.
 */
export interface HealthConnectInput extends AdapterOptions {
  /** Records of `SleepSessionRecord`, */
  readonly sleep?: unknown;
  /** `HeartRateRecord`, */
  readonly heartRate?: unknown;
  /** and `RespiratoryRateRecord`. */
  readonly respiratoryRate?: unknown;
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

/** The session of what an app read of Health Connect. */
export function fromHealthConnect({
  sleep,
  heartRate,
  respiratoryRate,
  ...options
}: HealthConnectInput): Adapted {
  const sleeps = new Field(sleep, 'sleep').items().map((record) => recordOf(record));
  const hearts = new Field(heartRate, 'heartRate');
  const samples = hearts.items().flatMap((record) => record.get('samples').items());
  const breaths = new Field(respiratoryRate, 'respiratoryRate');
  const atMs = (one: Field) => one.get('time').moment();
  return adapt(
    options,
    sleep === undefined ? undefined : sleeps,
    [series(hearts, samples, atMs, (one) => one.get('beatsPerMinute').number())],
    [series(breaths, breaths.items(), atMs, (one) => one.get('rate').number())],
  );
}

/** A session without stages says when somebody lay in bed, not how long they slept. */
function recordOf(field: Field): SleepRecord {
  const span = { fromMs: field.get('startTime').moment(), toMs: field.get('endTime').moment() };
  const stages = field.get('stages');
  const read = () => {
    const intervals = stages.items().map((one) => ({
      stage: STAGES[one.get('stage').number() ?? 0],
      from: one.get('startTime').moment(),
      to: one.get('endTime').moment(),
    }));
    return stretches(stages, span, intervals);
  };
  return { field, ...span, isNap: false, read };
}
