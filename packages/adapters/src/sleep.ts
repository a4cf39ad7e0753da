import { momentMs, type Moment } from '#rules/moment.js';
import { NIGHT_HOURS_MAX, NIGHT_MINUTES_MAX, NIGHT_SECONDS_MIN } from '#rules/night.js';
import { UnitError } from './unitChecks.js';

export type Stage = 'deep' | 'rem' | 'light' | 'awake';

/** An interval of one stage, as sleep trackers give them. */
export interface StageInterval {
  readonly stage: Stage;
  readonly from: Moment;
  readonly to: Moment;
}

/** The duration of each stage; leave out a stage that is not known. */
export type StageDurations = { readonly [S in Stage]?: number };

/** A span of time, in milliseconds since 1970. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The sleep fields of a session. */
export interface SleepFields {
  sleepTimeSeconds?: number;
  deepSleepSeconds?: number;
  remSleepSeconds?: number;
  lightSleepSeconds?: number;
  awakeSleepSeconds?: number;
  deepPercentage?: number;
  remPercentage?: number;
  lightPercentage?: number;
}

interface MeasuredNight {
  readonly night: Span;
  /** The end of the night as it was given. */
  readonly woke: Moment;
  readonly seconds: StageDurations;
}

export const STAGES: readonly Stage[] = ['deep', 'rem', 'light', 'awake'];
const MINUTE_S = 60;
const HOUR_MS = 3_600_000;

/**
 * The whole night and its seconds in each stage.
 * @throws RangeError if an interval ends before it begins or overlaps another, or if all of them span more than a
 * day
 */
export function measureStages(intervals: readonly StageInterval[]): MeasuredNight {
  const spans = intervals
    .map(({ stage, from, to }) => ({
      stage: checkStage(stage),
      fromMs: momentMs(from, 'the beginning of a sleep stage'),
      toMs: momentMs(to, 'the end of a sleep stage'),
      to,
    }))
    .toSorted((a, b) => a.fromMs - b.fromMs);
  const first = spans[0];
  if (first === undefined) throw new RangeError('no sleep stage was given');
  const totalMs = { deep: 0, rem: 0, light: 0, awake: 0 };
  let untilMs = first.fromMs;
  let woke = first.to;
  for (const { stage, fromMs, toMs, to } of spans) {
    if (toMs < fromMs) throw new RangeError('a sleep stage ends before it begins');
    if (fromMs < untilMs)
      throw new RangeError('sleep stages overlap; give those of one device, each stretch once');
    totalMs[stage] += toMs - fromMs;
    untilMs = toMs;
    woke = to;
  }
  if (untilMs - first.fromMs > NIGHT_HOURS_MAX * HOUR_MS)
    throw new RangeError('the sleep stages span more than one night');
  const seconds = mapStages(totalMs, (ms) => Math.round(ms / 1000));
  return { night: { fromMs: first.fromMs, toMs: untilMs }, woke, seconds };
}

/** @throws UnitError if the minutes are seconds */
export function secondsOfMinutes(minutes: StageDurations): StageDurations {
  if (sum(minutes) > NIGHT_MINUTES_MAX)
    throw new UnitError('sleep of more than a day: are these seconds, not minutes?');
  return mapStages(minutes, (value) => Math.round(value * MINUTE_S));
}

/** @throws UnitError if the seconds are minutes or hours */
export function checkSeconds(seconds: StageDurations): StageDurations {
  const total = sum(seconds);
  const { deep, rem, light } = seconds;
  // A night may have a minute awake and no stages.
  const isSleepGiven = deep !== undefined || rem !== undefined || light !== undefined;
  if (isSleepGiven && total > 0 && total < NIGHT_SECONDS_MIN) {
    throw new UnitError('sleep of less than a quarter of an hour: are these minutes or hours, not seconds?');
  }
  return mapStages(seconds, Math.round);
}

/** The durations; if all three stages of sleep are known, also their sum (without awake time) and shares. */
export function sleepFields({ deep, rem, light, awake }: StageDurations): SleepFields {
  const fields: SleepFields = {};
  if (deep !== undefined) fields.deepSleepSeconds = deep;
  if (rem !== undefined) fields.remSleepSeconds = rem;
  if (light !== undefined) fields.lightSleepSeconds = light;
  if (awake !== undefined) fields.awakeSleepSeconds = awake;
  if (deep === undefined || rem === undefined || light === undefined) return fields;
  const asleep = deep + rem + light;
  fields.sleepTimeSeconds = asleep;
  if (asleep === 0) return fields;
  fields.deepPercentage = share(deep, asleep);
  fields.remPercentage = share(rem, asleep);
  fields.lightPercentage = share(light, asleep);
  return fields;
}

/** A fraction with four digits. */
function share(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 10_000;
}

function checkStage(stage: Stage): Stage {
  if (!STAGES.includes(stage)) throw new TypeError(`a sleep stage is one of ${STAGES.join(', ')}`);
  return stage;
}

function sum(durations: StageDurations): number {
  return STAGES.reduce((total, stage) => total + (durations[stage] ?? 0), 0);
}

function mapStages(durations: StageDurations, change: (duration: number) => number): StageDurations {
  const changed: { -readonly [S in Stage]?: number } = {};
  for (const stage of STAGES) {
    const duration = durations[stage];
    if (duration === undefined) continue;
    if (!(duration >= 0 && Number.isFinite(duration))) {
      throw new RangeError(`the duration of ${stage} sleep is no positive number`);
    }
    changed[stage] = change(duration);
  }
  return changed;
}
