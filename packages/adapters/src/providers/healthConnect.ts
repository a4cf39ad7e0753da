import type { Kind, Span } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { stretches } from '../durations.js';
import { listOf, type Field, type Sent } from '../field.js';
import { sleepRecords, type Records, type SentSleep } from '../records.js';
import { byDevice, series, seriesOfEach } from '../series.js';

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
const STAGES: readonly (Kind | undefined)[] = [
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

function recordsIn(sent: Sent<HealthConnectInput>): Records {
  const hearts = sent('heart_rate');
  const ofApps = byDevice(hearts, listOf(hearts, 'HeartRateRecord') ?? [], appOf);
  const samplesOf = (records: readonly Field[]) => records.flatMap((record) => record.get('samples').items());
  const breaths = sent('respiratory_rate');
  const rates = listOf(breaths, 'RespiratoryRateRecord');
  return {
    sleeps: sleepRecords(listOf(sent('sleep'), 'SleepSessionRecord'), sleepOf),
    heart: [...ofApps].map(([app, own]) => series(hearts, samplesOf(own), 'time', 'beatsPerMinute', app)),
    breath: seriesOfEach(breaths, rates ?? [], 'time', 'rate', appOf),
  };
}

/** A session without stages says when a person was in bed, not how long they slept. */
function sleepOf(field: Field): SentSleep {
  const [stages, to] = [field.get('stages'), field.get('endTime')];
  const stageOf = (one: Field) => ({
    stage: STAGES[one.get('stage').number() ?? 0],
    from: one.get('startTime').moment(),
    to: one.get('endTime').moment(),
  });
  return {
    field,
    from: field.get('startTime'),
    to,
    eastMs: (ms) => field.get('endZoneOffset').offset(ms) ?? to.eastMs(),
    changed: field.get('metadata', 'lastModifiedTime'),
    source: appOf(field),
    read: (span: Span) => stretches(stages, span, stages.items().map(stageOf)),
  };
}

/** The package of the app that wrote it: a string, or an object with the name. */
function appOf(field: Field): string | undefined {
  const origin = field.get('metadata', 'dataOrigin');
  return origin.isText ? origin.text() : origin.get('packageName').text();
}
