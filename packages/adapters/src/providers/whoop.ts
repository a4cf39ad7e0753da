import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { recordsOf, refuseOthers, type Field, type Sent } from '../field.js';
import { sleepRecords, type Records, type SentSleep, type SleepDetails } from '../records.js';
import type { Span } from '../sleep.js';

/**
 * WHOOP API v2: https://developer.whoop.com/api (sleep), 2026-11-22. Durations are milliseconds. There is no series:
 * the respiratory rate is an average of the night, and heart rate of the night stays missing.
 */
export interface WhoopInput extends AdapterOptions {
  /** The answer of `GET /v2/activity/sleep`, or one sleep of it; or the rows of `sleeps.csv` of an account's export. */
  readonly sleep?: unknown;
}

/** The session of WHOOP's answer. */
export const fromWhoop = /* @__PURE__ */ adapter('whoop', ['sleep'], recordsIn, { areTables: true });

function recordsIn(sent: Sent<WhoopInput>): Records {
  const answer = sent('sleep');
  if (answer.has('type') && answer.has('id'))
    answer.get('type').fail('a webhook event has no data; ask for the sleep of its id');
  const rows = answer.isList ? answer.items() : [];
  if (rows[0]?.has('Sleep onset') === true) return { sleeps: sleepRecords(rows, sleepOfRow) };
  const what = 'the answer of /v2/activity/sleep, with records';
  const records = recordsOf(answer, { list: ['records'], one: 'start', what });
  const owner = refuseOthers('user_id', records);
  return { sleeps: sleepRecords(records, sleepOf), owner };
}

function sleepOf(field: Field): SentSleep {
  const read = (span: Span): SleepDetails => {
    if (field.get('score_state').text() !== 'SCORED')
      field.get('score_state').fail('this sleep has no score yet, or none at all');
    const stages = field.get('score', 'stage_summary');
    const given = durations(stages, span, 'milliseconds', {
      deep: stages.get('total_slow_wave_sleep_time_milli').number(),
      rem: stages.get('total_rem_sleep_time_milli').number(),
      light: stages.get('total_light_sleep_time_milli').number(),
      awake: stages.get('total_awake_time_milli').number(),
    });
    const unmeasuredS = (stages.get('total_no_data_time_milli').number() ?? 0) / 1000;
    return { ...given, unmeasuredS, breathAverage: field.get('score', 'respiratory_rate') };
  };
  const isNap = field.get('nap').flag();
  return {
    field,
    from: field.get('start'),
    to: field.get('end'),
    eastMs: (ms) => field.get('timezone_offset').offset(ms),
    isNap,
    isMain: !isNap,
    changed: field.get('updated_at'),
    read,
  };
}

/** A row of `sleeps.csv`: local times beside their offset, durations in minutes. */
function sleepOfRow(row: Field): SentSleep {
  const zone = row.cell('Cycle timezone');
  const east = zone.offset(0) === undefined ? undefined : zone.text()?.replace(/^UTC/, '') || 'Z';
  const local = row.in(east ?? row.zone ?? undefined);
  const minutes = (name: string) => row.cell(`${name} duration (min)`).quotedNumber();
  const rate = row.cell('Respiratory rate (rpm)');
  const isNap = row.cell('Nap').text()?.toLowerCase() === 'true';
  return {
    field: row,
    from: local.get('Sleep onset'),
    to: local.get('Wake onset'),
    eastMs: (ms) => zone.offset(ms),
    isNap,
    isMain: !isNap,
    read: (span) => ({
      ...durations(row, span, 'minutes', {
        deep: minutes('Deep (SWS)'),
        rem: minutes('REM'),
        light: minutes('Light sleep'),
        awake: minutes('Awake'),
      }),
      breathAverage: rate.as(rate.quotedNumber()),
    }),
  };
}
