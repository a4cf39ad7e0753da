import type { Stage } from '../sleep.js';
import { adapt, type Adapted, type AdapterOptions } from './adapt.js';
import { durations, stretches } from './durations.js';
import { Field, recordsOf } from './field.js';
import type { Series, SleepDetails, SleepRecord } from './records.js';
import { offsetAt } from './zone.js';

/**
 * Withings: Sleep v2, https://developer.withings.com/api-reference (sleepv2-get, sleepv2-getsummary), 2026-11-22.
 * Times are seconds since 1970, durations seconds. An error comes with HTTP 200 and a `status` other than 0.
 */
export interface WithingsInput extends AdapterOptions {
  /** The answer of `getsummary`, with the data fields of the stages, `hr_average` and `rr_average`. */
  readonly summary?: unknown;
  /** The answer of `get`, with the data fields `hr` and `rr`. */
  readonly sleep?: unknown;
}

/** By number; 4 is entered by hand, 5 unknown. */
const STATES: readonly (Stage | 'asleep')[] = ['awake', 'light', 'deep', 'rem', 'asleep'];

/** The session of what Withings sent. */
export function fromWithings({ summary, sleep, ...options }: WithingsInput): Adapted {
  const parts = seriesOf(new Field(sleep, 'sleep'), 'get') ?? [];
  const records = seriesOf(new Field(summary, 'summary'), 'getsummary');
  const samples = (name: string) => parts.map((part) => samplesOf(part.get(name)));
  return adapt(
    options,
    records?.map((record) => recordOf(record, parts)),
    samples('hr'),
    samples('rr'),
  );
}

function seriesOf(answer: Field, action: string): Field[] | undefined {
  if (typeof answer.value === 'object' && !Array.isArray(answer.value)) {
    const status = answer.get('status').number();
    if (status !== undefined && status !== 0) answer.get('status').fail('the answer is an error');
  }
  const what = `the answer of ${action}, with body.series`;
  return recordsOf(answer, { list: ['body', 'series'], what });
}

function recordOf(field: Field, parts: readonly Field[]): SleepRecord {
  const span = { fromMs: field.get('startdate').unixSeconds(), toMs: field.get('enddate').unixSeconds() };
  const data = field.get('data');
  const read = (): SleepDetails => ({
    ...stagesOf(data, span, parts),
    heartAverage: data.get('hr_average'),
    breathAverage: data.get('rr_average'),
  });
  const zone = field.get('timezone').text();
  const eastMs = zone === undefined ? undefined : offsetAt(span.toMs, zone);
  return { field, ...span, eastMs, read };
}

function stagesOf(data: Field, span: { fromMs: number; toMs: number }, parts: readonly Field[]) {
  const given = {
    deep: data.get('deepsleepduration').number(),
    rem: data.get('remsleepduration').number(),
    light: data.get('lightsleepduration').number(),
    awake: data.get('wakeupduration').number(),
    asleep: data.get('total_sleep_time').number(),
  };
  if (Object.values(given).some((value) => value !== undefined))
    return durations(data, span, 'seconds', given);
  const intervals = parts
    .map((part) => ({
      stage: STATES[part.get('state').number() ?? -1],
      from: part.get('startdate').unixSeconds(),
      to: part.get('enddate').unixSeconds(),
    }))
    .filter(({ from, to }) => from >= span.fromMs && to <= span.toMs);
  return stretches(data, span, intervals);
}

/** An object of seconds since 1970 and values. */
function samplesOf(field: Field): Series {
  const samples = field.entries().map(([seconds, value]) => ({
    at: new Field(/^\d+$/.test(seconds) ? Number(seconds) : 0, value.path).unixSeconds(),
    value: value.number(),
  }));
  return { field, samples };
}
