import { Field } from './field.js';
import { adapt, durations, series } from './night.js';
import type { Adapted, AdapterOptions, Series, SleepDetails, SleepRecord } from './night.js';

/**
 * Junction (earlier Vital): models of its API, https://docs.junction.com and
 * https://github.com/tryVital/vital-python (src/vital/types), 2026-11-22. Times are UTC. "bpm" as the unit of
 * respiratory rate means breaths.
 */
export interface JunctionInput extends AdapterOptions {
  /** A webhook event `daily.data.sleep.*`, or the answer of `GET /v2/summary/sleep/{user_id}`. */
  readonly sleep?: unknown;
  /** The answers of `GET /v2/timeseries/{user_id}/heartrate/grouped` and `…/respiratory_rate/grouped`. */
  readonly heartRate?: unknown;
  readonly respiratoryRate?: unknown;
}

/** The session of what Junction sent. */
export function fromJunction({ sleep, heartRate, respiratoryRate, ...options }: JunctionInput): Adapted {
  const records = recordsOf(new Field(sleep, 'sleep'));
  const provider = records[0]?.get('source', 'provider').text();
  const sleeps = sleep === undefined ? undefined : records.map((record) => recordOf(record));
  const heart = seriesOf(new Field(heartRate, 'heartRate'), provider);
  return adapt(options, sleeps, heart, seriesOf(new Field(respiratoryRate, 'respiratoryRate'), provider));
}

function recordsOf(sent: Field): Field[] {
  const event = sent.get('event_type').text();
  if (event === undefined) return sent.get('sleep').items();
  if (!/^daily\.data\.sleep\.(created|updated)$/.test(event))
    sent.get('event_type').fail('expected daily.data.sleep.created or .updated');
  return [sent.get('data')];
}

function recordOf(field: Field): SleepRecord {
  const type = field.get('type').text();
  const span = {
    fromMs: field.get('bedtime_start').moment(),
    toMs: field.get('bedtime_stop').moment(),
  };
  const read = (): SleepDetails => {
    if (type === 'unknown') field.get('type').fail('the recording is still going on');
    const stream = field.get('sleep_stream');
    return {
      ...durations(field, span, 'seconds', {
        deep: field.get('deep').number(),
        rem: field.get('rem').number(),
        light: field.get('light').number(),
        awake: field.get('awake').number(),
        asleep: field.get('total').number(),
      }),
      heart: samplesOf(stream.get('heartrate')),
      breath: samplesOf(stream.get('respiratory_rate')),
      heartAverage: field.get('hr_average'),
      breathAverage: field.get('respiratory_rate'),
    };
  };
  return { field, ...span, isNap: type === 'acknowledged_nap', read };
}

/** One device's: that of the sleep where it is there, else the one with the most samples. */
function seriesOf(sent: Field, provider: string | undefined): Series[] {
  const groups = sent.get('groups').entries();
  const own = groups.filter(([name]) => name === provider);
  const sources = (own.length > 0 ? own : groups).flatMap(([, group]) => group.items());
  const all = sources.map((source) => samplesOf(source.get('data')));
  return all.toSorted((a, b) => b.samples.length - a.samples.length).slice(0, 1);
}

function samplesOf(field: Field): Series {
  const atMs = (one: Field) => one.get('timestamp').moment();
  return series(field, field.items(), atMs, (one) => one.get('value').number());
}
