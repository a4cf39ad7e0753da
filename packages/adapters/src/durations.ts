import { firstFrom, known } from './ordered.js';
import type { Kind, Span } from './sleep.js';
import { UnitError } from './unitChecks.js';
import type { Field } from './field.js';
import type { SleepDetails } from './records.js';
import { DAY_MS } from './zone.js';

/** How long each stage of a sleep lasted, by the sums or the intervals that its provider states. */

type Durations = Pick<SleepDetails, 'stages' | 'asleepS' | 'unmeasuredS' | 'left'>;

/** Seconds. @internal */
export const UNIT_S = { milliseconds: 0.001, seconds: 1, minutes: 60, hours: 3_600 } as const;

/** Durations as a provider states them; `asleep` is all of the sleep, `unknown` that of no known stage. */
type Sums = { readonly [S in Kind | 'unknown']?: number | undefined };

/** Intervals of this sleep; or of several, of which those within its span count. */
type Intervals = readonly Stretch[] | Stretches;

/**
 * Seconds of the stages, by their sums; by intervals if there is no sum of a stage.
 * @param field  the field to name if the sums can't be those of a sleep from `fromMs` to `toMs`
 * @param intervals  and the field to name for them
 * @throws UnitError if they add up to far more or far less than the length of the sleep
 * @internal
 */
export function durations(
  field: Field,
  span: Span,
  unit: keyof typeof UNIT_S,
  given: Sums,
  staged?: readonly [field: Field, () => Intervals],
): Durations {
  const scaled = Object.entries(known(given)).map(([name, value]) => [name, value * UNIT_S[unit]]);
  const sums = Object.fromEntries(scaled) as Sums;
  if (staged === undefined || [sums.deep, sums.rem, sums.light].some((value) => (value ?? 0) > 0))
    return ofSums(field, span, unit, sums);
  const [named, intervals] = staged;
  const found = intervals();
  // Sums that are all zero say nothing, of the time awake neither.
  const { asleep, awake } = sums;
  return found instanceof Stretches || found.length > 0
    ? stretches(named, span, found, { asleep: asleep || undefined, awake: awake || undefined })
    : ofSums(field, span, unit, sums);
}

/** Devices without stages report all three stages of sleep as zero. */
function ofSums(
  field: Field,
  { fromMs, toMs }: Span,
  unit: keyof typeof UNIT_S,
  { deep, rem, light, awake, unknown = 0, asleep }: Sums,
): Durations {
  if ([deep, rem, light, awake, unknown, asleep].some((value) => value !== undefined && value < 0))
    field.fail('a duration is negative');
  const sum = (deep ?? 0) + (rem ?? 0) + (light ?? 0);
  const statedS = asleep ?? (unknown > 0 ? sum + unknown : undefined);
  const spanS = (toMs - fromMs) / 1000;
  const hasAll = deep !== undefined && rem !== undefined && light !== undefined;
  const isInBed = hasAll && statedS !== undefined && isTimeInBed(statedS, sum, awake ?? 0, spanS);
  const asleepS = isInBed ? sum : statedS;
  const isStaged = sum > 0 || asleepS === undefined || asleepS === 0;
  const sleepS = Math.max(sum, asleepS ?? 0);
  const isWhole = sleepS > 0 && (hasAll || asleepS !== undefined);
  const least = isWhole ? (awake === undefined ? 10 : 4) : 30;
  const isSleepGiven = [deep, rem, light, asleepS].some((value) => value !== undefined);
  // The time awake alone may be a minute.
  const far = distance(sleepS, awake ?? 0, spanS, isSleepGiven ? spanS / least : 0);
  if (far !== undefined)
    throw new UnitError(`expected ${unit}; they add up to far ${far} than the sleep is long`, field.path);
  const isPartial = hasAll && sum < (asleepS ?? 0) * PART;
  const hasStages = isStaged && !isPartial;
  const isSomeUnknown = hasStages && (unknown > 0 || (hasAll && (asleepS ?? 0) - sum > ROUNDING_S));
  const why = isInBed ? IN_BED : isStaged && isPartial ? PARTIAL : isSomeUnknown ? SOME_UNKNOWN : undefined;
  const left = why === undefined ? [] : [{ what: field.place, why }];
  return { stages: known({ ...(hasStages && { deep, rem, light }), awake }), asleepS, left };
}

/** Stages that add up to a smaller share of the stated sleep, or of its time, do not cover the whole sleep. */
export const PART = 0.75;
/** Gaps between stages of a larger share of the sleep may be time awake. */
export const UNCOVERED_MAX = 0.1;
const UNCOVERED = 'its stages cover less than three quarters of the sleep: they were not taken';
const PARTIAL = 'its stages add up to far less than the sleep that it states: only that is taken';
const IN_BED = 'its total has the time awake in it: the stages are taken';
export const SOME_UNKNOWN = 'sleep of no known stage: it is not counted, the stages are';
export const MOST_UNKNOWN = 'more than a quarter of its sleep is of no known stage: only the sum is taken';

/** Sums differ by rounding to minutes. @internal */
export const ROUNDING_S = 120;

function fits(seconds: number, spanS: number): boolean {
  return seconds <= spanS * 1.05 + 120;
}

function isSame(seconds: number, other: number | undefined): boolean {
  return other !== undefined && Math.abs(seconds - other) <= ROUNDING_S;
}

