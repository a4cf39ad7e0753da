import { measureStages, type Stage } from './sleep.js';
import { UnitError } from './unitChecks.js';
import type { Field } from './field.js';
import type { SleepDetails } from './records.js';

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

type Durations = Pick<SleepDetails, 'stages' | 'asleepS' | 'left'>;

const UNIT_S = { milliseconds: 0.001, seconds: 1, minutes: 60, hours: 3_600 } as const;

/**
 * Seconds of the known stages. Devices without stages report all three stages of sleep as zero.
 * @param field  the field to name if the stages can't be those of a sleep from `fromMs` to `toMs`
 * @throws UnitError if they add up to far more or far less than the length of the sleep
 * @internal
 */
export function durations(
  field: Field,
  { fromMs, toMs }: Span,
  unit: keyof typeof UNIT_S,
  given: { readonly [S in Stage | 'asleep']?: number | undefined },
): Durations {
  const seconds = (value: number | undefined) => (value === undefined ? undefined : value * UNIT_S[unit]);
  if (Object.values(given).some((value) => value !== undefined && value < 0))
    field.fail('a duration is negative');
  const [deep, rem, light, awake] = [given.deep, given.rem, given.light, given.awake].map(seconds);
  const sum = (deep ?? 0) + (rem ?? 0) + (light ?? 0);
  const asleepS = seconds(given.asleep);
  const isStaged = sum > 0 || asleepS === undefined || asleepS === 0;
  const spanS = (toMs - fromMs) / 1000;
  const hasAll = deep !== undefined && rem !== undefined && light !== undefined;
  const sleepS = Math.max(sum, asleepS ?? 0);
  const isWhole = sleepS > 0 && (hasAll || asleepS !== undefined);
  const least = isWhole ? (awake === undefined ? 10 : 4) : 30;
  const far = distance(sleepS, awake ?? 0, spanS, spanS / least);
  if (far !== undefined)
    throw new UnitError(`expected ${unit}; they add up to far ${far} than the sleep is long`, field.path);
  const isPartial = hasAll && sum < (asleepS ?? 0) * PART;
  const left = isStaged && isPartial ? [{ what: field.place, why: PARTIAL }] : [];
  const hasStages = isStaged && !isPartial;
  return {
    stages: {
      ...(hasStages && deep !== undefined && { deep }),
      ...(hasStages && rem !== undefined && { rem }),
      ...(hasStages && light !== undefined && { light }),
      ...(awake !== undefined && { awake }),
    },
    asleepS,
    left,
  };
}

/** Stages that add up to a smaller share of the stated sleep, or of its time, do not cover the whole sleep. */
const PART = 0.75;
const UNCOVERED = 'its stages cover less than three quarters of the sleep: they were not taken';
const PARTIAL = 'its stages add up to far less than the sleep that it states: only that is taken';

/**
 * Whether sleep and time awake are impossible for a sleep of this length. A person may lie awake nearly all night;
 * durations that are not given, of stages or of time awake, may be the rest.
 * @param leastS  sleep and time awake are together at least this
 */
function distance(
  sleepS: number,
  awakeS: number,
  spanS: number,
  leastS: number,
): 'more' | 'less' | undefined {
  const fits = (seconds: number) => seconds <= spanS * 1.05 + 120;
  if (!fits(sleepS + awakeS)) return 'more';
  const isMinutesBesideSeconds = sleepS < spanS / 30 && sleepS * 60 > spanS / 2 && fits(sleepS * 60 + awakeS);
  const isShort = sleepS + awakeS > 0 && sleepS + awakeS < leastS;
  return isShort || isMinutesBesideSeconds ? 'less' : undefined;
}

/** An interval of one stage; `asleep` is sleep in an unknown stage, undefined is unknown. @internal */
export interface Stretch {
  readonly stage: Stage | 'asleep' | undefined;
  readonly from: number;
  readonly to: number;
}

/**
 * Seconds of stages in intervals; if some sleep has an unknown stage, only their sum.
 * @param stated  seconds that the provider states
 * @internal
 */
export function stretches(
  field: Field,
  span: Span,
  intervals: readonly Stretch[],
  stated: { readonly asleep?: number | undefined; readonly awake?: number | undefined } = {},
): Durations {
  const known = intervals.filter(({ stage }) => stage !== undefined);
  if (known.length === 0) return durations(field, span, 'seconds', stated);
  const isStaged = known.every(({ stage }) => stage !== 'asleep');
  const named = known.map((one) => ({ ...one, stage: STAGED[one.stage ?? 'asleep'] }));
  const { deep = 0, rem = 0, light = 0, awake = 0 } = field.located(() => measureStages(named).seconds);
  const coveredS = deep + rem + light + awake;
  if (coveredS < ((span.toMs - span.fromMs) / 1000) * PART) {
    const { left = [], ...rest } = durations(field, span, 'seconds', stated);
    return { ...rest, left: [...left, { what: field.place, why: UNCOVERED }] };
  }
  return durations(field, span, 'seconds', {
    ...(isStaged && { deep, rem, light }),
    asleep: stated.asleep ?? (isStaged ? undefined : deep + rem + light),
    // Sleep of no known stage alone says nothing of the time awake in between.
    awake: stated.awake ?? (isStaged || awake > 0 ? awake : undefined),
  });
}

const STAGED = { deep: 'deep', rem: 'rem', light: 'light', awake: 'awake', asleep: 'light' } as const;
