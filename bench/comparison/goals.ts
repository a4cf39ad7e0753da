import { PAYLOADS, type PayloadName } from '#acuity/load/payloads.js';
import { pairwise, quantileOf, spreadOf, type Spread } from '#acuity/load/statistics.js';
import type { Mode } from './options.js';
import type { Result } from './run.js';
import { seriesOf, throughputOf } from './series.js';

export const HOLDS = 'holds';
export const FALLS_SHORT = 'falls short';

/** What the service must reach, beside what it did. */
export interface GoalLine {
  readonly goal: string;
  readonly payload: PayloadName | 'all';
  readonly wanted: string;
  readonly reached: string;
  readonly verdict: typeof HOLDS | typeof FALLS_SHORT | 'not measured';
}

/** A goal that compares the service with a peer, repetition by repetition; the median decides. */
interface RatioGoal {
  readonly name: string;
  readonly mode: Mode;
  readonly peer: string;
  readonly against: string;
  readonly unit: string;
  readonly digits: number;
  readonly isFloor: boolean;
  readonly limit: Readonly<Record<PayloadName, number>>;
  compare(ours: Result, theirs: Result): number;
}

const SERVICE = 'acuity';
/** Connections for which the goals are stated; runs with another number are not compared with them. */
const SATURATING_CONNECTIONS = 64;

const GOALS: readonly RatioGoal[] = [
  {
    name: 'throughput over fastify',
    mode: 'saturation',
    peer: SERVICE,
    against: 'fastify',
    unit: '×',
    digits: 2,
    isFloor: true,
    limit: { baseline: 6, history: 6 },
    compare: (ours, theirs) => throughputOf(ours) / throughputOf(theirs),
  },
  {
    name: "p99 under that load over fastify's",
    mode: 'saturation',
    peer: SERVICE,
    against: 'fastify',
    unit: '×',
    digits: 3,
    isFloor: false,
    limit: { baseline: 0.1, history: 0.1 },
    compare: (ours, theirs) => ours.p99Micros / theirs.p99Micros,
  },
  {
    name: "CPU per request over the floor's",
    mode: 'saturation',
    peer: SERVICE,
    against: 'floor',
    unit: '×',
    digits: 2,
    isFloor: false,
    limit: { baseline: 4, history: 8 },
    compare: (ours, theirs) => ours.cpuMicrosPerRequest / theirs.cpuMicrosPerRequest,
  },
  {
    name: "one request alone, p50 beyond the floor's",
    mode: 'alone',
    peer: SERVICE,
    against: 'floor',
    unit: ' µs',
    digits: 0,
    isFloor: false,
    limit: { baseline: 120, history: 200 },
    compare: (ours, theirs) => ours.p50Micros - theirs.p50Micros,
  },
  {
    name: 'throughput of two event loops over one',
    mode: 'saturation',
    peer: 'acuity-2',
    against: SERVICE,
    unit: '×',
    digits: 2,
    isFloor: true,
    limit: { baseline: 1, history: 1 },
    compare: (ours, theirs) => throughputOf(ours) / throughputOf(theirs),
  },
];

/** Every goal, in its order. */
export function goalLines(results: readonly Result[]): GoalLine[] {
  const ratios = GOALS.flatMap((goal) => PAYLOADS.map((payload) => ratioLine(goal, payload, results)));
  return [...ratios, rssLine(results), flatnessLine(results)];
}

function ratioLine(goal: RatioGoal, payload: PayloadName, results: readonly Result[]): GoalLine {
  const { name, mode, peer, against, unit, digits, isFloor } = goal;
  const limit = goal.limit[payload];
  const wanted = `${isFloor ? '≥' : '≤'} ${limit}${unit}`;
  const connections = mode === 'alone' ? 1 : SATURATING_CONNECTIONS;
  const ours = seriesOf(results, { peer, mode, payload, connections });
  const theirs = seriesOf(results, { peer: against, mode, payload, connections });
  if (ours.length === 0 || theirs.length !== ours.length) return notMeasured(name, payload, wanted);
  const values = ours.map((result, repetition) => {
    const other = theirs[repetition];
    return other === undefined ? NaN : goal.compare(result, other);
  });
  const reached = spreadOf(values);
  const holds = isFloor ? reached.median >= limit : reached.median <= limit;
  return { goal: name, payload, wanted, reached: spreadText(reached, digits, unit), verdict: verdict(holds) };
}

