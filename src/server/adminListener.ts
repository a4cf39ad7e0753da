import { systemClock } from '../base/clock.js';
import type { Log } from '../process/log.js';
import { MetricReader } from '../base/metrics.js';
import { defaultConfig, type Config } from '../config/options.js';
import { METRICS, type LoopCatalogue } from '../contract/metrics.js';
import { differencesIn } from '../admin/differences.js';
import { listenAdmin, type AdminServer } from '../admin/listener.js';
import { Dashboard, type ShadowView } from '../admin/dashboard.js';
import { TimeSeries } from '../admin/timeSeries.js';
import { exportMetrics } from '../admin/metricsExport.js';
import type { TryOptions } from '../admin/tryDesk.js';
import { settingsOf } from '../config/documentation.js';
import { listenError } from './listenError.js';
import { packageVersion, processReadings, rssReader, type ProcessState } from './processReadings.js';

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
  const { adminHost: host, adminPort: port, adminHosts, workers } = config;
  const { batchMax, deadlineMs, queueMax, bodiesMaxBytes, grafanaUrl, tryPage } = config;
  const rssBytes = rssReader();
  const reader = new MetricReader(METRICS, metrics);
  const timeSeries = new TimeSeries({
    reader,
    clock: systemClock,
    workers,
    rssBytes,
  });
  const dashboard = new Dashboard({
    ...state,
    timeSeries,
    version: packageVersion(),
    startedMs: systemClock.nowMs() - process.uptime() * 1000,
    settings: settingsOf(config, defaultConfig()),
    batchMax,
    deadlineMs,
    keyStoreAgeS: () => state.keys.ageMs / 1000,
    hasKeys: () => state.keys.hasUsable,
    queueMax,
    bodiesMaxBytes,
    grafanaUrl,
    hasTry: tryPage,
    shadow: shadowView(config, state, reader),
    onProblem: (error) => log.warn({ err: error }, 'dashboard'),
  });
  const exported = exportMetrics(reader, processReadings(config, state, rssBytes));
  try {
    const names = namesIn(adminHosts);
    const probes = { heartbeats, silentMs: SILENT_MS, onCrash };
    return await listenAdmin({
      host,
      port,
      names,
      ...probes,
      metrics: exported,
      dashboard,
      trial: { ...trial, isOn: tryPage, clock: systemClock },
    });
  } catch (error) {
    const variables = { hostVariable: 'ACUITY_ADMIN_HOST', portVariable: 'ACUITY_ADMIN_PORT' } as const;
    throw listenError(error, { host, port, ...variables });
  }
}

function shadowView(
  { shadowModel, shadowShare: share }: Config,
  { shadow }: ProcessState,
  reader: MetricReader<LoopCatalogue>,
): ShadowView | undefined {
  return shadowModel === '' ? undefined : { share, ...shadow, differences: () => differencesIn(reader) };
}

function namesIn(list: string): readonly string[] {
  return list.split(',').map((name) => name.trim());
}
