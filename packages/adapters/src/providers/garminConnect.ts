import { adapter, type AdapterOptions } from '../adapt.js';
import { durations } from '../durations.js';
import { refuseOthers, type Field, type Sent } from '../field.js';
import { sleepRecords, type Records, type SentSleep, type SleepDetails } from '../records.js';
import { series, type Series } from '../series.js';
import type { Span } from '../sleep.js';
import { DAY_MS } from '../zone.js';

/**
 * Garmin Connect, as python-garminconnect and garth (`connectapi`) return its answers: not documented by Garmin, and
 * unverified beyond the models and recorded answers of these libraries, 2026-11-22. Times are milliseconds since
 * 1970, some of them texts without an offset, which are UTC; durations are seconds.
 */
export interface GarminConnectInput extends AdapterOptions {
  /** The answer of `…/dailySleepData` (`get_sleep_data`), or the answers of several days. */
  readonly sleep?: unknown;
  /** The answer of `…/dailyHeartRate` (`get_heart_rates`), or of several days, for the hour before. */
  readonly heart_rate?: unknown;
  /** The answer of `…/daily/respiration` (`get_respiration_data`), or of several days. */
  readonly respiration?: unknown;
}

/** The session of Garmin Connect's answers. */
export const fromGarminConnect = /* @__PURE__ */ adapter(
  'garmin_connect',
  ['sleep', 'heart_rate', 'respiration'],
  recordsIn,
);

function recordsIn(sent: Sent<GarminConnectInput>): Records {
  const days = daysOf(sent('sleep'), 'dailySleepDTO', BEGIN);
  const hearts = daysOf(sent('heart_rate'), 'heartRateValues');
  const breaths = daysOf(sent('respiration'), 'respirationValuesArray');
  const nights = days?.map(nightIn).filter((night) => !night.isAbsent);
  const owner = refuseOthers('userProfilePK', nights, hearts, breaths);
  return {
    owner,
    sleeps: sleepRecords(days?.filter(isNight), sleepOf, timeMs),
    heart: hearts?.map((day) => pairSeries(day.get('heartRateValues'))),
    breath: breaths?.map((day) => pairSeries(day.get('respirationValuesArray'))),
  };
}

/** The answers of days; an empty answer names its missing parts with null. */
function daysOf(sent: Field, name: string, flat = name): Field[] | undefined {
  if (sent.isAbsent) return undefined;
  const days = sent.oneOrItems().filter((day) => !day.isAbsent);
  if (!days.every((day) => day.has(name) || day.has(flat)))
    sent.expected(`the answer of a day, with ${name}, or a list of such`);
  return days;
}

const BEGIN = 'sleepStartTimestampGMT';

/** An account's export has the night by itself. */
function nightIn(day: Field): Field {
  return day.has('dailySleepDTO') ? day.get('dailySleepDTO') : day;
}

/** Whether there is a night: a day without the watch has all fields, all null. */
function isNight(day: Field): boolean {
  const dto = nightIn(day);
  return [BEGIN, 'sleepTimeSeconds'].some((name) => !dto.get(name).isAbsent);
}

function sleepOf(answer: Field): SentSleep {
  const field = nightIn(answer);
  const read = (span: Span): SleepDetails => ({
    ...durations(field, span, 'seconds', {
      deep: field.get('deepSleepSeconds').number(),
      rem: field.get('remSleepSeconds').number(),
      light: field.get('lightSleepSeconds').number(),
      awake: field.get('awakeSleepSeconds').number(),
      asleep: field.get('sleepTimeSeconds').number(),
    }),
    unmeasuredS: field.either('unmeasurableSleepSeconds', 'unmeasurableSeconds').number(),
    heart: listSeries(answer.get('sleepHeartRate'), 'startGMT', 'value'),
    heartAverage: field.get('avgHeartRate'),
    breath: listSeries(answer.get('wellnessEpochRespirationDataDTOList'), 'startTimeGMT', 'respirationValue'),
    breathAverage: field.either('averageRespirationValue', 'averageRespiration'),
  });
  return {
    field,
    from: field.get(BEGIN),
    to: field.get('sleepEndTimestampGMT'),
    eastMs: (utcMs) => eastOf(field.get('sleepEndTimestampLocal'), utcMs),
    state: /final/i.test(field.get('sleepWindowConfirmationType').text() ?? '') ? 'final' : 'tentative',
    read,
  };
}

function eastOf(local: Field, utcMs: number): number | undefined {
  const eastMs = local.isAbsent ? undefined : timeMs(local) - utcMs;
  return Math.abs(eastMs ?? 0) > DAY_MS ? local.fail('is more than a day from the same time in UTC') : eastMs;
}

/** Milliseconds since 1970, or a text in UTC that does not say so. */
function timeMs(field: Field): number {
  return field.isText ? field.in('Z').moment() : field.unixMs();
}

function listSeries(field: Field, at: string, value: string): Series {
  return series(field, field.items(), (one) => timeMs(one.get(at)), value);
}

/** `[[1772431200000, 61], …]` */
function pairSeries(field: Field): Series {
  const at = (pair: Field, index: number) => pair.items()[index] ?? pair.fail('expected a time and a value');
  const value = (pair: Field) => at(pair, 1).number();
  return series(field, field.items(), (pair) => timeMs(at(pair, 0)), value);
}
