import type { Session } from './session.js';
import { UnitError } from './unitChecks.js';

export type Stage = 'deep' | 'rem' | 'light' | 'awake';

/** The duration of each stage; without a stage that is not known. @internal */
export type StageDurations = { readonly [S in Stage]?: number };

/** A span of time, in milliseconds since 1970. @internal */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** @internal */
export const STAGES: readonly Stage[] = ['deep', 'rem', 'light', 'awake'];
/** Shorter than any night: such values are minutes or hours. */
const NIGHT_SECONDS_MIN = 15 * 60;

/**
 * The durations; if all three stages of sleep are known, also their sum (without awake time) and shares.
 * @throws UnitError if the seconds are minutes or hours
 * @internal
 */
export function sleepFields(seconds: StageDurations): Session {
  const [deep, rem, light, awake] = STAGES.map((stage) => rounded(seconds[stage]));
  const asleep = (deep ?? 0) + (rem ?? 0) + (light ?? 0);
  // A night may have a minute awake and no stages.
  const isSleepGiven = deep !== undefined || rem !== undefined || light !== undefined;
  const total = asleep + (awake ?? 0);
  if (isSleepGiven && total > 0 && total < NIGHT_SECONDS_MIN)
    throw new UnitError('sleep of less than a quarter of an hour: are these minutes or hours, not seconds?');
  const isStaged = deep !== undefined && rem !== undefined && light !== undefined;
  return {
    ...(deep !== undefined && { deepSleepSeconds: deep }),
    ...(rem !== undefined && { remSleepSeconds: rem }),
    ...(light !== undefined && { lightSleepSeconds: light }),
    ...(awake !== undefined && { awakeSleepSeconds: awake }),
    ...(isStaged && { sleepTimeSeconds: asleep }),
    ...(isStaged &&
      asleep > 0 && {
        deepPercentage: share(deep, asleep),
        remPercentage: share(rem, asleep),
        lightPercentage: share(light, asleep),
      }),
  };
}

function rounded(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds);
}

/** A fraction with four digits. */
function share(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 10_000;
}
