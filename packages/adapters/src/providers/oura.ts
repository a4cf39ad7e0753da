import type { Span, Stage, StageDurations } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { fieldsOf, recordsOf, timesOf, type Field } from '../field.js';
import { sleepRecords, type Records, type SleepDetails, type SleepRecord } from '../records.js';
import { namedSeries, Series } from '../series.js';

/**
 * Oura API v2: https://cloud.ouraring.com/v2/docs (multiple sleep documents, heart rate), 2026-11-22. There is no
 * series of breathing: `average_breath` is the one sample, in breaths per minute; older documents say otherwise.
 */
export interface OuraInput extends AdapterOptions {
  /** The answer of `GET /v2/usercollection/sleep`, or one of its documents. */
  readonly sleep?: unknown;
  /** The answer of `GET /v2/usercollection/heartrate`. */
  readonly heart_rate?: unknown;
}

const PHASES: Readonly<Record<string, Stage>> = { 1: 'deep', 2: 'light', 3: 'rem', 4: 'awake' };

/** The session of Oura's answers. */
export const fromOura = /* @__PURE__ */ adapter('oura', ['sleep', 'heart_rate'], recordsIn);

function recordsIn(input: OuraInput): Records {
  const records = recordsOf(fieldsOf(input)('sleep'), {
    list: ['data'],
    one: 'bedtime_start',
    what: 'the answer of /v2/usercollection/sleep, with data',
  });
  records?.find(isScore)?.fail(DAILY);
  const sent = fieldsOf(input)('heart_rate');
  const samples = recordsOf(sent, {
    list: ['data'],
    what: 'the answer of /v2/usercollection/heartrate, with data',
  });
  const heart = namedSeries(sent.get('data'), samples ?? [], 'timestamp', 'bpm');
  return { sleeps: records && sleepRecords(records, recordOf), heart: [heart] };
}

/** `GET /v2/usercollection/daily_sleep` answers with scores of a night. */
function isScore(document: Field): boolean {
  return document.get('bedtime_start').isAbsent && document.has('contributors');
}

const DAILY =
  'this is daily_sleep, which has scores and no sleep: send the answer of /v2/usercollection/sleep';

function recordOf(field: Field): SleepRecord {
  const type = field.get('type').text();
  const span = timesOf(field.get('bedtime_start'), field.get('bedtime_end'));
  const read = (): SleepDetails => ({
    ...stagesOf(field, span),
    heart: seriesOf(field.get('heart_rate')),
    heartAverage: field.get('average_heart_rate'),
    breathAverage: field.get('average_breath'),
  });
  return {
    field,
    ...span,
    isNap: type === 'late_nap' || type === 'rest',
    isMain: type === 'long_sleep',
    unusable: type === 'deleted' ? 'deleted' : undefined,
    read,
  };
}

function stagesOf(field: Field, span: Span) {
  const given = {
    deep: field.get('deep_sleep_duration').number(),
    rem: field.get('rem_sleep_duration').number(),
    light: field.get('light_sleep_duration').number(),
    awake: field.get('awake_time').number(),
    asleep: field.get('total_sleep_duration').number(),
  };
  const phases = given.deep === undefined && given.light === undefined ? phasesOf(field) : {};
  return durations(field, span, 'seconds', { ...given, ...phases, awake: given.awake ?? phases.awake });
}

/** A digit for each 30 seconds, or for each 5 minutes. */
function phasesOf(field: Field): StageDurations {
  const fine = field.get('sleep_phase_30_sec');
  const [from, stepS] = fine.isAbsent
    ? ([field.get('sleep_phase_5_min'), 300] as const)
    : ([fine, 30] as const);
  const phases = from.text();
  if (phases === undefined) return {};
  const seconds = { deep: 0, rem: 0, light: 0, awake: 0 };
  for (const phase of phases) seconds[PHASES[phase] ?? from.fail('expected digits from 1 to 4')] += stepS;
  return seconds;
}

/** Evenly spaced; gaps are null. */
function seriesOf(field: Field): Series {
  const list = field.get('items');
  const samples = () => {
    const items = list.items();
    if (items.length === 0) return [];
    const fromMs = field.get('timestamp').moment();
    const stepS = field.get('interval').required(field.get('interval').number());
    return items.map((item, index) => ({ at: fromMs + index * stepS * 1000, value: item.number() }));
  };
  return new Series(list, samples);
}
