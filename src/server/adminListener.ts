import { systemClock } from '../base/clock.js';
import { MetricReader } from '../base/metrics.js';
import type { Config } from '../config/options.js';
import { METRICS } from '../contract/metrics.js';
import { listenAdmin, type AdminServer } from '../admin/listener.js';
import { Dashboard } from '../admin/dashboard.js';
import { TimeSeries } from '../admin/timeSeries.js';
import { exportMetrics } from '../admin/metricsExport.js';
import { settingsOf } from '../commands/config.js';
import { packageVersion, processReadings, type ProcessState } from './processReadings.js';

/** Opens the admin listener over what the event loops count in `metrics`. Rejects where it cannot listen. */
export function openAdmin(
  config: Config,
  state: ProcessState,
  metrics: readonly SharedArrayBuffer[],
): Promise<AdminServer> {
  const { adminHost: host, adminPort: port, workers, batchMax, deadlineMs } = config;
  const reader = new MetricReader(METRICS, metrics);
  const timeSeries = new TimeSeries({
    reader,
    clock: systemClock,
    workers,
    rssBytes: () => process.memoryUsage.rss(),
  });
  const dashboard = new Dashboard({
    ...state,
    timeSeries,
    version: packageVersion(),
    startedMs: systemClock.nowMs() - process.uptime() * 1000,
    settings: settingsOf(config),
    batchMax,
    deadlineMs,
  });
  const readings = processReadings(config, state);
  const { isReady } = state;
  return listenAdmin({ host, port, isReady, metrics: exportMetrics(reader, readings), dashboard });
}
