import type { Mode } from './mode.js';
import { FORM_PAYLOADS, type BenchPayload } from './payload.js';
import { PAYLOADS } from '#acuity/load/payloads.js';
import {
  ACUITY,
  ACUITY_BUSY,
  ACUITY_SHORT,
  ACUITY_TWO,
  FASTIFY,
  FLOOR,
  RUST,
  RUST_TWO,
  type Peer,
} from '#bench/peers/catalogue.js';

/** What is measured for every peer in turn. */
export interface Cell {
  readonly mode: Mode;
  readonly payload: BenchPayload;
  readonly connections: number;
}

/** A cell, and the peers measured in it. */
export interface Step extends Cell {
  readonly peers: readonly Peer[];
  readonly seconds: number;
}

export const SATURATING_CONNECTIONS = 64;
export const CROWD_CONNECTIONS = 2_000;
/** Enough to refuse most requests even if refusals are delayed. */
export const REFUSED_CONNECTIONS = 1_000;
/** A 99.9th percentile needs more requests than a median. */
const SHARE_LENGTHS = 2;

/** Everything needed for the goals except ten minutes of load; `seconds` is the length of one measurement. */
export function goalSteps(seconds: number, isPaced: boolean): Step[] {
  const step = (mode: Mode, payload: BenchPayload, connections: number, peers: readonly Peer[]): Step => ({
    mode,
    payload,
    connections,
    peers: peers.filter(({ unavailable }) => unavailable === undefined),
    seconds: mode === 'share' ? SHARE_LENGTHS * seconds : seconds,
  });
  return PAYLOADS.flatMap((payload) => [
    step('saturation', payload, SATURATING_CONNECTIONS, [FLOOR, FASTIFY, RUST, RUST_TWO, ACUITY_TWO, ACUITY]),
    ...FORM_PAYLOADS.filter((form) => form.startsWith(`${payload}:`)).map((form) =>
      step('saturation', form, SATURATING_CONNECTIONS, [ACUITY]),
    ),
    step('alone', payload, 1, [FLOOR, ACUITY]),
    ...(isPaced ? [step('share', payload, SATURATING_CONNECTIONS, [FLOOR, ACUITY])] : []),
    step('refusal', payload, REFUSED_CONNECTIONS, [FLOOR, ACUITY_BUSY]),
    ...(isPaced ? [step('matched', payload, REFUSED_CONNECTIONS, [FLOOR])] : []),
    step('crowd', payload, SATURATING_CONNECTIONS, [ACUITY, ACUITY_SHORT]),
    step('crowd', payload, CROWD_CONNECTIONS, [ACUITY, ACUITY_SHORT]),
    ...(isPaced ? [step('flood', payload, CROWD_CONNECTIONS, [ACUITY_SHORT])] : []),
  ]);
}

/** Ten minutes of full load show whether memory grows. */
const LONG_SECONDS = 600;

export function longStep(): Step {
  const [mode, payload, connections] = ['long', 'history', SATURATING_CONNECTIONS] as const;
  return { mode, payload, connections, peers: [ACUITY], seconds: LONG_SECONDS };
}
