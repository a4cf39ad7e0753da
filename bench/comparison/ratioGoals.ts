import type { PayloadName } from '#acuity/load/payloads.js';
import {
  ACUITY,
  ACUITY_BUSY,
  ACUITY_SHORT,
  ACUITY_TWO,
  FASTIFY,
  FLOOR,
  RUST,
  RUST_PEERS,
  type Peer,
} from '#bench/peers/catalogue.js';
import type { Mode } from './mode.js';
import type { BenchPayload } from './payload.js';
import { CROWD_CONNECTIONS, REFUSED_CONNECTIONS, SATURATING_CONNECTIONS } from './plan.js';
import type { Result } from './result.js';
import { goodputOf, throughputOf } from './series.js';

/** The measurements on one side of a goal. */
export interface Side {
  /** Of several peers, the one with the highest throughput counts. */
  readonly peers: readonly string[];
  readonly mode: Mode;
  readonly connections: number;
  /** The form of the payload; the plain payload if absent. */
  readonly form?: string;
}

/** A goal that compares two series, repetition by repetition; the median decides. */
export interface RatioGoal {
  readonly name: string;
  readonly ours: Side;
  readonly theirs: Side;
  readonly unit: '×' | ' µs' | ' ms';
  readonly digits: number;
  /** Whether the limit is a minimum. */
  readonly isFloor: boolean;
  /** Payloads without an entry have no goal. */
  readonly limit: Readonly<Partial<Record<PayloadName, number>>>;
  compare(ours: Result, theirs: Result): number;
}

function saturated({ name }: Peer, form?: string): Side {
  const side = { peers: [name], mode: 'saturation', connections: SATURATING_CONNECTIONS } as const;
  return form === undefined ? side : { ...side, form };
}

function at(mode: Mode, { name }: Peer, connections: number): Side {
  return { peers: [name], mode, connections };
}

const AT_MOST = { unit: '×', digits: 2, isFloor: false } as const;
const AT_LEAST = { unit: '×', digits: 2, isFloor: true } as const;

const cpuRatio = (ours: Result, theirs: Result): number =>
  ours.cpuMicrosPerRequest / theirs.cpuMicrosPerRequest;
const mainCpuRatio = (ours: Result, theirs: Result): number =>
  ours.mainCpuMicrosPerRequest / theirs.mainCpuMicrosPerRequest;
const throughputRatio = (ours: Result, theirs: Result): number => throughputOf(ours) / throughputOf(theirs);
const goodputRatio = (ours: Result, theirs: Result): number => goodputOf(ours) / goodputOf(theirs);

/** What a form may cost relative to the plain payload. */
function formGoal(form: string, what: string, limit: RatioGoal['limit']): RatioGoal {
  const name = `CPU per request of ${what} over its tenths`;
  return {
    name,
    ours: saturated(ACUITY, form),
    theirs: saturated(ACUITY),
    ...AT_MOST,
    limit,
    compare: cpuRatio,
  };
}

function goodputGoal(what: string, ours: Side, theirs: Side, least: number): RatioGoal {
  const limit = { baseline: least, history: least };
  return {
    name: `goodput at 2,000 connections over 64, ${what}`,
    ours,
    theirs,
    ...AT_LEAST,
    limit,
    compare: goodputRatio,
  };
}

