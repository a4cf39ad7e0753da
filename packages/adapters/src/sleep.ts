import { known } from './ordered.js';
import type { Session } from './session.js';
import { UnitError } from './unitChecks.js';

/** Stages of sleep, and the fields of a session that are made of them. */

export type Stage = 'deep' | 'rem' | 'light' | 'awake';

/** The duration of each stage; without a stage that is not known. @internal */
export type StageDurations = { readonly [S in Stage]?: number };

/** A span of time, in milliseconds since 1970. @internal */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A stage, or sleep of no known one. @internal */
export type Kind = Stage | 'asleep';

/** @internal */
export const STAGES: readonly Stage[] = ['deep', 'rem', 'light', 'awake'];
/** Shorter than any night: such values are minutes or hours. */
const NIGHT_SECONDS_MIN = 15 * 60;

/** The sum of the three stages of sleep, if all are known. @internal */
export function sumOf({ deep = NaN, rem = NaN, light = NaN }: StageDurations): number | undefined {
  const sum = deep + rem + light;
  return isNaN(sum) ? undefined : sum;
}

/**
 * The durations; if all three stages of sleep are known, also their sum (without awake time) and shares.
 * @throws UnitError if the seconds are minutes or hours
 * @internal
 */
export function sleepFields(seconds: StageDurations): Session {
  const stages = Object.fromEntries(Object.entries(seconds).map(([stage, s]) => [stage, Math.round(s)]));
  const { deep, rem, light, awake } = stages as StageDurations;
  // A night may have a minute awake and no stages.
  const total = (deep ?? 0) + (rem ?? 0) + (light ?? 0) + (awake ?? 0);
  const isSleepGiven = (deep ?? rem ?? light) !== undefined;
  if (isSleepGiven && total > 0 && total < NIGHT_SECONDS_MIN)
    throw new UnitError('sleep of less than a quarter of an hour: are these minutes or hours, not seconds?');
  const asleep = sumOf(stages);
  /** A fraction with four digits. */
  const share = (part = 0) => (asleep ? Math.round((part / asleep) * 10_000) / 10_000 : undefined);
  return known({
    deepSleepSeconds: deep,
    remSleepSeconds: rem,
    lightSleepSeconds: light,
    awakeSleepSeconds: awake,
    sleepTimeSeconds: asleep,
    deepPercentage: share(deep),
    remPercentage: share(rem),
    lightPercentage: share(light),
  });
}
