/** The catalogue of symptoms: signs with their thresholds, and remedies. */
import { METRICS, type RefusalCause } from '../contract/metrics.js';
import {
  busiestLoop,
  meanOf,
  refusedFor,
  refusedShare,
  totalOf,
  usualP99Ms,
  type Recent,
  type RecentLimits,
} from './measurements.js';
import { PROCESS_METRICS } from './processMetrics.js';
import type { EventKey, Point } from './timeSeries.js';

/** Amber: look at it before callers feel it. Red: callers feel it, or are about to. */
export type Level = 'amber' | 'red';
export const LEVELS = ['red', 'amber'] as const;

/** A number, or a state, that counts as a sign from a threshold on. */
export interface Sign extends Thresholds {
  /** The name of the number, for instance `event loop busy`. */
  readonly what: string;
  value(recent: Recent): number | boolean;
  /** Undefined for a state, which has no number: it holds from 1 on. */
  readonly words?: (value: number) => string;
  /** More about a state, for the page; not a number. */
  detail?(recent: Recent): string | undefined;
}

/** From where on a sign counts; shares of the setting `of` if that is given. */
interface Thresholds {
  readonly amber?: number;
  readonly red?: number;
  readonly of?: keyof RecentLimits;
}

/** A trouble, where it shows and its remedy: for the dashboard and the documents. */
export interface Symptom {
  readonly id: string;
  readonly title: string;
  /** Names of the metrics that show it, the most telling first. */
  readonly metrics: readonly string[];
  /** Steps to look at and to change, in order. */
  readonly remedy: string;
  /** None for a symptom that needs a longer observation. */
  readonly signs: readonly Sign[];
}

const decimals = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
const count = (number: number): string => Math.round(number).toLocaleString('en');
const milliseconds = (ms: number): string => `${decimals(ms)} ms`;
const mebibytes = (bytes: number): string => `${decimals(bytes / 2 ** 20)} MiB`;
const secondsAgo = (seconds: number): string =>
  seconds < 120 ? `${Math.round(seconds)} s ago` : `${count(seconds / 60)} min ago`;
/** A share below 1 is never shown as 100 %, and none above it. */
const percent = (share: number): string => {
  const rounded = Math.round(share * 100);
  return `${share < 1 && rounded === 100 ? 99 : Math.min(rounded, 100)} %`;
};

/** This file alone holds thresholds. */
const BUSY = { amber: 0.75, red: 0.9 } as const;
/** Revocations count within a second: a store not seen for longer than this is out of reach. */
export const UNSEEN_S = 5;
/** A busy loop without a core for this share of the time competes for cores. */
const WITHOUT_CORE = { amber: 0.25, red: 0.4 } as const;
/** One late or refused request is worth a look, but no alarm. */
const TURNED_AWAY = { amber: 1, red: 5 } as const;
/** Events that must never happen. */
const NEVER = { red: 1 } as const;
/** Refusals caused by the caller count from this share of all requests on … */
const REFUSED = { amber: 0.02, red: 0.1 } as const;
/** … and from this many on: one mistyped key at night is no symptom. */
const REFUSED_MIN = 20;
const KEY_CAUSES: readonly RefusalCause[] = ['keyMissing', 'keyInvalid'];
const LIMIT_CAUSES: readonly RefusalCause[] = ['rateBurst', 'rateDaily'];
const BODY_CAUSES: readonly RefusalCause[] = [
  'malformed',
  'unprocessable',
  'bodyTooLarge',
  'contentType',
  'contentEncoding',
];

