import type { Span, Stage } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { recordsOf, type Field, type Sent } from '../field.js';
import { sleepRecords, type Records, type SentSleep, type SleepDetails } from '../records.js';
import { series, Series } from '../series.js';

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

function recordsIn(sent: Sent<OuraInput>): Records {
  const records = recordsOf(sent('sleep'), {
    list: ['data'],
    one: 'bedtime_start',
    what: 'the answer of /v2/usercollection/sleep, with data',
  });
  records?.find(isScore)?.fail(DAILY);
  const beats = sent('heart_rate');
  const samples = recordsOf(beats, {
    list: ['data'],
    what: 'the answer of /v2/usercollection/heartrate, with data',
  });
  const heart = series(beats.get('data'), samples ?? [], 'timestamp', 'bpm');
  return { sleeps: sleepRecords(records, sleepOf), heart: [heart] };
}

/** `GET /v2/usercollection/daily_sleep` answers with scores of a night. */
function isScore(document: Field): boolean {
  return document.get('bedtime_start').isAbsent && document.has('contributors');
}

const DAILY =
  'this is daily_sleep, which has scores and no sleep: send the answer of /v2/usercollection/sleep';

function sleepOf(field: Field): SentSleep {
  const type = field.get('type').text();
  const read = (span: Span): SleepDetails => ({
    ...stagesOf(field, span),
    heart: seriesOf(field.get('heart_rate')),
    heartAverage: field.get('average_heart_rate'),
    breathAverage: field.get('average_breath'),
  });
  return {
    field,
    from: field.get('bedtime_start'),
    to: field.get('bedtime_end'),
    isNap: type === 'late_nap' || type === 'rest',
    isMain: type === 'long_sleep',
    unusable: type === 'deleted' ? 'deleted' : undefined,
    read,
  };
}

function stagesOf(field: Field, span: Span) {
  const sums = {
    deep: field.get('deep_sleep_duration').number(),
    rem: field.get('rem_sleep_duration').number(),
    light: field.get('light_sleep_duration').number(),
    awake: field.get('awake_time').number(),
    asleep: field.get('total_sleep_duration').number(),
  };
  // A digit for each 30 seconds, or for each 5 minutes.
  const stepMs = field.get('sleep_phase_30_sec').isAbsent ? 300_000 : 30_000;
  const phases = field.either('sleep_phase_30_sec', 'sleep_phase_5_min');
  const phaseOf = (digit: string, index: number) => ({
    stage: PHASES[digit] ?? phases.fail('expected digits from 1 to 4'),
    from: span.fromMs + index * stepMs,
    to: span.fromMs + (index + 1) * stepMs,
  });
  return durations(field, span, 'seconds', sums, [phases, () => [...(phases.text() ?? '')].map(phaseOf)]);
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