/** Whether a total is that of the time in bed: too long beside the time awake, and just as long as all together. */
function isTimeInBed(statedS: number, stagesS: number, awakeS: number, spanS: number): boolean {
  return !fits(statedS + awakeS, spanS) && isSame(stagesS + awakeS, statedS);
}

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
  if (!fits(sleepS + awakeS, spanS)) return 'more';
  const isMinutesBesideSeconds = sleepS < spanS / 30 && sleepS * 60 > spanS / 2 && fits(sleepS * 60 + awakeS, spanS); // prettier-ignore
  const isShort = sleepS + awakeS > 0 && sleepS + awakeS < leastS;
  return isShort || isMinutesBesideSeconds ? 'less' : undefined;
}

/** An interval of one stage; `asleep` is sleep in an unknown stage, undefined is unknown. @internal */
export interface Stretch {
  readonly stage: Kind | undefined;
  readonly from: number;
  readonly to: number;
}

/** Intervals from the moments at which stages begin, in any order; each lasts until the next. @internal */
export function untilNext(points: readonly Omit<Stretch, 'to'>[], endMs: number): Stretch[] {
  const ordered = points.toSorted((a, b) => a.from - b.from);
  return ordered.map((point, index) => ({ ...point, to: ordered[index + 1]?.from ?? endMs }));
}

/** Running sums: milliseconds of each kind, and how many intervals can't be: that end before they begin, or overlap. */
const NONE = { deep: 0, rem: 0, light: 0, awake: 0, asleep: 0, reversed: 0, overlapping: 0 };

/**
 * Intervals that are read and summed up once, so that the sums of a span are looked up: several sleeps may lie within
 * them. @internal
 */
export class Stretches {
  /** Those of a known stage, in order. */
  private readonly known: readonly Stretch[];
  /** Sums of all before each of them, and of all. */
  private readonly sums: readonly (typeof NONE)[];

  constructor(intervals: readonly Stretch[]) {
    this.known = intervals.filter(({ stage }) => stage !== undefined).toSorted((a, b) => a.from - b.from);
    let [sums, untilMs] = [NONE, -Infinity];
    const running = this.known.map(({ stage = 'asleep', from, to }) => {
      const reversed = sums.reversed + Number(to < from);
      const overlapping = sums.overlapping + Number(from < untilMs);
      untilMs = to;
      return (sums = { ...sums, reversed, overlapping, [stage]: sums[stage] + to - from });
    });
    this.sums = [NONE, ...running];
  }

  /** Seconds of all of them, or of those within a span; undefined if there are none. Sleep of no known stage is light. */
  seconds(span?: Span) {
    const { known, sums } = this;
    const index = (ms: number) => firstFrom(ms, known, ({ from }) => from);
    const [first, after] = span === undefined ? [0, known.length] : [index(span.fromMs), index(span.toMs)];
    const [begin, last] = [known[first], known[after - 1]];
    if (first >= after || begin === undefined || last === undefined) return undefined;
    const beyondMs = span === undefined ? 0 : Math.max(0, last.to - span.toMs);
    const of = (sum: keyof typeof NONE, from = first) =>
      (sums[after]?.[sum] ?? 0) - (sums[from]?.[sum] ?? 0) - (sum === last.stage ? beyondMs : 0);
    if (of('reversed') > 0) throw new RangeError('a sleep stage ends before it begins');
    if (of('overlapping', first + 1) > 0)
      throw new RangeError('sleep stages overlap; give those of one device, each stretch once');
    if (last.to - beyondMs - begin.from > DAY_MS)
      throw new RangeError('the sleep stages span more than one night');
    const rounded = (ms: number) => Math.round(ms / 1000);
    return {
      deep: rounded(of('deep')),
      rem: rounded(of('rem')),
      light: rounded(of('light') + of('asleep')),
      awake: rounded(of('awake')),
      unknown: rounded(of('asleep')),
    };
  }
}

/**
 * Seconds of stages in intervals; if much of the sleep has an unknown stage, only their sum.
 * @param stated  seconds that the provider states
 * @internal
 */
export function stretches(
  field: Field,
  span: Span,
  intervals: Intervals,
  { asleep: statedS, awake: statedAwakeS }: Pick<Sums, 'asleep' | 'awake'> = {},
): Durations {
  const found = field.located(() =>
    intervals instanceof Stretches ? intervals.seconds(span) : new Stretches(intervals).seconds(),
  );
  const stated = { asleep: statedS, awake: statedAwakeS };
  if (found === undefined) return ofSums(field, span, 'seconds', stated);
  const { deep, rem, light, awake, unknown: unknownS } = found;
  const asleepS = deep + rem + light;
  const take = (given: Sums, why: string | undefined) => {
    const { left = [], ...rest } = ofSums(field, span, 'seconds', given);
    return { ...rest, left: why === undefined ? left : [...left, { what: field.place, why }] };
  };
  if (asleepS + awake < ((span.toMs - span.fromMs) / 1000) * PART) return take(stated, UNCOVERED);
  if (unknownS > asleepS * (1 - PART)) {
    // Sleep of no known stage alone says nothing of the time awake in between.
    const sums = { asleep: stated.asleep ?? asleepS, awake: stated.awake ?? (awake > 0 ? awake : undefined) };
    return take(sums, unknownS < asleepS ? MOST_UNKNOWN : undefined);
  }
  const unmeasuredS = (span.toMs - span.fromMs) / 1000 - asleepS - awake;
  // Time that no stage covers is neither sleep nor awake: how long the person was awake is then not known.
  const isAwakeKnown = unmeasuredS <= (awake > 0 ? asleepS * UNCOVERED_MAX : ROUNDING_S);
  const stages = {
    deep,
    rem,
    light: light - unknownS,
    awake: stated.awake ?? (isAwakeKnown ? awake : undefined),
  };
  const taken = take({ ...stages, asleep: stated.asleep }, unknownS > 0 ? SOME_UNKNOWN : undefined);
  return { ...taken, unmeasuredS: Math.max(0, unmeasuredS) };
}
