/**
 * Code of the thread that holds the admin port; `serve/adminListener.ts` is its counterpart. It answers from what lies
 * in shared memory and from the state that it is told: whether the main thread turns or not.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { answer, call, type Call } from '../base/calls.js';
import { systemClock } from '../base/clock.js';
import { plainError, type PlainError } from '../base/errors.js';
import { MetricReader } from '../base/metrics.js';
import type { Config } from '../config/options.js';
import { METRICS } from '../contract/metrics.js';
import { packageVersion } from '../base/process/packageVersion.js';
import { Dashboard } from './dashboard.js';
import { listenAdmin } from './listener.js';
import type { ProcessState } from './measurements.js';
import { metricsText } from './metricsExport.js';
import { rssReader } from './processMetrics.js';
import { TimeSeries } from './timeSeries.js';
import type { TryAnswer, TryQuestion } from './tryDesk.js';

export interface AdminThreadData {
  readonly config: Config;
  /** The metrics of each event loop. */
  readonly metrics: readonly SharedArrayBuffer[];
  readonly heartbeats: SharedArrayBuffer;
  /** How long an event loop may be silent before probes get 503. */
  readonly silentMs: number;
}

/** Asked of the main thread: to score a night, or to log a problem. */
export type FromAdminThread = TryQuestion | { readonly problem: PlainError };

/** Resolves to the port. */
async function open(main: MessagePort, first: ProcessState): Promise<number> {
  const { config, metrics, heartbeats, silentMs } = workerData as AdminThreadData;
  let told = first;
  let toldMs = performance.now();
  main.on('message', (state: ProcessState) => {
    told = state;
    toldMs = performance.now();
  });
  // While the main thread says nothing, it does not see the key store either.
  const state = (): ProcessState => ({
    ...told,
    keyStoreAgeMs: told.keyStoreAgeMs + performance.now() - toldMs,
  });
  const reader = new MetricReader(METRICS, metrics);
  const rssBytes = rssReader();
  const version = packageVersion();
  const ask = <Value>(asked: FromAdminThread): Promise<Value> => call(main, asked);
  const { port } = await listenAdmin({
    host: config.adminHost,
    port: config.adminPort,
    names: config.adminHosts.split(',').map((name) => name.trim()),
    heartbeats,
    silentMs,
    metrics: () => metricsText(reader, { version, config, state: state(), rssBytes: rssBytes() }),
    dashboard: new Dashboard({
      reader,
      timeSeries: new TimeSeries({ reader, clock: systemClock, workers: config.workers, rssBytes }),
      config,
      state,
      onProblem: (error) => void ask({ problem: plainError(error) }),
    }),
    hasTry: config.tryPage,
    score: (question) => ask<TryAnswer>(question),
    state,
  });
  return port;
}

if (parentPort !== null) {
  const main = parentPort;
  main.once('message', (opened: Call<ProcessState>) => void answer(opened, (state) => open(main, state)));
}
