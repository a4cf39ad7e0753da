import { readFileSync } from 'node:fs';
import type { Config } from '../config/options.js';
import type { ProcessReadings } from '../admin/metricsExport.js';

export interface ProcessState {
  /** Whether requests are taken. */
  readonly isReady: () => boolean;
  readonly modelVersion: () => string;
}

/** The version of the package. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** What the process says of itself, read anew at each call. */
export function processReadings(config: Config, state: ProcessState): () => ProcessReadings {
  const version = packageVersion();
  const startedS = Date.now() / 1000 - process.uptime();
  return () => {
    const { user, system } = process.cpuUsage();
    return {
      build: { value: 1, labels: { version, node: process.versions.node } },
      model: { value: 1, labels: { version: state.modelVersion() } },
      ready: { value: Number(state.isReady()) },
      workers: { value: config.workers },
      loops: { value: config.httpThreads },
      queueMax: { value: config.queueMax },
      deadline: { value: config.deadlineMs / 1000 },
      rss: { value: process.memoryUsage.rss() },
      cpu: { value: (user + system) / 1e6 },
      started: { value: startedS },
    };
  };
}
