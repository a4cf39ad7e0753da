import { MOST_UNKNOWN, PART, ROUNDING_S, SOME_UNKNOWN, UNCOVERED_MAX } from './durations.js';
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
  const recordedS = lengthS(parts);
  const found = joined(parts, Math.max(0, (toMs - fromMs) / 1000 - recordedS));
  const measured = withoutUnmeasured(found, found.unmeasuredS / recordedS);
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
const AWAKE_UNKNOWN = 'of some of its parts the time awake is not known: that of the others was not taken';

/**
 * The sums of several parts. One without stages is sleep of no known stage, or time without a measurement if it has no
 * total either: what holds for such time within one part holds for it.
 */
function joined(parts: readonly Part[], gapS: number): Durations {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) {
    const { stages = {}, asleepS, unmeasuredS = 0 } = only.details;
    return { stages, asleepS, unmeasuredS, why: [] };
  }
  const isWhole = parts.some(({ details }) => sumOf(details.stages ?? {}) !== undefined);
  const taken = STAGES.filter((stage) => stage !== 'awake' && (isWhole || stage !== 'rem'));
  const staged = parts.filter(({ details }) => taken.every((stage) => details.stages?.[stage] !== undefined));
  const others = parts.filter((part) => !staged.includes(part));
  const sum = (among: readonly Part[], of: (details: SleepDetails) => number | undefined) =>
    totalOf(among.map(({ details }) => of(details)));
  const stagesS = ({ stages = {} }: SleepDetails) => totalOf(taken.map((stage) => stages[stage]));
  const stagedS = sum(staged, (details) => (isWhole ? undefined : details.asleepS) ?? stagesS(details));
  const unknownS = sum(others, ({ asleepS }) => asleepS);
  const asleepS = totalOf([stagedS, unknownS]);
  const isMostUnknown = (unknownS ?? 0) > (asleepS ?? 0) * (1 - PART);
  const isTaken = staged.length > 0 && !isMostUnknown;
  const isTotalKnown = !isWhole && staged.every(({ details }) => details.asleepS !== undefined);
  const blank = asleepS === undefined ? [] : others.filter(({ details }) => details.asleepS === undefined);
  const awake = sum(parts, ({ stages }) => stages?.awake);
  const awakeless = parts.filter(({ details }) => details.stages?.awake === undefined);
  const isAwakeKnown = lengthS(awakeless) <= (asleepS ?? 0) * UNCOVERED_MAX;
  const told = {
    [isMostUnknown ? MOST_UNKNOWN : SOME_UNKNOWN]: staged.length > 0 && (unknownS ?? 0) > 0,
    [isAwakeKnown ? BETWEEN : AWAKE_UNKNOWN]: awake !== undefined && (gapS > 0 || !isAwakeKnown),
  };
  return {
    stages: known({
      ...(isTaken &&
        Object.fromEntries(taken.map((stage) => [stage, sum(staged, ({ stages }) => stages?.[stage])]))),
      awake: awake === undefined || !isAwakeKnown ? undefined : awake + gapS,
    }),
    asleepS: !isTaken ? asleepS : isTotalKnown ? stagedS : undefined,
    unmeasuredS: (sum(parts, (details) => details.unmeasuredS) ?? 0) + lengthS(blank),
    why: Object.keys(told).filter((why) => told[why]),
  };
}

function lengthS(parts: readonly Part[]): number {
  return parts.reduce((sum, { record }) => sum + record.toMs - record.fromMs, 0) / 1000;
}

/** The sum of those that are known; undefined if none is. */
function totalOf(values: readonly (number | undefined)[]): number | undefined {
  const found = values.filter((value) => value !== undefined);
  return found.length === 0 ? undefined : found.reduce((sum, value) => sum + value, 0);
}
