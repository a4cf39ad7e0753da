/** One trial: a server with some settings, under load. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../config/options.js';
import { startChildServer, type ChildServer } from './load/childServer.js';
import type { Measurement } from './load/measurement.js';
import { runClosedLoop } from './load/closedLoop.js';
import { environmentOf, type Candidate } from './candidates.js';
import type { Outcome } from './goal.js';
import { messageOf } from '../base/errors.js';

/** Shared by all trials. */
export interface Bench {
  /** For the key store and the output of the servers. */
  readonly folder: string;
  readonly key: string;
  /** The operator's; the tuned settings and the addresses override it. */
  readonly environment: Environment;
  readonly bodies: readonly string[];
  readonly connections: number;
  /** On the clock of `performance.now()`: servers are stopped then. */
  readonly endMs: number;
}

export interface TrialOutcome extends Outcome {
  /** Share of the time in which this event loop, the load generator, was busy. */
  readonly generatorBusy: number;
  /** Why there is no measurement. */
  readonly failure?: string;
}

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
/** The shortest measurement, and the share of a trial used as warm-up. */
const SECONDS_MIN = 0.2;
const WARM_UP_SHARE = 0.3;
const STOPPING_MS = 200;

/** The key store of the trials. */
export function keysIn(folder: string): string {
  return `file:${join(folder, 'keys.json')}`;
}

export function startCandidate(bench: Bench, candidate: Candidate, name: string): Promise<ChildServer> {
  const env = {
    ...bench.environment,
    ACUITY_SOCKET: undefined,
    ACUITY_HOST: '127.0.0.1',
    ACUITY_PORT: '0',
    ACUITY_ADMIN_HOST: '127.0.0.1',
    ACUITY_ADMIN_PORT: '0',
    ACUITY_KEYS: keysIn(bench.folder),
    ...environmentOf(candidate),
  };
  const leftMs = Math.max(1, bench.endMs - performance.now());
  return startChildServer({ name, file: process.execPath, args: [MAIN, 'serve'], env }, bench.folder, leftMs);
}

/** Starts a candidate, warms it up, measures it and stops it, in about `trialMs`. A failure is an outcome, too. */
export async function tryCandidate(
  bench: Bench,
  candidate: Candidate,
  trialMs: number,
): Promise<TrialOutcome> {
  const startMs = performance.now();
  try {
    const server = await startCandidate(bench, candidate, 'trial');
    try {
      const seconds = Math.max(SECONDS_MIN, (startMs + trialMs - performance.now() - STOPPING_MS) / 1000);
      await loaded(bench, server, seconds * WARM_UP_SHARE);
      return await loaded(bench, server, seconds * (1 - WARM_UP_SHARE));
    } finally {
      await server.stop();
    }
  } catch (error) {
    return { perSecond: 0, p99Ms: Infinity, errors: 1, generatorBusy: 0, failure: messageOf(error) };
  }
}

/** One measurement at saturation. */
export async function loaded(bench: Bench, server: ChildServer, seconds: number): Promise<TrialOutcome> {
  const { bodies, connections, key, endMs } = bench;
  // A server that hangs must not block this process: stopping it closes the connections.
  const timer = setTimeout(() => void server.stop(), Math.max(0, endMs - performance.now()));
  try {
    const load = { target: { port: server.port, key }, bodies, connections, seconds };
    const { generatorBusy, ...measurement } = await runClosedLoop(load);
    return { ...outcomeOf(measurement), generatorBusy };
  } finally {
    clearTimeout(timer);
  }
}

function outcomeOf({ requests, seconds, p99Micros, errors }: Measurement): Outcome {
  return { perSecond: requests / seconds, p99Ms: p99Micros / 1000, errors };
}
