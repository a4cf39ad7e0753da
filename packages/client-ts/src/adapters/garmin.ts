import { Field } from './field.js';
import { adapt, durations } from './night.js';
import type { Adapted, AdapterOptions, Series, SleepDetails, SleepRecord } from './night.js';

/**
 * Garmin Health API, unverified: its specification is for partners. The names are those of public samples and libraries,
 * 2026-11-22. Times and durations are seconds; samples stand at seconds after the beginning of their summary.
 */
export interface GarminInput extends AdapterOptions {
  /** Sleep summaries: the list, or a notification with `sleeps`. */
  readonly sleep?: unknown;
  /** Daily summaries: the list, or a notification with `dailies`; they carry heart rate. */
  readonly daily?: unknown;
  /** Respiration summaries: the list, or a notification with `allDayRespiration`. */
  readonly respiration?: unknown;
}

/** The session of what Garmin sent. */
export function fromGarmin({ sleep, daily, respiration, ...options }: GarminInput): Adapted {
  const sleeps = listOf(new Field(sleep, 'sleep'), 'sleeps').map(recordOf);
  const days = listOf(new Field(daily, 'daily'), 'dailies');
  const breaths = listOf(new Field(respiration, 'respiration'), 'allDayRespiration');
  return adapt(
    options,
    sleep === undefined ? undefined : sleeps,
    days.map((day) => offsetSeries(day, 'timeOffsetHeartRateSamples')),
    breaths.map((one) => offsetSeries(one, 'timeOffsetEpochToBreaths')),
  );
}

function listOf(sent: Field, name: string): Field[] {
  return (Array.isArray(sent.value) ? sent : sent.get(name)).items();
}

function recordOf(field: Field): SleepRecord {
  const fromMs = field.get('startTimeInSeconds').unixSeconds();
  const stages = {
    deep: field.get('deepSleepDurationInSeconds').number(),
    rem: field.get('remSleepInSeconds').number(),
    light: field.get('lightSleepDurationInSeconds').number(),
    awake: field.get('awakeDurationInSeconds').number(),
  };
  // Whether the duration has the time awake in it is not known: the sleep ends where both fit.
  const sumS = Object.values(stages).reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const durationS = field.get('durationInSeconds').number() ?? 0;
  const span = { fromMs, toMs: fromMs + Math.max(durationS, sumS) * 1000 };
  const read = (): SleepDetails => ({
    ...durations(field, span, 'seconds', stages),
    breath: offsetSeries(field, 'timeOffsetSleepRespiration'),
  });
  return { field, ...span, isNap: false, read };
}

/** `{"0": 62, "15": 61}`: seconds after the beginning of the summary. */
function offsetSeries(summary: Field, name: string): Series {
  const field = summary.get(name);
  if (field.isAbsent) return { field, samples: [] };
  const fromMs = summary.get('startTimeInSeconds').unixSeconds();
  const samples = field.entries().map(([seconds, value]) => {
    if (!/^\d+$/.test(seconds)) value.fail('expected seconds after the beginning');
    return { at: fromMs + Number(seconds) * 1000, value: value.number() };
  });
  return { field, samples };
}