/** Every symptom, causes before what follows from them: of two at the same level the earlier one is named first. */
export const SYMPTOMS: readonly Symptom[] = [
  {
    id: 'faults',
    title: 'Model runs or workers fail',
    metrics: [METRICS.batchFaults.name, METRICS.workerRestarts.name, METRICS.requests.name],
    remedy:
      'Search the log for "batch failed", "worker lost" and "request failed unexpectedly". A worker that is killed again and again is usually short of memory. After a change of model: go back to the one before.',
    signs: [
      counted('workers lost', 'workerRestarts'),
      counted('model runs failed', 'batchFaults'),
      refusals('requests failed unexpectedly', ['internal'], NEVER),
      refusals('refused: a worker hangs', ['hung'], NEVER),
    ],
  },
  {
    id: 'keyStore',
    title: 'The key store is out of reach',
    metrics: [PROCESS_METRICS.keyStoreAge.name, PROCESS_METRICS.limitsLocal.name],
    remedy:
      'Known keys go on, keys issued or revoked meanwhile do not count yet, and each replica keeps to its share of the quotas. The log says why ("key store"). Bring the store back; you need do nothing else. After ACUITY_KEYS_STALE_MS without it no key counts and the replica is not ready.',
    signs: [
      {
        what: 'key store last seen',
        value: ({ keyStoreAgeMs }) => keyStoreAgeMs / 1000,
        words: secondsAgo,
        amber: UNSEEN_S,
      },
    ],
  },
  {
    id: 'notReady',
    title: 'Not ready: the service takes no request',
    metrics: [PROCESS_METRICS.ready.name],
    remedy:
      'The service is starting, draining, has a hung worker, has not reached the key store for too long, or started at one that takes no writes; the last lines of the log say which. A hung worker ends the process with 70 and the supervisor starts another; if that repeats, go back to the model before.',
    signs: [{ what: 'the service takes no request', value: ({ isReady }) => !isReady, ...NEVER }],
  },
  {
    id: 'noKeys',
    title: 'No key is valid: every request is refused',
    metrics: [METRICS.refusals.name],
    remedy:
      'Issue one with "acuity keys issue --kind demo", with the same ACUITY_KEYS: it counts within a second. If there should be keys, check with "acuity keys list" whether they have expired, were revoked, or are in another store.',
    signs: [{ what: 'no key is valid', value: ({ hasKeys }) => !hasKeys, amber: 1 }],
  },
  {
    id: 'coresFull',
    title: 'There are too few cores for the work',
    metrics: [METRICS.loopCpu.name, METRICS.loopBusy.name, PROCESS_METRICS.cpu.name],
    remedy:
      'Look for other processes on this machine, and for a CPU limit of the container. ACUITY_WORKERS plus ACUITY_HTTP_THREADS should not exceed the cores. Else give it more cores, or add a replica.',
    signs: [{ what: 'event loop without a core', value: withoutCore, words: percent, ...WITHOUT_CORE }],
  },
  {
    id: 'keys',
    title: 'Many requests come without a valid key',
    metrics: [METRICS.refusals.name],
    remedy:
      'keyInvalid from a known caller: its key has expired or was revoked; check "acuity keys list", then renew it or issue another. From an unknown caller: it is guessing keys; block its address at the proxy.',
    signs: [refusedOften('without a valid key', KEY_CAUSES)],
  },
  {
    id: 'limits',
    title: 'Many requests exceed the limits of their keys',
    metrics: [METRICS.refusals.name, METRICS.requests.name],
    remedy:
      'The access log names the request; a caller that needs more gets a key with "acuity keys issue --rate … --daily …". rateDaily ends at midnight UTC.',
    signs: [refusedOften('over a limit', LIMIT_CAUSES)],
  },
  {
    id: 'bodies',
    title: 'Many bodies can’t be scored',
    metrics: [METRICS.findings.name, METRICS.refusals.name],
    remedy:
      'A caller has changed its integration. The types of findings say what is wrong: unit_error means R-R intervals, minutes instead of seconds or another unit; value_error means one thing under two names; too_long means a limit of the service (ACUITY_DAY_SAMPLES_MAX, ACUITY_NIGHT_SAMPLES_MAX, ACUITY_BODY_MAX_BYTES).',
    signs: [refusedOften('with a body that can’t be scored', BODY_CAUSES)],
  },
  {
    id: 'loopBusy',
    title: 'An event loop is at or near its limit',
    metrics: [METRICS.loopBusy.name, METRICS.loopLag.name],
    remedy:
      'Reading requests is the limit, not the model. If most of them are refused, look at their cause first. Raise ACUITY_HTTP_THREADS if cores are free (each loop needs its own worker), else add a replica. Check the mean body size too: long series cost most.',
    signs: [{ what: 'event loop busy', value: loopAtWork, words: percent, ...BUSY }],
  },
  {
    id: 'loopLate',
    title: 'Requests are refused because an event loop is late',
    metrics: [METRICS.refusals.name, METRICS.loopLag.name, METRICS.gcTime.name],
    remedy:
      'A loop that is late but not busy had a long pause: other work on its core, a CPU limit of the container, a long body or a garbage collection. Check these before you add event loops; a longer ACUITY_DEADLINE_MS tolerates longer pauses.',
    signs: [refusals('refused because the event loop is late', ['loopLag'])],
  },
  {
    id: 'workersBusy',
    title: 'The workers are at or near their limit',
    metrics: [METRICS.workerBusy.name, PROCESS_METRICS.workers.name, METRICS.batchRows.name],
    remedy:
      'Raise ACUITY_WORKERS if cores are free, else add a replica. If batches are as large as ACUITY_BATCH_MAX allows, raise it for more throughput at a little more latency.',
    signs: [mean('workers busy', 'workersBusy', percent, BUSY)],
  },
  {
    id: 'queueFull',
    title: 'Too many requests are in flight',
    metrics: [METRICS.refusals.name, METRICS.pending.name, PROCESS_METRICS.queueMax.name],
    remedy:
      'Callers send more than the workers can score. If the workers are near 100 %, raise ACUITY_WORKERS if cores are free, else add a replica. If they are idle, the event loop is the limit. Raise ACUITY_QUEUE_MAX only for short bursts: a longer queue means longer waits.',
    signs: [
      refusals('refused: too many in flight', ['queueFull']),
      mean('in flight', 'inFlight', count, { amber: 0.5, of: 'queueMax' }),
    ],
  },
  {
    id: 'deadline',
    title: 'Requests expire while they wait',
    metrics: [METRICS.refusals.name, METRICS.queued.name, METRICS.stages.name],
    remedy:
      'They waited longer than ACUITY_DEADLINE_MS. Compare the stages queue, dispatch and infer: a long infer with a full machine means too many threads for the cores (ACUITY_WORKERS plus ACUITY_HTTP_THREADS should not exceed them); a long queue means too few workers. A lower ACUITY_QUEUE_MAX refuses at once what would expire later.',
    signs: [refusals('expired', ['deadline'])],
  },
  {
    id: 'slow',
    title: 'The slowest requests come near the deadline',
    metrics: [METRICS.stages.name],
    remedy:
      'Find the stage that grew: the dashboard has a chart of the stages. receive: callers send slowly, change nothing here. queue: too few workers. dispatch or infer: too many threads for the cores. reply or read: the event loop.',
    signs: [
      mean('p99', 'p99Ms', milliseconds, { amber: 0.25, of: 'deadlineMs' }),
      { what: 'p99 of most seconds', value: usualP99Ms, words: milliseconds, red: 0.5, of: 'deadlineMs' },
    ],
  },
  {
    id: 'bodiesFull',
    title: 'Bodies fill their memory',
    metrics: [METRICS.refusals.name, METRICS.heldBytes.name, METRICS.connections.name],
    remedy:
      'bodiesFull: many callers upload slowly at once. bodiesOfKey: one caller does, and holds its share; the access log names the key. Let the proxy in front buffer bodies; raise ACUITY_BODIES_MAX_BYTES if memory is free; lower ACUITY_BODY_MAX_BYTES if no honest body is that long.',
    signs: [
      refusals('refused: no memory for the body', ['bodiesFull', 'bodiesOfKey']),
      mean('held for bodies', 'heldBytes', mebibytes, { amber: 0.75, of: 'bodiesMaxBytes' }),
    ],
  },
  {
    id: 'connectionsFull',
    title: 'New connections are closed at once',
    metrics: [METRICS.connectionsRefused.name, METRICS.connections.name],
    remedy:
      'ACUITY_CONNECTIONS_MAX are open. Callers that open many and keep them idle belong behind the proxy. Raise it together with the limit on file descriptors (LimitNOFILE of the unit).',
    signs: [counted('connections closed at once', 'connectionsRefused')],
  },
  {
    id: 'modelRefused',
    title: 'A new model was refused; the previous one keeps serving',
    metrics: [PROCESS_METRICS.modelRefused.name, PROCESS_METRICS.model.name],
    remedy:
      'The log says why ("model refused"), and so does "acuity model check DIR". Correct the folder, or point ACUITY_MODEL back to the previous model: the service looks once a second, and at SIGHUP.',
    signs: [
      {
        what: 'the model in the folder does not serve',
        value: ({ modelRefusal }) => modelRefusal !== undefined,
        amber: 1,
        detail: ({ modelRefusal }) => modelRefusal,
      },
    ],
  },
  {
    id: 'missing',
    title: 'Fields are missing more often than last week',
    metrics: [METRICS.fieldsMissing.name, METRICS.sessionsSampled.name, METRICS.fieldsUnknown.name],
    remedy:
      'Scores stay valid but get less certain. A wearable or an integration has stopped sending a field: ask the callers; the model card says what each field is worth. If acuity_fields_unknown_total rises too, they send it under a name that the service does not read.',
    signs: [],
  },
  {
    id: 'memory',
    title: 'Memory grows',
    metrics: [PROCESS_METRICS.rss.name, METRICS.heldBytes.name, METRICS.gcTime.name],
    remedy:
      'First check the memory that bodies hold (acuity_bodies_held_bytes). Each worker takes memory of its own: set fewer ACUITY_WORKERS if it is short. Growth that continues at constant load is a defect: keep a heap snapshot and restart.',
    signs: [],
  },
];

