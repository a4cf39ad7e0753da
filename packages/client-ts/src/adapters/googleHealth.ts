import type { Stage } from '../sleep.js';
import { Field } from './field.js';
import { adapt, durations, series, stretches } from './night.js';
import type { Adapted, AdapterOptions, SleepDetails, SleepRecord } from './night.js';

/**
 * Google Health API v4, in the place of the Fitbit Web API: https://developers.google.com/health/reference/rest/v4,
 * 2026-11-22. Durations are minutes, whole numbers stand in quotes. Breathing is one average for each sleep.
 */
export interface GoogleHealthInput extends AdapterOptions {
  /** The answers of `GET /v4/users/me/dataTypes/{dataType}/dataPoints` for `sleep`, */
  readonly sleep?: unknown;
  /** `heart-rate`, */
  readonly heartRate?: unknown;
  /** and `respiratory-rate-sleep-summary`. */
  readonly respiratoryRate?: unknown;
}

const STAGES: Readonly<Record<string, Stage | 'asleep'>> = {
  DEEP: 'deep',
  REM: 'rem',
  LIGHT: 'light',
  AWAKE: 'awake',
  ASLEEP: 'asleep',
  RESTLESS: 'awake',
};

/** The summary of a sleep is of its time, or soon after. */
const SUMMARY_LATE_MAX_MS = 12 * 3_600_000;

/** The session of what the Google Health API sent. */
export function fromGoogleHealth({
  sleep,
  heartRate,
  respiratoryRate,
  ...options
}: GoogleHealthInput): Adapted {
  const breaths = pointsOf(respiratoryRate, 'respiratoryRate', 'respiratoryRateSleepSummary');
  const records = pointsOf(sleep, 'sleep', 'sleep').map((point) => recordOf(point, breaths));
  const hearts = pointsOf(heartRate, 'heartRate', 'heartRate');
  const value = (one: Field) => one.get('beatsPerMinute').quotedNumber();
  const heart = series(new Field(heartRate, 'heartRate').get('dataPoints'), hearts, sampleMs, value);
  return adapt(options, sleep === undefined ? undefined : records, [heart]);
}

function pointsOf(sent: unknown, name: string, type: string): Field[] {
  const points = new Field(sent, name).get('dataPoints').items();
  return points.map((point) => point.get(type)).filter((point) => !point.isAbsent);
}

function sampleMs(point: Field): number {
  return point.get('sampleTime', 'physicalTime').moment();
}

function recordOf(field: Field, breaths: readonly Field[]): SleepRecord {
  const span = {
    fromMs: field.get('interval', 'startTime').moment(),
    toMs: field.get('interval', 'endTime').moment(),
  };
  const read = (): SleepDetails => {
    const [breath] = breaths
      .filter((one) => sampleMs(one) >= span.fromMs && sampleMs(one) <= span.toMs + SUMMARY_LATE_MAX_MS)
      .toSorted((a, b) => Math.abs(sampleMs(a) - span.toMs) - Math.abs(sampleMs(b) - span.toMs));
    const average = breath?.get('fullSleepStats', 'breathsPerMinute');
    return { ...stagesOf(field, span), ...(average !== undefined && { breathAverage: average }) };
  };
  return { field, ...span, isNap: field.get('metadata', 'nap').flag(), read };
}

function stagesOf(field: Field, span: { fromMs: number; toMs: number }) {
  const summary = field.get('summary');
  const asleep = summary.get('minutesAsleep').quotedNumber();
  if (field.get('type').text() === 'CLASSIC') {
    // Asleep or not is all that it knows; restless counts as awake, as in minutesAsleep.
    const awake = summary.get('minutesAwake').quotedNumber();
    return durations(summary, span, 'minutes', { asleep, awake });
  }
  const minutes: { [S in Stage | 'asleep']?: number | undefined } = { asleep };
  for (const one of summary.get('stagesSummary').items()) {
    const stage = STAGES[one.get('type').text() ?? ''];
    if (stage !== undefined && stage !== 'asleep') minutes[stage] = one.get('minutes').quotedNumber();
  }
  if (Object.keys(minutes).length > 1) return durations(summary, span, 'minutes', minutes);
  const intervals = field
    .get('stages')
    .items()
    .map((one) => ({
      stage: STAGES[one.get('type').text() ?? ''],
      from: one.get('startTime').moment(),
      to: one.get('endTime').moment(),
    }));
  return stretches(field.get('stages'), span, intervals);
}
