import { readFileSync } from 'node:fs';
import type { Config } from '../config/options.js';
import type { ProcessReadings } from '../admin/metricsExport.js';

export interface ProcessState {
  /** Whether requests are accepted. */
  readonly isReady: () => boolean;
  readonly modelVersion: () => string;
  /** Why the model in the configured folder was refused; undefined if it serves. */
  readonly modelRefusal: () => string | undefined;
  /**
   * The version of the shadow model in force, and why the one in its folder was refused; each undefined if
   * there is none.
   */
  readonly shadow: { readonly version: () => string | undefined; readonly refusal: () => string | undefined };
  /** The state of the key store. */
  readonly keys: {
    readonly ageMs: number;
    readonly isLocal: boolean;
    readonly revocationsLost: number;
    readonly unreadable: number;
    readonly isStoreEmpty: boolean;
    readonly hasUsable: boolean;
  };
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
