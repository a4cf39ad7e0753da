import type { Kind, Span } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { recordsOf, type Field, type Sent } from '../field.js';
import { firstFrom } from '../ordered.js';
import { sleepRecords, type Records, type SentSleep, type SleepDetails } from '../records.js';
import { seriesOfEach } from '../series.js';

/**
 * Google Health API v4, the successor of the Fitbit Web API: https://developers.google.com/health/reference/rest/v4,
 * 2026-11-22. Durations are minutes, whole numbers are in quotes. Breathing is one average for each sleep.
 */
export interface GoogleHealthInput extends AdapterOptions {
  /** The answers of `GET /v4/users/me/dataTypes/{dataType}/dataPoints`, or `…/dataPoints:reconcile`, for `sleep`, */
  readonly sleep?: unknown;
  /** `heart-rate`, */
  readonly heart_rate?: unknown;
  /** and `respiratory-rate-sleep-summary`. */
  readonly respiratory_rate?: unknown;
}

const STAGES: Readonly<Record<string, Kind>> = {
  DEEP: 'deep',
  REM: 'rem',
  LIGHT: 'light',
  AWAKE: 'awake',
  ASLEEP: 'asleep',
  RESTLESS: 'awake',
};

/** The summary of a sleep is dated within it, or soon after. */
const SUMMARY_LATE_MAX_MS = 12 * 3_600_000;

/** The session of the Google Health API's answers. */
export const fromGoogleHealth = /* @__PURE__ */ adapter(
  'google_health',
  ['sleep', 'heart_rate', 'respiratory_rate'],
  recordsIn,
);

function recordsIn(sent: Sent<GoogleHealthInput>): Records {
  const breaths = (pointsOf(sent('respiratory_rate'), 'respiratoryRateSleepSummary') ?? [])
    .map((point) => point.get('respiratoryRateSleepSummary'))
    .map((field) => ({ field, atMs: sampleMs(field) }))
    .toSorted((a, b) => a.atMs - b.atMs);
  const hearts = sent('heart_rate');
  const list = hearts.has('dataPoints') ? hearts.get('dataPoints') : hearts;
  return {
    sleeps: sleepRecords(pointsOf(sent('sleep'), 'sleep'), (point) => sleepOf(point, breaths)),
    // `list` answers with the points of every device and app.
    heart: seriesOfEach(list, pointsOf(hearts, 'heartRate') ?? [], beatMs, beats, sourceOf),
  };
}

/** A summary of a sleep's breathing. */
type Dated = { readonly field: Field; readonly atMs: number };

/** If there are only points of other types, as in the answer for another data type, that is an error. */
function pointsOf(sent: Field, type: string): Field[] | undefined {
  const what = `the answer of …/dataPoints, with dataPoints of ${type}`;
  const points = recordsOf(sent, { list: ['dataPoints'], omitsEmpty: true, what });
  const found = points?.filter((point) => !point.get(type).isAbsent);
  return found?.length === 0 && points?.length !== 0 ? sent.expected(what) : found;
}

/** The app that wrote a point, else its platform. `reconcile` returns one stream and names no source. */
function sourceOf(point: Field): string | undefined {
  const source = point.get('dataSource');
  return source.get('application', 'packageName').text() ?? source.get('platform').text();
}

const beatMs = (point: Field) => sampleMs(point.get('heartRate'));
const beats = (point: Field) => point.get('heartRate', 'beatsPerMinute').quotedNumber();

function sampleMs(sample: Field): number {
  return sample.get('sampleTime', 'physicalTime').moment();
}

function sleepOf(point: Field, breaths: readonly Dated[]): SentSleep {
  const field = point.get('sleep');
  const [interval, metadata] = [field.get('interval'), field.get('metadata')];
  const read = (span: Span): SleepDetails => {
    const average = nearest(span, breaths)?.get('fullSleepStats', 'breathsPerMinute');
    return { ...stagesOf(field, span), ...(average !== undefined && { breathAverage: average }) };
  };
  return {
    field,
    from: interval.get('startTime'),
    to: interval.get('endTime'),
    eastMs: (ms) => interval.get('endUtcOffset').offset(ms),
    changed: field.get('updateTime'),
    state: metadata.get('processed').isAbsent || metadata.get('processed').flag() ? undefined : 'processing',
    isNap: metadata.get('nap').flag(),
    isMain: metadata.get('mainSleep').flag(),
    source: sourceOf(point),
    read,
  };
}

/** The summary nearest to the end of a sleep. @param breaths  oldest first */
function nearest({ fromMs, toMs }: Span, breaths: readonly Dated[]): Field | undefined {
  const index = firstFrom(toMs, breaths, ({ atMs }) => atMs);
  const [before, after] = [breaths[index - 1], breaths[index]];
  const early = before === undefined || before.atMs < fromMs ? Infinity : toMs - before.atMs;
  const late = after === undefined ? Infinity : after.atMs - toMs;
  if (late <= SUMMARY_LATE_MAX_MS && late <= early) return after?.field;
  return early === Infinity ? undefined : before?.field;
}

function stagesOf(field: Field, span: Span) {
  const [summary, stages] = [field.get('summary'), field.get('stages')];
  const asleep = summary.get('minutesAsleep').quotedNumber();
  const awake = summary.get('minutesAwake').quotedNumber();
  // Asleep or not is all that it knows; restless counts as awake, as in minutesAsleep.
  if (field.get('type').text() === 'CLASSIC') return durations(summary, span, 'minutes', { asleep, awake });
  const minutes: { [S in Kind]?: number | undefined } = { awake, asleep };
  for (const one of summary.get('stagesSummary').items()) {
    const stage = one.get('type').named(STAGES);
    if (stage !== undefined && stage !== 'asleep') minutes[stage] = one.get('minutes').quotedNumber();
  }
  const stageOf = (one: Field) => ({
    stage: one.get('type').named(STAGES),
    from: one.get('startTime').moment(),
    to: one.get('endTime').moment(),
  });
  return durations(summary, span, 'minutes', minutes, [stages, () => stages.items().map(stageOf)]);
}
