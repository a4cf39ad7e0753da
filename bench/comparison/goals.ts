import { PAYLOADS, type PayloadName } from '#acuity/load/payloads.js';
import { pairwise, quantileOf, spreadOf, type Spread } from '#acuity/load/statistics.js';
import { ACUITY } from '#bench/peers/catalogue.js';
import { payloadOf, RATIO_GOALS, type RatioGoal, type Side } from './ratioGoals.js';
import type { Result } from './result.js';
import { seriesOf, throughputOf } from './series.js';

export const HOLDS = 'holds';
export const FALLS_SHORT = 'falls short';

/** A goal of the service, and the measured value. */
export interface GoalLine {
  readonly goal: string;
  readonly payload: PayloadName | 'all';
  readonly wanted: string;
  readonly reached: string;
  readonly verdict: typeof HOLDS | typeof FALLS_SHORT | 'not measured';
}

/** Every goal, in its order. */
export function goalLines(results: readonly Result[]): GoalLine[] {
  const ratios = RATIO_GOALS.flatMap((goal) =>
    PAYLOADS.flatMap((payload) => ratioLine(goal, payload, results) ?? []),
  );
  return [...ratios, rssLine(results), flatnessLine(results)];
}

/** The lines as a table, its header first. */
export function goalTable(lines: readonly GoalLine[]): string[][] {
  const rows = lines.map((line) => [line.goal, line.payload, line.wanted, line.reached, line.verdict]);
  return [['goal', 'payload', 'wanted', 'reached', ''], ...rows];
}

/** Undefined if the goal does not apply to the payload. */
function ratioLine(goal: RatioGoal, payload: PayloadName, results: readonly Result[]): GoalLine | undefined {
  const { name, unit, digits, isFloor } = goal;
  const limit = goal.limit[payload];
  if (limit === undefined) return undefined;
  const wanted = `${isFloor ? '≥' : '≤'} ${Number.isInteger(1000 * limit) ? limit : limit.toFixed(digits)}${unit}`;
  const ours = bestOf(goal.ours, payload, results);
  const theirs = bestOf(goal.theirs, payload, results);
  if (ours.length === 0 || theirs.length !== ours.length) return notMeasured(name, payload, wanted);
  const values = ours.map((result, repetition) => {
    const other = theirs[repetition];
    return other === undefined ? NaN : goal.compare(result, other);
  });
  const reached = spreadOf(values);
  const holds = isFloor ? reached.median >= limit : reached.median <= limit;
  return { goal: name, payload, wanted, reached: spreadText(reached, digits, unit), verdict: verdict(holds) };
}

/** The results of the peer with the highest median throughput on a side. */
function bestOf(side: Side, payload: PayloadName, results: readonly Result[]): Result[] {
  const { peers, mode, connections } = side;
  const measured = peers
    .map((peer) => seriesOf(results, { peer, mode, connections, payload: payloadOf(side, payload) }))
    .filter((series) => series.length > 0);
  return measured.toSorted((one, other) => typical(other) - typical(one))[0] ?? [];
}

function typical(series: readonly Result[]): number {
  return medianOf(series.map(throughputOf));
}

const RSS_MAX_BYTES = 170 * 1024 * 1024;
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

/** Growth is judged within one long measurement: its second half against its first, without the first tenth. */
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

/** The long measurement if there is one, else the saturated ones of the plain payloads. */
function underLoad(results: readonly Result[]): Result[] {
  const ours = results.filter(({ peer }) => peer === ACUITY.name);
  const long = ours.filter(({ mode }) => mode === 'long');
  if (long.length > 0) return long;
  return ours.filter(
    ({ mode, payload }) => mode === 'saturation' && PAYLOADS.some((plain) => plain === payload),
  );
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

/** `ours` divided by `theirs`, each repetition with the one measured beside it; undefined if one is missing. */
export function ratioOf(
  ours: readonly Result[],
  theirs: readonly Result[],
  valueOf: (result: Result) => number,
): Spread | undefined {
  if (ours.length === 0 || ours.length !== theirs.length) return undefined;
  return spreadOf(pairwise(ours.map(valueOf), theirs.map(valueOf), (value, other) => value / other));
}
