import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { changedMs, fieldsOf, recordsOf, refuseOthers, timesOf, type Field } from '../field.js';
import { sleepRecords, type Records, type SleepDetails, type SleepRecord } from '../records.js';
import { cell, eastOf } from '../tables.js';
import { offsetMs } from '../zone.js';

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

function recordsIn(input: WhoopInput): Records {
  const sent = fieldsOf(input)('sleep');
  if (sent.has('type') && sent.has('id'))
    sent.get('type').fail('a webhook event has no data; ask for the sleep of its id');
  const rows = sent.isList ? sent.items() : [];
  if (rows[0]?.has('Sleep onset') === true) return { sleeps: sleepRecords(rows, recordOfRow) };
  const what = 'the answer of /v2/activity/sleep, with records';
  const records = recordsOf(sent, { list: ['records'], one: 'start', what });
  refuseOthers('user_id', records);
  return { sleeps: records && sleepRecords(records, recordOf) };
}

function recordOf(field: Field): SleepRecord {
  const span = timesOf(field.get('start'), field.get('end'));
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
    const unmeasuredS = (stages.get('total_no_data_time_milli').number() ?? 0) / 1000;
    return { ...given, unmeasuredS, breathAverage: field.get('score', 'respiratory_rate') };
  };
  const east = field.get('timezone_offset').text();
  const isNap = field.get('nap').flag();
  return {
    field,
    ...span,
    eastMs: east === undefined ? undefined : offsetMs(east),
    isNap,
    isMain: !isNap,
    changedMs: changedMs(field.get('updated_at')),
    read,
  };
}

/** A row of `sleeps.csv`: local times beside their offset, durations in minutes. */
function recordOfRow(row: Field): SleepRecord {
  const zone = cell(row, 'Cycle timezone');
  const eastMs = eastOf(zone);
  const local = row.in(
    eastMs === undefined ? (row.zone ?? undefined) : zone.text()?.replace(/^UTC/, '') || 'Z',
  );
  const span = timesOf(local.get('Sleep onset'), local.get('Wake onset'));
  const minutes = (name: string) => cell(row, `${name} duration (min)`).quotedNumber();
  const read = (): SleepDetails => ({
    ...durations(row, span, 'minutes', {
      deep: minutes('Deep (SWS)'),
      rem: minutes('REM'),
      light: minutes('Light sleep'),
      awake: minutes('Awake'),
    }),
    breathAverage: averageOf(cell(row, 'Respiratory rate (rpm)')),
  });
  const isNap = cell(row, 'Nap').text() === 'true';
  return { field: row, ...span, eastMs, isNap, isMain: !isNap, read };
}

function averageOf(rate: Field): Field {
  return rate.as(rate.quotedNumber());
}
