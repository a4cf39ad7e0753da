import { STAGES, type StageDurations } from './sleep.js';
import { isReading, UnitError } from './unitChecks.js';
import type { Night } from './choose.js';
import type { Field } from './field.js';
import type { Left, SleepDetails, SleepRecord } from './records.js';
import { within, type Reading } from './series.js';

/** One signal of a night. @internal */
export interface OwnSignal {
  readonly samples: readonly Reading[];
  /** The average, if the provider gives one instead of a series. */
  readonly average: number | undefined;
}

/** The data of all parts of a night together. @internal */
export interface Joined {
  readonly stages: StageDurations;
  readonly asleepS: number | undefined;
  readonly heart: OwnSignal;
  readonly breath: OwnSignal;
  readonly left: readonly Left[];
}

interface Part {
  readonly record: SleepRecord;
  readonly details: SleepDetails;
}

/** Joins the parts of a night; the time between them counts as awake. @internal */
export function joined({ fromMs, toMs, parts }: Night): Joined {
  const read = parts.map((record) => ({ record, details: record.read() }));
  const asleepMs = parts.reduce((sum, part) => sum + part.toMs - part.fromMs, 0);
  return {
    ...durationsOf(read, Math.max(0, toMs - fromMs - asleepMs) / 1000),
    heart: {
      samples: read.flatMap(({ record, details }) => within([record], details.heart, 'heart rate')),
      average: averageOf(read, ({ heartAverage }) => average(heartAverage, 25, 150, 'beats')),
    },
    breath: {
      samples: read.flatMap(({ record, details }) => within([record], details.breath, 'respiratory rate')),
      average: averageOf(read, ({ breathAverage }) => average(breathAverage, 3, 40, 'breaths')),
    },
    left: read.flatMap(({ details }) => details.left ?? []),
  };
}

function durationsOf(parts: readonly Part[], gapS: number): Pick<Joined, 'stages' | 'asleepS'> {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined)
    return { stages: first.details.stages ?? {}, asleepS: first.details.asleepS };
  const sum = (of: (details: SleepDetails) => number | undefined) =>
    parts.reduce<number | undefined>((total, { details }) => {
      const value = of(details);
      return total === undefined || value === undefined ? undefined : total + value;
    }, 0);
  const [deep, rem, light, awake] = STAGES.map((stage) => sum(({ stages }) => stages?.[stage]));
  const isStaged = deep !== undefined && rem !== undefined && light !== undefined;
  return {
    stages: { ...(isStaged && { deep, rem, light }), ...(awake !== undefined && { awake: awake + gapS }) },
    asleepS: isStaged ? undefined : sum(asleepOf),
  };
}

function asleepOf({ stages: { deep, rem, light } = {}, asleepS }: SleepDetails): number | undefined {
  const isStaged = deep !== undefined && rem !== undefined && light !== undefined;
  return isStaged ? deep + rem + light : asleepS;
}

/** The mean over the parts that have one, weighted by their lengths; in hundredths if there are several. */
function averageOf(
  parts: readonly Part[],
  of: (details: SleepDetails) => number | undefined,
): number | undefined {
  const known = parts.flatMap(({ record, details }) => {
    const value = of(details);
    return value === undefined ? [] : [{ value, ms: record.toMs - record.fromMs }];
  });
  if (known.length <= 1) return known[0]?.value;
  const ms = known.reduce((sum, one) => sum + one.ms, 0);
  return Math.round((known.reduce((sum, one) => sum + one.value * one.ms, 0) / ms) * 100) / 100;
}

function average(field: Field | undefined, min: number, max: number, what: string): number | undefined {
  const value = field?.quotedNumber();
  if (field === undefined || value === undefined || !isReading(value)) return undefined;
  if (value >= min && value <= max) return value;
  throw new UnitError(`expected ${what} per minute on average, ${min} to ${max}`, field.path);
}
