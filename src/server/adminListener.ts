import { systemClock } from '../base/clock.js';
import type { Log } from '../process/log.js';
import { MetricReader } from '../base/metrics.js';
import type { Config } from '../config/options.js';
import { METRICS } from '../contract/metrics.js';
import { differencesIn } from '../admin/differences.js';
import { type AdminServer, listenAdmin } from '../admin/listener.js';
import { Dashboard } from '../admin/dashboard.js';
import { TimeSeries } from '../admin/timeSeries.js';
import { exportMetrics, type ProcessReadings } from '../admin/metricsExport.js';
import type { ProcessState } from '../admin/measurements.js';
import type { TryOptions } from '../admin/tryDesk.js';
import { listenError } from './listenError.js';
import { readFileSync } from 'node:fs';

export interface AdminSurroundings {
  readonly heartbeats: SharedArrayBuffer;
  readonly log: Log;
  /** Options of the page `/try`, except whether it exists. */
  readonly trial: Omit<TryOptions, 'isOn' | 'clock'>;
  onCrash(error: Error): void;
}

/** An event loop that has not turned for this long is blocked. */
const SILENT_MS = 5_000;

/**
 * Opens the admin listener, which reads what the event loops count in `metrics`.
 * @throws OperatorError if it cannot listen
 */
export async function openAdmin(
  config: Config,
  state: ProcessState,
  metrics: readonly SharedArrayBuffer[],
  { heartbeats, log, onCrash, trial }: AdminSurroundings,
): Promise<AdminServer> {
  const { adminHost: host, adminPort: port, adminHosts, workers, tryPage } = config;
  const rssBytes = rssReader();
  const reader = new MetricReader(METRICS, metrics);
  const dashboard = new Dashboard({
    timeSeries: new TimeSeries({ reader, clock: systemClock, workers, rssBytes }),
    config,
    state,
    version: packageVersion(),
    differences: () => differencesIn(reader),
    onProblem: (error) => log.warn({ err: error }, 'dashboard'),
  });
  try {
    return await listenAdmin({
      host,
      port,
      names: adminHosts.split(',').map((name) => name.trim()),
      heartbeats,
      silentMs: SILENT_MS,
      onCrash,
      metrics: exportMetrics(reader, processReadings(config, state, rssBytes)),
      dashboard,
      trial: { ...trial, isOn: tryPage, clock: systemClock },
    });
  } catch (error) {
    const variables = { hostVariable: 'ACUITY_ADMIN_HOST', portVariable: 'ACUITY_ADMIN_PORT' } as const;
    throw listenError(error, { host, port, ...variables });
  }
}

/** The version of the package. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/**
 * Reads the resident memory in bytes. Node opens a file for it: without a free file descriptor the last
 * reading is repeated, or NaN if there is none.
 */
export function rssReader(read: () => number = () => process.memoryUsage.rss()): () => number {
  let lastBytes = NaN;
  const look = (): number => {
    try {
      lastBytes = read();
    } catch {
      return lastBytes;
    }
    return lastBytes;
  };
  look(); // a first reading, in case later ones fail
  return look;
}

/** The process's own readings, taken anew at each call. */
export function processReadings(
  config: Config,
  state: ProcessState,
  rssBytes: () => number,
): () => ProcessReadings {
  const version = packageVersion();
  const startedS = Date.now() / 1000 - process.uptime();
  return () => {
    const { user, system } = process.cpuUsage();
    return {
      build: { value: 1, labels: { version, node: process.versions.node } },
      model: { value: 1, labels: { version: state.modelVersion() } },
      ready: { value: Number(state.isReady()) },
      modelRefused: { value: Number(state.modelRefusal() !== undefined) },
      shadowModel: {
        value: Number(state.shadow.version() !== undefined),
        labels: { version: state.shadow.version() ?? '' },
      },
      shadowRefused: { value: Number(state.shadow.refusal() !== undefined) },
      workers: { value: config.workers },
      loops: { value: config.httpThreads },
      intraOpThreads: { value: config.intraOpThreads },
      interOpThreads: { value: config.interOpThreads },
      spinning: { value: Number(config.spinning) },
      queueMax: { value: config.queueMax },
      deadline: { value: config.deadlineMs / 1000 },
      keyStoreAge: { value: state.keys.ageMs / 1000 },
      limitsLocal: { value: Number(state.keys.isLocal) },
      revocationsLost: { value: state.keys.revocationsLost },
      recordsUnreadable: { value: state.keys.unreadable },
      keyStoreEmpty: { value: Number(state.keys.isStoreEmpty) },
      rss: { value: rssBytes() },
      cpu: { value: (user + system) / 1e6 },
      started: { value: startedS },
    };
  };
}
