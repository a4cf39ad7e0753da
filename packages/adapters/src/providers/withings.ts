import type { Kind, Span } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { durations, Stretches } from '../durations.js';
import { Field, recordsOf, type Sent } from '../field.js';
import { once } from '../ordered.js';
import { sleepRecords, type Records, type SentSleep } from '../records.js';
import { byDevice, Series } from '../series.js';

/**
 * Withings: https://developer.withings.com/api-reference (sleepv2-get, sleepv2-getsummary,
 * measurev2-getintradayactivity), 2026-11-22. Times are seconds since 1970, durations seconds. An error comes with HTTP 200 and a `status` other than 0.
 */
export interface WithingsInput extends AdapterOptions {
  /** The answer of `getsummary`, with the data fields of the stages, `hr_average` and `rr_average`. */
  readonly summary?: unknown;
  /** The answer of `get`, with the data fields `hr` and `rr`. */
  readonly sleep?: unknown;
  /** The answer of `getintradayactivity`, with the data fields `heart_rate` and `rr`, which a watch measured by day. */
  readonly activity?: unknown;
}

/** By number; 4 is entered by hand, 5 unknown. */
const STATES: readonly Kind[] = ['awake', 'light', 'deep', 'rem', 'asleep'];

/** The session of Withings' answers. */
export const fromWithings = /* @__PURE__ */ adapter('withings', ['summary', 'sleep', 'activity'], recordsIn);

function recordsIn(sent: Sent<WithingsInput>): Records {
  const parts = seriesOf(sent('sleep'), 'get') ?? [];
  const seen = sent('activity');
  const moments = momentsOf(seen);
  const samples = (name: string) => parts.map((part) => samplesOf(part.get(name), deviceOf(part)));
  const states = statesOf(parts);
  return {
    sleeps: sleepRecords(
      seriesOf(sent('summary'), 'getsummary'),
      (one) => sleepOf(one, states),
      (time) => time.unixSeconds(),
    ),
    heart: [...samples('hr'), ...seriesOfActivity(seen, moments, 'heart_rate')],
    breath: [...samples('rr'), ...seriesOfActivity(seen, moments, 'rr')],
  };
}

function checkStatus(answer: Field): void {
  const status = answer.isObject ? answer.get('status') : undefined;
  if ((status?.number() ?? 0) !== 0) status?.fail('the answer is an error');
}

/** `{"1772431200": {"heart_rate": 61, …}}`; an empty array if there are none. */
function momentsOf(answer: Field): [seconds: string, values: Field][] {
  if (answer.isAbsent) return [];
  checkStatus(answer);
  const body = answer.has('body') ? answer.get('body') : undefined;
  const moments = body?.has('series') === true ? body.get('series') : undefined;
  const isEmpty = moments?.isList === true && moments.items().length === 0;
  if (moments === undefined || (moments.isList && !isEmpty))
    return answer.expected('the answer of getintradayactivity, with body.series of moments');
  return isEmpty ? [] : moments.entries();
}

/** A watch beside a mat is another device: its samples count for the night only if the sleep's own device has none. */
function seriesOfActivity(
  activity: Field,
  moments: readonly [seconds: string, values: Field][],
  name: string,
): Series[] {
  const groups = byDevice(activity, moments, ([, values]) => deviceOf(values) ?? '');
  const field = new Field(undefined, name, undefined, activity);
  return [...groups].map(([source, group]) => {
    const samples = () => group.map(([seconds, values]) => ({ at: secondsMs(seconds, values), value: values.get(name).number() })); // prettier-ignore
    return new Series(field, samples, source);
  });
}

function deviceOf(field: Field): string | undefined {
  return field.get('hash_deviceid').text() ?? field.get('deviceid').text();
}

function seriesOf(answer: Field, action: string): Field[] | undefined {
  checkStatus(answer);
  const what = `the answer of ${action}, with body.series`;
  return recordsOf(answer, { list: ['body', 'series'], what });
}

function sleepOf(field: Field, states: () => Stretches): SentSleep {
  const data = field.get('data');
  return {
    field,
    from: field.get('startdate'),
    to: field.get('enddate'),
    eastMs: (ms) => field.get('timezone').offset(ms),
    source: deviceOf(field),
    changed: field.get('modified'),
    read: (span) => ({
      ...stagesOf(data, span, states),
      heartAverage: data.get('hr_average'),
      breathAverage: data.get('rr_average'),
    }),
  };
}

function stagesOf(data: Field, span: Span, states: () => Stretches) {
  const sums = {
    deep: data.get('deepsleepduration').number(),
    rem: data.get('remsleepduration').number(),
    light: data.get('lightsleepduration').number(),
    awake: data.get('wakeupduration').number(),
    asleep: data.get('total_sleep_time').number(),
  };
  return durations(data, span, 'seconds', sums, [data, states]);
}

/** The parts of the answer of `get`, which are read if a summary says nothing of stages. */
function statesOf(parts: readonly Field[]): () => Stretches {
  const intervals = () =>
    parts.map((part) => ({
      stage: STATES[part.get('state').number() ?? -1],
      from: part.get('startdate').unixSeconds(),
      to: part.get('enddate').unixSeconds(),
    }));
  return once(() => new Stretches(intervals()));
}

/** An object of seconds since 1970 and values. */
function samplesOf(field: Field, source: string | undefined): Series {
  const samples = () =>
    field.entries().map(([seconds, value]) => ({ at: secondsMs(seconds, value), value: value.number() }));
  return new Series(field, samples, source);
}

function secondsMs(seconds: string, field: Field): number {
  return field.as(/^\d+$/.test(seconds) ? Number(seconds) : 0).unixSeconds();
}