export const RATIO_GOALS: readonly RatioGoal[] = [
  {
    name: "CPU per request over the floor's",
    ours: saturated(ACUITY),
    theirs: saturated(FLOOR),
    ...AT_MOST,
    limit: { baseline: 2.2, history: 4.5 },
    compare: cpuRatio,
  },
  {
    name: "CPU per request over fastify's",
    ours: saturated(ACUITY),
    theirs: saturated(FASTIFY),
    ...AT_MOST,
    digits: 3,
    limit: { baseline: 1 / 7, history: 1 / 9 },
    compare: cpuRatio,
  },
  {
    name: 'throughput over the best Rust peer',
    ours: saturated(ACUITY),
    theirs: { ...saturated(RUST), peers: RUST_PEERS.map(({ name }) => name) },
    ...AT_LEAST,
    limit: { baseline: 1.25, history: 1.6 },
    compare: throughputRatio,
  },
  {
    name: 'throughput over fastify',
    ours: saturated(ACUITY),
    theirs: saturated(FASTIFY),
    ...AT_LEAST,
    limit: { baseline: 6, history: 6 },
    compare: throughputRatio,
  },
  {
    name: "p99 at saturation over the floor's",
    ours: saturated(ACUITY),
    theirs: saturated(FLOOR),
    ...AT_MOST,
    limit: { baseline: 2, history: 3 },
    compare: (ours, theirs) => ours.p99Micros / theirs.p99Micros,
  },
  {
    name: "p99.9 at 60 % of saturation, fixed rate, beyond the floor's",
    ours: at('share', ACUITY, SATURATING_CONNECTIONS),
    theirs: at('share', FLOOR, SATURATING_CONNECTIONS),
    unit: ' ms',
    digits: 2,
    isFloor: false,
    limit: { baseline: 3, history: 3 },
    compare: (ours, theirs) => (ours.p999Micros - theirs.p999Micros) / 1000,
  },
  formGoal('means-14', 'samples of 14 decimals', { history: 2 }),
  formGoal('scalars-17', 'scalars and scores of 17 digits', { baseline: 1.1, history: 1.1 }),
  formGoal('gaps', '5 % gaps', { history: 1.2 }),
  formGoal('pretty', 'pretty-printed JSON', { history: 1.4 }),
  {
    name: "main thread's CPU per 503 over the floor's per answer",
    ours: at('refusal', ACUITY_BUSY, REFUSED_CONNECTIONS),
    theirs: at('refusal', FLOOR, REFUSED_CONNECTIONS),
    ...AT_MOST,
    limit: { baseline: 1.8, history: 1.8 },
    compare: mainCpuRatio,
  },
  {
    name: "main thread's CPU per 503 over the floor's per answer, as many a second",
    ours: at('refusal', ACUITY_BUSY, REFUSED_CONNECTIONS),
    theirs: at('matched', FLOOR, REFUSED_CONNECTIONS),
    ...AT_MOST,
    limit: { baseline: 1.8, history: 1.8 },
    compare: mainCpuRatio,
  },
  goodputGoal(
    'default queue',
    at('crowd', ACUITY, CROWD_CONNECTIONS),
    at('crowd', ACUITY, SATURATING_CONNECTIONS),
    0.9,
  ),
  goodputGoal(
    'queue of 256, asking again at once',
    at('crowd', ACUITY_SHORT, CROWD_CONNECTIONS),
    at('crowd', ACUITY_SHORT, SATURATING_CONNECTIONS),
    0.5,
  ),
  goodputGoal(
    'queue of 256, twice the capacity offered',
    at('flood', ACUITY_SHORT, CROWD_CONNECTIONS),
    at('crowd', ACUITY_SHORT, SATURATING_CONNECTIONS),
    0.8,
  ),
  {
    name: "one request alone, p50 beyond the floor's",
    ours: at('alone', ACUITY, 1),
    theirs: at('alone', FLOOR, 1),
    unit: ' µs',
    digits: 0,
    isFloor: false,
    limit: { baseline: 40, history: 80 },
    compare: (ours, theirs) => ours.p50Micros - theirs.p50Micros,
  },
  {
    name: 'throughput of two event loops over one',
    ours: saturated(ACUITY_TWO),
    theirs: saturated(ACUITY),
    ...AT_LEAST,
    limit: { baseline: 1.05, history: 1.15 },
    compare: throughputRatio,
  },
];

/** The payload measured for a side. */
export function payloadOf({ form }: Side, payload: PayloadName): BenchPayload {
  return form === undefined ? payload : `${payload}:${form}`;
}