const RSS_MAX_BYTES = 250 * 1024 * 1024;
const MIB = 1024 * 1024;

function rssLine(results: readonly Result[]): GoalLine {
  const name = 'RSS at most, under load';
  const wanted = `≤ ${RSS_MAX_BYTES / MIB} MiB`;
  const seen = underLoad(results).flatMap(({ rssBytes }) => rssBytes);
  if (seen.length === 0) return notMeasured(name, 'all', wanted);
  const most = Math.max(...seen);
  return {
    goal: name,
    payload: 'all',
    wanted,
    reached: `${Math.round(most / MIB)} MiB`,
    verdict: verdict(most <= RSS_MAX_BYTES),
  };
}

/** Flat is judged within one long measurement: the second half of it against the first, its first tenth left out. */
const FLAT_SECONDS_MIN = 600;
const FLAT_GROWTH_MAX = 1.05;

function flatnessLine(results: readonly Result[]): GoalLine {
  const name = `RSS over ${FLAT_SECONDS_MIN / 60} minutes of full load, second half over first`;
  const wanted = `≤ ${FLAT_GROWTH_MAX} ×`;
  const long = underLoad(results).filter(({ seconds }) => Math.round(seconds) >= FLAT_SECONDS_MIN);
  if (long.length === 0) return notMeasured(name, 'all', wanted);
  const growths = long.map(({ rssBytes }) => {
    const settled = rssBytes.slice(Math.floor(rssBytes.length / 10));
    const half = Math.floor(settled.length / 2);
    return medianOf(settled.slice(half)) / medianOf(settled.slice(0, half));
  });
  const worst = Math.max(...growths);
  return {
    goal: name,
    payload: 'all',
    wanted,
    reached: `${worst.toFixed(3)} ×`,
    verdict: verdict(worst <= FLAT_GROWTH_MAX),
  };
}

function underLoad(results: readonly Result[]): Result[] {
  return results.filter(({ peer, mode }) => peer === SERVICE && mode === 'saturation');
}

function medianOf(values: readonly number[]): number {
  return quantileOf(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

function notMeasured(goal: string, payload: GoalLine['payload'], wanted: string): GoalLine {
  return { goal, payload, wanted, reached: '–', verdict: 'not measured' };
}

function verdict(holds: boolean): GoalLine['verdict'] {
  return holds ? HOLDS : FALLS_SHORT;
}

/** "6.21 × (5.98–6.40)". */
export function spreadText({ median, min, max }: Spread, digits: number, unit = ''): string {
  const [low, middle, high] = [min, median, max].map((value) => value.toFixed(digits));
  return `${middle}${unit.startsWith(' ') || unit === '' ? unit : ` ${unit}`} (${low}–${high})`;
}

/** `ours` against `theirs`, each repetition with the one measured beside it; undefined where one is absent. */
export function ratioOf(
  ours: readonly Result[],
  theirs: readonly Result[],
  valueOf: (result: Result) => number,
): Spread | undefined {
  const ratios = ratiosOf(ours, theirs, valueOf);
  return ratios.length === 0 ? undefined : spreadOf(ratios);
}

/** The same, repetition by repetition; none where one is absent. */
export function ratiosOf(
  ours: readonly Result[],
  theirs: readonly Result[],
  valueOf: (result: Result) => number,
): number[] {
  if (ours.length !== theirs.length) return [];
  return pairwise(ours.map(valueOf), theirs.map(valueOf), (value, other) => value / other);
}
