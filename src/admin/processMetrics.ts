/** The metrics of the process: settings, the state that the admin thread was told, and what the system counts. */
import type { PlainSpec } from '../base/metrics.js';
import type { Config } from '../config/options.js';
import type { ProcessState } from './measurements.js';

/** The process at the moment of a scrape. */
export interface ProcessNow {
  /** The service's. */
  readonly version: string;
  readonly config: Config;
  readonly state: ProcessState;
  readonly rssBytes: number;
}

/** `read` gives the value in the exported unit. */
export interface ProcessMetric extends PlainSpec {
  read(now: ProcessNow): number;
  labelsOf?(now: ProcessNow): Readonly<Record<string, string>>;
}

const STARTED_S = Date.now() / 1000 - process.uptime();

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const gauge = (row: Omit<ProcessMetric, 'type'>): ProcessMetric => ({ type: 'gauge', ...row });

/** Each with its reading, taken anew at each scrape. */
export const PROCESS_METRICS = {
  build: gauge({
    name: 'acuity_build_info',
    help: 'Always 1: the version of the service and of Node in the labels',
    read: () => 1,
    labelsOf: ({ version }) => ({ version, node: process.versions.node }),
  }),
  model: gauge({
    name: 'acuity_model_info',
    help: 'Always 1: name and version of the model in force in the label',
    read: () => 1,
    labelsOf: ({ state }) => ({ version: state.model }),
  }),
  ready: gauge({
    name: 'acuity_ready',
    help: '1 while requests are taken, else 0: starting, draining or hung',
    read: ({ state }) => Number(state.isReady),
  }),
  modelRefused: gauge({
    name: 'acuity_model_refused',
    help: '1 while the model in the configured folder was refused and the one before keeps serving, else 0',
    read: ({ state }) => Number(state.modelRefusal !== undefined),
  }),
  shadowModel: gauge({
    name: 'acuity_shadow_model_info',
    help: '1 while a shadow model is in force, its name and version in the label, else 0',
    read: ({ state }) => Number(state.shadowModel !== undefined),
    labelsOf: ({ state }) => ({ version: state.shadowModel ?? '' }),
  }),
  shadowRefused: gauge({
    name: 'acuity_shadow_model_refused',
    help: '1 while the model in the folder of ACUITY_SHADOW_MODEL was refused, else 0',
    read: ({ state }) => Number(state.shadowRefusal !== undefined),
  }),
  workers: gauge({
    name: 'acuity_workers',
    help: 'Inference worker threads',
    read: ({ config }) => config.workers,
  }),
  loops: gauge({
    name: 'acuity_event_loops',
    help: 'Event loops that accept requests',
    read: ({ config }) => config.httpThreads,
  }),
  intraOpThreads: gauge({
    name: 'acuity_intra_op_threads',
    help: 'ONNX Runtime threads within one operator, in each worker',
    read: ({ config }) => config.intraOpThreads,
  }),
  interOpThreads: gauge({
    name: 'acuity_inter_op_threads',
    help: 'ONNX Runtime threads across operators, in each worker',
    read: ({ config }) => config.interOpThreads,
  }),
  spinning: gauge({
    name: 'acuity_spinning',
    help: '1 if ONNX Runtime threads spin while they wait',
    read: ({ config }) => Number(config.spinning),
  }),
  queueMax: gauge({
    name: 'acuity_queue_max',
    help: 'Most requests in flight before new ones are refused (ACUITY_QUEUE_MAX)',
    read: ({ config }) => config.queueMax,
  }),
  deadline: gauge({
    name: 'acuity_deadline_seconds',
    help: 'Longest wait before a request is shed (ACUITY_DEADLINE_MS)',
    read: ({ config }) => config.deadlineMs / 1000,
  }),
  keyStoreAge: gauge({
    name: 'acuity_key_store_age_seconds',
    help: 'Time since the key store was last seen as it is: keys issued or revoked since then do not count yet',
    read: ({ state }) => state.keyStoreAgeMs / 1000,
  }),
  limitsLocal: gauge({
    name: 'acuity_limits_local',
    help: '1 while the shared key store is out of reach: this replica has its share of quotas, and rates alone; else 0',
    read: ({ state }) => Number(state.areLimitsLocal),
  }),
  revocationsLost: gauge({
    name: 'acuity_key_revocations_lost',
    help: 'Keys that were seen revoked here and that the shared key store holds as valid: revoke them again',
    read: ({ state }) => state.revocationsLost,
  }),
  recordsUnreadable: gauge({
    name: 'acuity_key_records_unreadable',
    help: 'Records of the key store that this version cannot read: their keys are refused',
    read: ({ state }) => state.recordsUnreadable,
  }),
  keyStoreEmpty: gauge({
    name: 'acuity_key_store_empty',
    help: '1 while the shared key store is there but has lost its keys, and those seen last stay in force, else 0',
    read: ({ state }) => Number(state.isStoreEmpty),
  }),
  rss: gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process',
    read: ({ rssBytes }) => rssBytes,
  }),
  cpu: {
    type: 'counter',
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process, user and system',
    read: cpuSeconds,
  },
  started: gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since 1970',
    read: () => STARTED_S,
  }),
} satisfies Record<string, ProcessMetric>;

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
