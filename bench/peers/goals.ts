import { PAYLOADS, type PayloadName } from '#acuity/tune/load/payloads.js';
import type { Peer } from '#bench/server.js';
import { comparedBy, spreadText } from '#bench/spread.js';
import { ACUITY, FASTIFY, FLOOR, RUST } from './catalogue.js';
import type { Mode, Result } from './comparison.js';

/** A goal of the service, said of its ratio to a peer, or its distance from it, in the same repetition; the median decides. */
interface Goal {
  readonly name: string;
  readonly mode: Mode;
  readonly theirs: Peer;
  readonly unit: '×' | 'µs' | 'ms';
  readonly digits: number;
  /** Whether the limit is a minimum. */
  readonly isFloor?: boolean;
  readonly limit: Readonly<Record<PayloadName, number>>;
  compare(ours: Result, theirs: Result): number;
}

const cpu = (ours: Result, theirs: Result): number => ours.cpuMicrosPerRequest / theirs.cpuMicrosPerRequest;
const throughput = (ours: Result, theirs: Result): number =>
  ours.requests / ours.seconds / (theirs.requests / theirs.seconds);

const GOALS: readonly Goal[] = [
  { name: "CPU per request over the floor's", mode: 'saturation', theirs: FLOOR, unit: '×', digits: 2, limit: { baseline: 2.2, history: 4.5 }, compare: cpu },
  { name: "CPU per request over fastify's", mode: 'saturation', theirs: FASTIFY, unit: '×', digits: 3, limit: { baseline: 1 / 7, history: 1 / 9 }, compare: cpu },
  { name: 'throughput over the Rust peer', mode: 'saturation', theirs: RUST, unit: '×', digits: 2, isFloor: true, limit: { baseline: 1.25, history: 1.6 }, compare: throughput },
  { name: 'throughput over fastify', mode: 'saturation', theirs: FASTIFY, unit: '×', digits: 2, isFloor: true, limit: { baseline: 6, history: 6 }, compare: throughput },
  { name: "p99 at saturation over the floor's", mode: 'saturation', theirs: FLOOR, unit: '×', digits: 2, limit: { baseline: 2, history: 3 }, compare: (ours, theirs) => ours.p99Micros / theirs.p99Micros },
  { name: "p99.9 at 60 % of saturation, fixed rate, beyond the floor's", mode: 'share', theirs: FLOOR, unit: 'ms', digits: 2, limit: { baseline: 3, history: 3 }, compare: (ours, theirs) => (ours.p999Micros - theirs.p999Micros) / 1000 },
  { name: "one request alone, p50 beyond the floor's", mode: 'alone', theirs: FLOOR, unit: 'µs', digits: 0, limit: { baseline: 40, history: 80 }, compare: (ours, theirs) => ours.p50Micros - theirs.p50Micros },
]; // prettier-ignore

/** Every goal for the payloads that were measured, its header first; without a verdict unless it is `judged`. */
export function goalTable(results: readonly Result[], judged: boolean): string[][] {
  const payloads = PAYLOADS.filter((name) => results.some(({ payload }) => payload === name));
  const lines = GOALS.flatMap((goal) => payloads.map((payload) => lineOf(goal, payload, results)));
  const table = [['goal', 'payload', 'wanted', 'reached', ''], ...lines];
  return judged ? table : table.map((line) => line.slice(0, -1));
}

function lineOf(goal: Goal, payload: PayloadName, results: readonly Result[]): string[] {
  const { name, mode, theirs, unit, digits, isFloor = false } = goal;
  const limit = goal.limit[payload];
  const of = (peer: Peer): Result[] =>
    results.filter((one) => one.peer === peer.name && one.payload === payload && one.mode === mode);
  const reached = comparedBy(of(ACUITY), of(theirs), (ours, other) => goal.compare(ours, other));
  const wanted = `${isFloor ? '≥' : '≤'} ${Number.isInteger(1000 * limit) ? limit : limit.toFixed(digits)} ${unit}`;
  if (reached === undefined) return [name, payload, wanted, '–', 'not measured'];
  const holds = isFloor ? reached.median >= limit : reached.median <= limit;
  return [name, payload, wanted, `${spreadText(reached, digits)} ${unit}`, holds ? 'holds' : 'falls short'];
}
