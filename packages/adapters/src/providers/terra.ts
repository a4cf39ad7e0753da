import type { Kind, Span } from '../sleep.js';
import { adapter, type AdapterOptions } from '../adapt.js';
import { durations, untilNext } from '../durations.js';
import { recordsOf, refuseOthers, type Field, type Sent } from '../field.js';
import { sleepRecords, type Records, type SentSleep, type SleepDetails } from '../records.js';
import { series, type Series } from '../series.js';

/**
 * Terra: data models of its OpenAPI description, https://github.com/tryterra/openapi (schemas/core), 2026-11-22.
 * Times without an offset are local, unless `metadata.timestamp_localization` says UTC (0).
 */
export interface TerraInput extends AdapterOptions {
  /** A webhook event of type `sleep`, or the answer of `GET /sleep`. */
  readonly sleep?: unknown;
  /** The same of type `daily`, for the heart rate of the day. */
  readonly daily?: unknown;
}

const UTC = 0;
/** By number; 0 is unknown. */
const LEVELS: readonly (Kind | undefined)[] = [undefined, 'awake', 'asleep', 'awake', 'light', 'deep', 'rem'];

/** The session of Terra's data. */
export const fromTerra = /* @__PURE__ */ adapter('terra', ['sleep', 'daily'], recordsIn);

function recordsIn(sent: Sent<TerraInput>): Records {
  const [event, day] = [sent('sleep'), sent('daily')];
  const days = dataOf(day, 'daily')?.map(heartOf);
  const sleeps = sleepRecords(dataOf(event, 'sleep'), (one) => sleepOf(one, sourceOf(event)));
  const owner = refuseOthers('user_id', [event.get('user'), day.get('user')]);
  return { sleeps, heart: days, owner };
}

function dataOf(event: Field, type: string): Field[] | undefined {
  const what = `an event of type ${type}, or the answer of GET /${type}, with data`;
  const records = recordsOf(event, { list: ['data'], what });
  const given = event.get('type').text();
  if (given !== undefined && given !== type) event.get('type').fail(`expected an event of type ${type}`);
  return records;
}

function sourceOf(event: Field): string | undefined {
  return event.get('user').isAbsent ? undefined : event.get('user', 'provider').text();
}

/** The record with the zone of its times, if it says that they are in UTC. */
function localised(record: Field): Field {
  return record.get('metadata', 'timestamp_localization').number() === UTC ? record.in('Z') : record;
}

function sleepOf(sent: Field, source: string | undefined): SentSleep {
  const field = localised(sent);
  const read = (span: Span): SleepDetails => {
    const breaths = field.get('respiration_data', 'breaths_data');
    return {
      unmeasuredS: field.get('sleep_durations_data', 'other', 'duration_unmeasurable_sleep_seconds').number(),
      ...stagesOf(field.get('sleep_durations_data'), span),
      heart: heartOf(field),
      breath: samplesOf(breaths.get('samples'), 'breaths_per_min'),
      heartAverage: field.get('heart_rate_data', 'summary', 'avg_hr_bpm'),
      breathAverage: breaths.get('avg_breaths_per_min'),
    };
  };
  return {
    field,
    from: field.get('metadata', 'start_time'),
    to: field.get('metadata', 'end_time'),
    isNap: field.get('metadata', 'is_nap').flag(),
    source,
    read,
  };
}

function stagesOf(field: Field, span: Span) {
  const [asleep, samples] = [field.get('asleep'), field.get('hypnogram_samples')];
  const sums = {
    deep: asleep.get('duration_deep_sleep_state_seconds').number(),
    rem: asleep.get('duration_REM_sleep_state_seconds').number(),
    light: asleep.get('duration_light_sleep_state_seconds').number(),
    awake: field.get('awake', 'duration_awake_state_seconds').number(),
    asleep: asleep.get('duration_asleep_state_seconds').number(),
  };
  const levelOf = (one: Field) => ({
    stage: LEVELS[one.get('level').number() ?? 0],
    from: one.get('timestamp').moment(),
  });
  const levels = () => untilNext(samples.items().map(levelOf), span.toMs);
  return durations(asleep, span, 'seconds', sums, [samples, levels]);
}

function heartOf(record: Field): Series {
  return samplesOf(localised(record).get('heart_rate_data', 'detailed', 'hr_samples'), 'bpm');
}

function samplesOf(samples: Field, name: string): Series {
  return series(samples, samples.items(), 'timestamp', name);
}
