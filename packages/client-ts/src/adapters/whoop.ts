import { Field } from './field.js';
import { adapt, durations } from './night.js';
import type { Adapted, AdapterOptions, SleepDetails, SleepRecord } from './night.js';

/**
 * WHOOP API v2: https://developer.whoop.com/api (sleep), 2026-11-22. Durations are milliseconds. There is no series at
 * all: the respiratory rate is an average of the night, heart rate of the night stays missing.
 */
export interface WhoopInput extends AdapterOptions {
  /** The answer of `GET /v2/activity/sleep`, or one sleep of it. */
  readonly sleep?: unknown;
}

/** The session of what WHOOP sent. */
export function fromWhoop({ sleep, ...options }: WhoopInput): Adapted {
  const sent = new Field(sleep, 'sleep');
  const type = sent.get('type').text();
  if (type !== undefined) sent.get('type').fail('a webhook event has no data; ask for the sleep of its id');
  const records = sent.get('start').isAbsent ? sent.get('records').items() : [sent];
  return adapt(options, sleep === undefined ? undefined : records.map(recordOf));
}

function recordOf(field: Field): SleepRecord {
  const span = { fromMs: field.get('start').moment(), toMs: field.get('end').moment() };
  const read = (): SleepDetails => {
    if (field.get('score_state').text() !== 'SCORED')
      field.get('score_state').fail('this sleep has no score yet, or none at all');
    const stages = field.get('score', 'stage_summary');
    const given = durations(stages, span, 'milliseconds', {
      deep: stages.get('total_slow_wave_sleep_time_milli').number(),
      rem: stages.get('total_rem_sleep_time_milli').number(),
      light: stages.get('total_light_sleep_time_milli').number(),
      awake: stages.get('total_awake_time_milli').number(),
    });
    return { ...given, breathAverage: field.get('score', 'respiratory_rate') };
  };
  return { field, ...span, isNap: field.get('nap').flag(), read };
}
