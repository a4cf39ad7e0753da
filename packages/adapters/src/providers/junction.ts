import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { recordsOf, refuseOthers, type Field, type Sent } from '../field.js';
import { sleepRecords, type Records, type SentSleep, type SleepDetails } from '../records.js';
import { byDevice, series, type Series } from '../series.js';
import type { Span } from '../sleep.js';

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

const STATES = { tentative: 'tentative', confirmed: 'final' } as const;

/** The session of Junction's data. */
export const fromJunction = /* @__PURE__ */ adapter(
  'junction',
  ['sleep', 'heart_rate', 'respiratory_rate'],
  recordsIn,
);

function recordsIn(sent: Sent<JunctionInput>): Records {
  const sleeps = sleepsOf(sent('sleep'));
  const owner = refuseOthers('user_id', sleeps);
  return {
    owner,
    sleeps: sleepRecords(sleeps, sleepOf),
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

function sleepOf(field: Field): SentSleep {
  const type = field.get('type').text();
  const [from, to] = [field.get('bedtime_start'), field.get('bedtime_stop')];
  const read = (span: Span): SleepDetails => {
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
    from,
    to,
    eastMs: (ms) => field.get('timezone_offset').offset(ms),
    // A day without sleep may have its record, with every field null.
    unusable: from.isAbsent && to.isAbsent ? 'has no times' : undefined,
    isNap: type === 'acknowledged_nap',
    changed: field.get('updated_at'),
    state: field.get('state').named(STATES),
    source: field.get('source', 'provider').text(),
    read,
  };
}

/** A provider may have several devices. */
function seriesOf(sent: Field): Series[] {
  if (sent.isAbsent) return [];
  if (!sent.isObject || sent.get('groups').isAbsent)
    sent.expected('the answer of a grouped timeseries, with groups');
  const groups = sent.get('groups');
  const all = groups
    .entries()
    .flatMap(([source, group]) => group.items().map((device) => ({ source, device })));
  const devices = byDevice(groups, all, (one) => one).keys();
  return [...devices].map(({ source, device }) => samplesOf(device.get('data'), source, device));
}

function samplesOf(field: Field, source?: string, device?: Field): Series {
  return series(field, field.items(), 'timestamp', 'value', source, device);
}
