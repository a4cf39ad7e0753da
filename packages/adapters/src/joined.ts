import { ROUNDING_S } from './durations.js';
import { known } from './ordered.js';
import type { SleepDetails, SleepRecord } from './records.js';
import { STAGES, sumOf, type Span, type StageDurations } from './sleep.js';

/** One of the parts of a night, with what its provider says. @internal */
export interface Part {
  readonly record: SleepRecord;
  readonly details: SleepDetails;
}

/** Time awake and asleep, and why some of it was not taken or was added. */
interface Durations {
  readonly stages: StageDurations;
  readonly asleepS: number | undefined;
  readonly unmeasuredS: number;
  readonly why: readonly string[];
}

/** More than this of the night without a measurement is told; */
const UNMEASURED_TOLD = 0.1;
/** of more than this neither stages nor total are taken. */
const UNMEASURED_MAX = 0.25;
/** A longer sleep always has some REM sleep. */
const REM_WITHIN_S = 4 * 3600;

/** The durations of a night by what holds for every provider; the time between its parts counts as awake. @internal */
export function durationsOf(parts: readonly Part[], { fromMs, toMs }: Span): Durations {
  const lengthMs = parts.reduce((sum, { record }) => sum + record.toMs - record.fromMs, 0);
  const found = joined(parts, Math.max(0, toMs - fromMs - lengthMs) / 1000);
  const measured = withoutUnmeasured(found, found.unmeasuredS / (lengthMs / 1000));
  return isWithoutRem(measured) ? onlyDeep(measured) : measured;
}

function withoutUnmeasured(found: Durations, share: number): Durations {
  if (!(share > UNMEASURED_TOLD)) return found;
  if (share <= UNMEASURED_MAX) return { ...found, why: [...found.why, SOME_UNMEASURED] };
  const stages = known({ awake: found.stages.awake });
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
    stages: known({ deep, awake }),
    asleepS: rem === undefined ? (asleepS ?? sum) : sum,
    why: [...found.why, WITHOUT_REM],
  };
}

const WITHOUT_REM = 'no REM sleep was detected: it is in the light sleep, of which only the sum is taken';
const BETWEEN = 'the time between its parts counts as awake';

function joined(parts: readonly Part[], gapS: number): Durations {
  const [first] = parts;
  const unmeasuredS = parts.reduce((total, { details }) => total + (details.unmeasuredS ?? 0), 0);
  if (parts.length === 1 && first !== undefined)
    return { stages: first.details.stages ?? {}, asleepS: first.details.asleepS, unmeasuredS, why: [] };
  const sum = (of: (details: SleepDetails) => number | undefined): number | undefined => {
    const total = parts.reduce((all, { details }) => all + (of(details) ?? NaN), 0);
    return isNaN(total) ? undefined : total;
  };
  const [deep, rem, light, awake] = STAGES.map((stage) => sum(({ stages }) => stages?.[stage]));
  const staged = known({ deep, rem, light });
  const isWhole = sumOf(staged) !== undefined;
  const isRemUnknown = parts.every(({ details }) => details.stages?.rem === undefined);
  const isTaken = isWhole || (isRemUnknown && deep !== undefined && light !== undefined);
  return {
    stages: known({ ...(isTaken && staged), awake: awake === undefined ? undefined : awake + gapS }),
    asleepS: isWhole ? undefined : sum(({ stages = {}, asleepS }) => sumOf(stages) ?? asleepS),
    unmeasuredS,
    why: awake !== undefined && gapS > 0 ? [BETWEEN] : [],
  };
}
