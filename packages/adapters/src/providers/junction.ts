import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { changedMs, fieldsOf, recordsOf, refuseOthers, timesOf, type Field } from '../field.js';
import { sleepRecords, type Records, type SleepDetails, type SleepRecord } from '../records.js';
import { namedSeries, type Series } from '../series.js';

/**
 * Junction (earlier Vital): models of its API, https://docs.junction.com and
 * https://github.com/tryVital/vital-python (src/vital/types), 2026-11-22. Times are UTC. "bpm" as the unit of
 * respiratory rate means breaths.
 */
export interface JunctionInput extends AdapterOptions {
  /** A webhook event `daily.data.sleep.*`, or the answer of `GET /v2/summary/sleep/{user_id}`. */
  readonly sleep?: unknown;
  /** The answers of `GET /v2/timeseries/{user_id}/heartrate/grouped` and `…/respiratory_rate/grouped`. */
  readonly heart_rate?: unknown;
  readonly respiratory_rate?: unknown;
}

/** The session of Junction's data. */
export const fromJunction = /* @__PURE__ */ adapter(
  'junction',
  ['sleep', 'heart_rate', 'respiratory_rate'],
  recordsIn,
);

function recordsIn(input: JunctionInput): Records {
  const sent = fieldsOf(input);
  const sleeps = sleepsOf(sent('sleep'));
  refuseOthers('user_id', sleeps);
  return {
    sleeps: sleeps && sleepRecords(sleeps, recordOf),
    heart: seriesOf(sent('heart_rate')),
    breath: seriesOf(sent('respiratory_rate')),
  };
}

function sleepsOf(sent: Field): Field[] | undefined {
  const what = 'an event daily.data.sleep.*, or the answer of /v2/summary/sleep, with sleep';
  const records = recordsOf(sent, { list: ['sleep'], one: 'event_type', what });
  if (records?.[0] !== sent) return records;
  const event = sent.get('event_type').text() ?? '';
  if (!/^daily\.data\.sleep\.(created|updated)$/.test(event))
    sent.get('event_type').fail('expected daily.data.sleep.created or .updated');
  return [sent.get('data')];
}

function recordOf(field: Field): SleepRecord {
  const type = field.get('type').text();
  const [start, stop] = [field.get('bedtime_start'), field.get('bedtime_stop')];
  // A day without sleep may have its record, with every field null.
  if (start.isAbsent && stop.isAbsent)
    return { field, fromMs: 0, toMs: 0, unusable: 'has no times', read: () => ({}) };
  const span = timesOf(start, stop);
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
  return {
    field,
    ...span,
    eastMs: field.get('timezone_offset').eastSeconds(),
    isNap: type === 'acknowledged_nap',
    changedMs: changedMs(field.get('updated_at')),
    source: field.get('source', 'provider').text(),
    read,
  };
}

/** A provider may have several devices: the one with the most samples. */
function seriesOf(sent: Field): Series[] {
  if (sent.isAbsent) return [];
  if (!sent.isObject || sent.get('groups').isAbsent)
    sent.expected('the answer of a grouped timeseries, with groups');
  return sent
    .get('groups')
    .entries()
    .flatMap(([source, group]) => {
      const all = group.items().map((device) => samplesOf(device.get('data'), source));
      const more = (most: Series, one: Series) =>
        one.readings().length > most.readings().length ? one : most;
      return all.length === 0 ? [] : [all.reduce(more)];
    });
}

function samplesOf(field: Field, source?: string): Series {
  return namedSeries(field, field.items(), 'timestamp', 'value', source);
}