type NumberOfPoint = { [Key in keyof Point]: Point[Key] extends number ? Key : never }[keyof Point];

/** A counter of events that must never happen. */
function counted(what: string, key: EventKey): Sign {
  return {
    what,
    value: (recent) => totalOf(recent, (point) => point.counted[key] ?? 0),
    words: count,
    ...NEVER,
  };
}

function mean(
  what: string,
  key: NumberOfPoint,
  words: (value: number) => string,
  thresholds: Thresholds,
): Sign {
  return { what, value: ({ points }) => meanOf(points, (point) => point[key]), words, ...thresholds };
}

/** Refusals that the caller never causes: one is amber, a few are red. */
function refusals(what: string, causes: readonly RefusalCause[], thresholds: Thresholds = TURNED_AWAY): Sign {
  return { what, value: (recent) => refusedFor(recent, causes), words: count, ...thresholds };
}

/** Refusals caused by the caller, as a share of all requests. */
function refusedOften(what: string, causes: readonly RefusalCause[]): Sign {
  const value = (recent: Recent): number =>
    refusedFor(recent, causes) < REFUSED_MIN ? 0 : refusedShare(recent, causes);
  return { what, value, words: percent, ...REFUSED };
}

/** The share of a busy loop's time in which it has work but no core; 0 if unknown. */
function withoutCore(recent: Recent): number {
  const { busy, onCore } = busiestLoop(recent);
  return busy < BUSY.amber || Number.isNaN(onCore) ? 0 : Math.max(0, 1 - onCore / busy);
}

/**
 * How busy the busiest loop is. If it competes for cores, only its time on a core counts: it may have
 * reserves.
 */
function loopAtWork(recent: Recent): number {
  const { busy, onCore } = busiestLoop(recent);
  return withoutCore(recent) >= WITHOUT_CORE.amber ? onCore : busy;
}
