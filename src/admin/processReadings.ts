/** The process's own readings for its metrics: settings, the state that it was told, and what the system counts. */
import type { Config } from '../config/options.js';
import { packageVersion } from '../process/packageVersion.js';
import type { ProcessState } from './measurements.js';
import type { ProcessReadings } from './metricsExport.js';

/**
 * Reads the resident memory in bytes. Node opens a file for it: without a free file descriptor the last
 * reading is repeated, or NaN if there is none.
 */
export function rssReader(): () => number {
  let lastBytes = NaN;
  return () => {
    try {
      return (lastBytes = process.memoryUsage.rss());
    } catch {
      return lastBytes;
    }
  };
}

export interface ReadingsOptions {
  readonly config: Config;
  state(): ProcessState;
  rssBytes(): number;
}

/** Taken anew at each call. */
export function processReadings({ config, ...now }: ReadingsOptions): () => ProcessReadings {
  const version = packageVersion();
  const startedS = Date.now() / 1000 - process.uptime();
  return () => {
    const { user, system } = process.cpuUsage();
    const state = now.state();
    const { shadowModel = '' } = state;
    return {
      build: { value: 1, labels: { version, node: process.versions.node } },
      model: { value: 1, labels: { version: state.model } },
      ready: { value: Number(state.isReady) },
      modelRefused: { value: Number(state.modelRefusal !== undefined) },
      shadowModel: { value: Number(shadowModel !== ''), labels: { version: shadowModel } },
      shadowRefused: { value: Number(state.shadowRefusal !== undefined) },
      workers: { value: config.workers },
      loops: { value: config.httpThreads },
      intraOpThreads: { value: config.intraOpThreads },
      interOpThreads: { value: config.interOpThreads },
      spinning: { value: Number(config.spinning) },
      queueMax: { value: config.queueMax },
      deadline: { value: config.deadlineMs / 1000 },
      keyStoreAge: { value: state.keyStoreAgeMs / 1000 },
      limitsLocal: { value: Number(state.areLimitsLocal) },
      revocationsLost: { value: state.revocationsLost },
      recordsUnreadable: { value: state.recordsUnreadable },
      keyStoreEmpty: { value: Number(state.isStoreEmpty) },
      rss: { value: now.rssBytes() },
      cpu: { value: (user + system) / 1e6 },
      started: { value: startedS },
    };
  };
}
