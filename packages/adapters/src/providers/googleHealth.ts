import type { Span, Stage } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { durations, stretches } from '../durations.js';
import { changedMs, fieldsOf, recordsOf, timesOf, type Field } from '../field.js';
import { firstFrom, grouped } from '../ordered.js';
import { sleepRecords, type Records, type SleepDetails, type SleepRecord } from '../records.js';
import { series, type Series } from '../series.js';

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

const STAGES: Readonly<Record<string, Stage | 'asleep'>> = {
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

function recordsIn(input: GoogleHealthInput): Records {
  const sent = fieldsOf(input);
  const breaths = (pointsOf(sent('respiratory_rate'), 'respiratoryRateSleepSummary') ?? [])
    .map(({ field }) => ({ field, atMs: sampleMs(field) }))
    .toSorted((a, b) => a.atMs - b.atMs);
  const records = pointsOf(sent('sleep'), 'sleep');
  const hearts = sent('heart_rate');
  return {
    sleeps:
      records &&
      sleepRecords(
        records,
        (point) => recordOf(point, breaths),
        ({ field }) => field,
      ),
    heart: bySource(
      hearts.has('dataPoints') ? hearts.get('dataPoints') : hearts,
      pointsOf(hearts, 'heartRate') ?? [],
    ),
  };
}

/** The content of a point for its type, and its source. */
interface Point {
  readonly field: Field;
  readonly source: string | undefined;
}

/** If there are only points of other types, as in the answer for another data type, that is an error. */
function pointsOf(sent: Field, type: string): Point[] | undefined {
  const what = `the answer of …/dataPoints, with dataPoints of ${type}`;
  const points = recordsOf(sent, { list: ['dataPoints'], omitsEmpty: true, what });
  const found = points
    ?.map((point) => ({ field: point.get(type), source: sourceOf(point.get('dataSource')) }))
    .filter(({ field }) => !field.isAbsent);
  return found?.length === 0 && points?.length !== 0 ? sent.expected(what) : found;
}

/** The app that wrote a point, else its platform. `reconcile` returns one stream and names no source. */
function sourceOf(field: Field): string | undefined {
  return field.get('application', 'packageName').text() ?? field.get('platform').text();
}

/** `list` answers with the points of every device and app. */
function bySource(field: Field, points: readonly Point[]): Series[] {
  const value = (one: Field) => one.get('beatsPerMinute').quotedNumber();
  return [...grouped(points, ({ source }) => source)].map(
    ([source, own]) =>
    series(field, own.map((point) => point.field), sampleMs, value, source), // prettier-ignore
  );
}

function sampleMs(point: Field): number {
  return point.get('sampleTime', 'physicalTime').moment();
}

function recordOf({ field, source }: Point, breaths: readonly Summary[]): SleepRecord {
  const span = timesOf(field.get('interval', 'startTime'), field.get('interval', 'endTime'));
  const read = (): SleepDetails => {
    const average = nearest(span, breaths)?.get('fullSleepStats', 'breathsPerMinute');
    return { ...stagesOf(field, span), ...(average !== undefined && { breathAverage: average }) };
  };
  const isProcessed = field.get('metadata', 'processed');
  return {
    field,
    ...span,
    eastMs: secondsOf(field.get('interval', 'endUtcOffset')),
    changedMs: changedMs(field.get('updateTime')),
    state: isProcessed.isAbsent || isProcessed.flag() ? undefined : 'processing',
    isNap: field.get('metadata', 'nap').flag(),
    isMain: field.get('metadata', 'mainSleep').flag(),
    source,
    read,
  };
}

/** A summary of a sleep's breathing. */
interface Summary {
  readonly field: Field;
  readonly atMs: number;
}

/** The summary nearest to the end of a sleep. @param breaths  oldest first */
function nearest({ fromMs, toMs }: Span, breaths: readonly Summary[]): Field | undefined {
  const index = firstFrom(toMs, breaths, ({ atMs }) => atMs);
  const [before, after] = [breaths[index - 1], breaths[index]];
  const early = before === undefined || before.atMs < fromMs ? Infinity : toMs - before.atMs;
  const late = after === undefined ? Infinity : after.atMs - toMs;
  if (late <= SUMMARY_LATE_MAX_MS && late <= early) return after?.field;
  return early === Infinity ? undefined : before?.field;
}

/** "3600s", as protocol buffers write a duration; in milliseconds. */
function secondsOf(field: Field): number | undefined {
  const found = /^(-?\d+)s$/.exec(field.text() ?? '');
  return found === null ? undefined : field.as(Number(found[1])).eastSeconds();
}

function stagesOf(field: Field, span: Span) {
  const summary = field.get('summary');
  const asleep = summary.get('minutesAsleep').quotedNumber();
  const awake = summary.get('minutesAwake').quotedNumber();
  if (field.get('type').text() === 'CLASSIC') {
    // Asleep or not is all that it knows; restless counts as awake, as in minutesAsleep.
    return durations(summary, span, 'minutes', { asleep, awake });
  }
  const minutes: { [S in Stage | 'asleep']?: number | undefined } = { asleep };
  for (const one of summary.get('stagesSummary').items()) {
    const stage = one.get('type').named(STAGES);
    if (stage !== undefined && stage !== 'asleep') minutes[stage] = one.get('minutes').quotedNumber();
  }
  if (Object.keys(minutes).length > 1)
    return durations(summary, span, 'minutes', { ...minutes, awake: minutes.awake ?? awake });
  const intervals = field
    .get('stages')
    .items()
    .map((one) => ({
      stage: one.get('type').named(STAGES),
      from: one.get('startTime').moment(),
      to: one.get('endTime').moment(),
    }));
  // The stretches may be those of a part of the sleep: what the summary says of all of it goes before their sums.
  const stated = {
    asleep: asleep === undefined ? undefined : asleep * 60,
    awake: awake === undefined ? undefined : awake * 60,
  };
  return stretches(intervals.length === 0 ? summary : field.get('stages'), span, intervals, stated);
}
