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
  const place = parts[0].field.place;
  const durations = judged(durationsOf(read, Math.max(0, toMs - fromMs - asleepMs) / 1000), asleepMs / 1000);
  return {
    ...durations,
    heart: {
      samples: read.flatMap(({ record, details }) => within([record], details.heart, 'heart rate')),
      average: averageOf(read, ({ heartAverage }) => average(heartAverage, 25, 150, 'beats')),
    },
    breath: {
      samples: read.flatMap(({ record, details }) => within([record], details.breath, 'respiratory rate')),
      average: averageOf(read, ({ breathAverage }) => average(breathAverage, 3, 40, 'breaths')),
    },
    left: [
      ...read.flatMap(({ details }) => details.left ?? []),
      ...durations.why.map((why) => ({ what: place, why })),
    ],
  };
}

/** Time awake and asleep, and why some of it was not taken or was added. */
interface Durations extends Pick<Joined, 'stages' | 'asleepS'> {
  readonly unmeasuredS: number;
  readonly why: readonly string[];
}

/** More than this of the night without a measurement is told; */
const UNMEASURED_TOLD = 0.1;
/** of more than this neither stages nor total are taken. */
const UNMEASURED_MAX = 0.25;
/** Of so much sleep some is REM sleep. */
const REM_WITHIN_S = 4 * 3600;
/** Sums differ by rounding to minutes. */
const ROUNDING_S = 120;

/** What holds for the durations of every provider. */
function judged(found: Durations, lengthS: number): Durations {
  const measured = withoutUnmeasured(found, found.unmeasuredS / lengthS);
  return isWithoutRem(measured) ? onlyDeep(measured) : measured;
}

function withoutUnmeasured(found: Durations, share: number): Durations {
  if (!(share > UNMEASURED_TOLD)) return found;
  const { awake } = found.stages;
  if (share <= UNMEASURED_MAX) return { ...found, why: [...found.why, SOME_UNMEASURED] };
  const stages = awake === undefined ? {} : { awake };
  return { ...found, stages, asleepS: undefined, why: [...found.why, MOST_UNMEASURED] };
}

const SOME_UNMEASURED = 'more than a tenth of it was not measured: that time is neither sleep nor awake';
const MOST_UNMEASURED = 'more than a quarter of it was not measured: its stages and its total were not taken';

/** A device that tells REM from light sleep finds some in a night; where it is not given, the others are the whole. */
function isWithoutRem({ stages: { deep, rem, light }, asleepS }: Durations): boolean {
  if (deep === undefined || light === undefined || (rem ?? 0) > 0) return false;
  const sum = deep + light;
  if (rem === undefined && asleepS !== undefined) return Math.abs(sum - asleepS) <= ROUNDING_S;
  return sum >= REM_WITHIN_S;
}

/** The service would derive no REM sleep at all from deep and light sleep that are the whole. */
function onlyDeep({ stages: { deep = 0, rem, light = 0, awake }, asleepS, ...found }: Durations): Durations {
  const sum = deep + light;
  return {
    ...found,
    stages: { deep, ...(awake !== undefined && { awake }) },
    asleepS: rem === undefined ? (asleepS ?? sum) : sum,
    why: [...found.why, WITHOUT_REM],
  };
}

const WITHOUT_REM = 'no REM sleep was detected: it is in the light sleep, of which only the sum is taken';
const BETWEEN = 'the time between its parts counts as awake';

function durationsOf(parts: readonly Part[], gapS: number): Durations {
  const [first] = parts;
  const unmeasuredS = parts.reduce((total, { details }) => total + (details.unmeasuredS ?? 0), 0);
  if (parts.length === 1 && first !== undefined)
    return { stages: first.details.stages ?? {}, asleepS: first.details.asleepS, unmeasuredS, why: [] };
  const sum = (of: (details: SleepDetails) => number | undefined) =>
    parts.reduce<number | undefined>((total, { details }) => {
      const value = of(details);
      return total === undefined || value === undefined ? undefined : total + value;
    }, 0);
  const [deep, rem, light, awake] = STAGES.map((stage) => sum(({ stages }) => stages?.[stage]));
  const isStaged = deep !== undefined && rem !== undefined && light !== undefined;
  const isRemUnknown = parts.every(({ details }) => details.stages?.rem === undefined);
  const isDeepAndLight = isRemUnknown && deep !== undefined && light !== undefined;
  return {
    stages: {
      ...(isStaged && { deep, rem, light }),
      ...(isDeepAndLight && { deep, light }),
      ...(awake !== undefined && { awake: awake + gapS }),
    },
    asleepS: isStaged ? undefined : sum(asleepOf),
    unmeasuredS,
    why: awake !== undefined && gapS > 0 ? [BETWEEN] : [],
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
