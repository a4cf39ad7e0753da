import { METRICS, PROCESS_METRICS, type RefusalCause } from '../contract/metrics.js';
import {
  busiestLoop,
  connectionsRefused,
  heldBytes,
  inFlight,
  JUDGED_POINTS,
  longestStage,
  p99Ms,
  refusedFor,
  refusedShare,
  runsFailed,
  usualP99Ms,
  workersBusy,
  workersLost,
  type Recent,
} from './measurements.js';
import type { Level, Measure, Symptom } from './symptom.js';
import { count, counted, mebibytes, milliseconds, percent, secondsAgo } from './format.js';

/** This file alone holds thresholds. */
const BUSY = { amber: 0.75, red: 0.9 } as const;
/** Revocations count within a second: a store not seen for longer than this is out of reach. */
const UNSEEN_S = 5;
/** A busy loop without a core for this share of the time competes for cores. */
const WITHOUT_CORE = 0.25;
/** One late or refused request is worth a look, but no alarm. */
const TURNED_AWAY = { amber: 1, red: 5 } as const;
/** Refusals caused by the caller count from this share of all requests on … */
const REFUSED = { amber: 0.02, red: 0.1 } as const;
/** … and from this many on: one mistyped key at night is no symptom. */
const REFUSED_MIN = 20;
/** From here on they are most of the work and explain a busy loop. */
const MOST = 0.5;

const KEY_CAUSES: readonly RefusalCause[] = ['keyMissing', 'keyInvalid'];
const LIMIT_CAUSES: readonly RefusalCause[] = ['rateBurst', 'rateDaily'];
const BODY_CAUSES: readonly RefusalCause[] = [
  'malformed',
  'unprocessable',
  'bodyTooLarge',
  'contentType',
  'contentEncoding',
];

const WITHIN = `in the last ${JUDGED_POINTS} seconds`;
/** The symptoms that a lack of capacity shows as. */
const CAPACITY = ['faults', 'coresFull', 'loopBusy', 'workersBusy', 'loopLate'] as const;

/**
 * Every symptom. If two show at the same level and neither explains the other, the earlier one here is named
 * first.
 */
export const SYMPTOMS: readonly Symptom[] = [
  {
    id: 'notReady',
    title: 'Not ready: the service takes no request',
    metrics: [PROCESS_METRICS.ready.name],
    remedy:
      'The service is starting, draining or has a hung worker; the last lines of the log say which. A hung worker ends the process with 70 and the supervisor starts another; if that repeats, go back to the model before.',
    signs: [{ what: 'the service takes no request', holds: ({ isReady }) => !isReady, level: 'red' }],
    sentence: () => 'Not ready: the service takes no request.',
    followsFrom: (recent) => [...(refusedFor(recent, ['hung']) > 0 ? ['faults'] : []), 'keyStore'],
  },
  {
    id: 'faults',
    title: 'Model runs or workers fail',
    metrics: [METRICS.batchFaults.name, METRICS.workerRestarts.name, METRICS.requests.name],
    remedy:
      'Search the log for "batch failed", "worker lost" and "request failed unexpectedly". A worker that is killed again and again is usually short of memory. After a change of model: go back to the one before.',
    signs: [
      { what: 'workers lost', value: workersLost, words: count, red: 1 },
      { what: 'model runs failed', value: runsFailed, words: count, red: 1 },
      { ...refusals('requests failed unexpectedly', ['internal', 'hung']), red: 1 },
    ],
    sentence: faultSentence,
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
        value: ({ keyStoreAgeS }) => keyStoreAgeS,
        words: secondsAgo,
        amber: UNSEEN_S,
      },
    ],
    sentence: ({ keyStoreAgeS, isReady }) =>
      `The key store was last seen ${secondsAgo(keyStoreAgeS)}: ${isReady ? 'known keys go on, and each replica keeps to its share of the quotas' : 'no key counts any longer'}.`,
  },
  {
    id: 'noKeys',
    title: 'No key is valid: every request is refused',
    metrics: [METRICS.refusals.name],
    remedy:
      'Issue one with "acuity keys issue --kind demo", with the same ACUITY_KEYS: it counts within a second. If there should be keys, check with "acuity keys list" whether they have expired, were revoked, or are in another store.',
    signs: [{ what: 'no key is valid', holds: ({ hasKeys }) => !hasKeys, level: 'amber' }],
    sentence: () =>
      'No key is valid, so every request is refused: issue one with "acuity keys issue --kind demo".',
    followsFrom: () => ['keyStore'],
  },
  {
    id: 'coresFull',
    title: 'There are too few cores for the work',
    metrics: [METRICS.loopCpu.name, METRICS.loopBusy.name, PROCESS_METRICS.cpu.name],
    remedy:
      'Look for other processes on this machine, and for a CPU limit of the container. ACUITY_WORKERS plus ACUITY_HTTP_THREADS should not exceed the cores. Else give it more cores, or add a replica.',
    signs: [{ what: 'event loop without a core', value: withoutCore, words: percent, amber: WITHOUT_CORE }],
    sentence(recent) {
      const { busy, onCore } = busiestLoop(recent);
      return `The cores are the limit: the event loop is busy ${percent(busy)} of the time and has a core for ${percent(onCore)}.`;
    },
  },
  {
    id: 'loopBusy',
    title: 'An event loop is at its limit',
    metrics: [METRICS.loopBusy.name, METRICS.loopLag.name],
    remedy:
      'Reading requests is the limit, not the model. Raise ACUITY_HTTP_THREADS if cores are free (each loop needs its own worker), else add a replica. Check the mean body size too: long series cost most.',
    signs: [{ what: 'event loop busy', value: loopAtWork, words: percent, ...BUSY }],
    sentence: loopSentence,
    followsFrom: (recent) => ['coresFull', ...mostOfTheWork(recent)],
  },
  {
    id: 'loopLate',
    title: 'Requests are refused because an event loop is late',
    metrics: [METRICS.refusals.name, METRICS.loopLag.name, METRICS.gcTime.name],
    remedy:
      'A loop that is late but not busy had a long pause: other work on its core, a CPU limit of the container, a long body or a garbage collection. Check these before you add event loops; a longer ACUITY_DEADLINE_MS tolerates longer pauses.',
    signs: [refusals('refused because the event loop is late', ['loopLag'])],
    sentence: (recent) =>
      `An event loop was late (${percent(busiestLoop(recent).busy)} busy): ${counted(refusedFor(recent, ['loopLag']), 'request')} refused ${WITHIN}.`,
    followsFrom: () => ['coresFull', 'loopBusy'],
  },
  {
    id: 'workersBusy',
    title: 'The workers are at their limit',
    metrics: [METRICS.workerBusy.name, PROCESS_METRICS.workers.name, METRICS.batchRows.name],
    remedy:
      'Raise ACUITY_WORKERS if cores are free, else add a replica. If batches are as large as ACUITY_BATCH_MAX allows, raise it for more throughput at a little more latency.',
    signs: [{ what: 'workers busy', value: workersBusy, words: percent, ...BUSY }],
    sentence: (recent, level) =>
      `The workers ${nearness(level, 'are')}: ${percent(workersBusy(recent))} busy, event loop ${percent(busiestLoop(recent).busy)}.`,
    followsFrom: () => ['coresFull'],
  },
  {
    id: 'queueFull',
    title: 'Requests are refused because too many are in flight',
    metrics: [METRICS.refusals.name, METRICS.pending.name, PROCESS_METRICS.queueMax.name],
    remedy:
      'Callers send more than the workers can score. If the workers are near 100 %, raise ACUITY_WORKERS if cores are free, else add a replica. If they are idle, the event loop is the limit. Raise ACUITY_QUEUE_MAX only for short bursts: a longer queue means longer waits.',
    signs: [
      refusals('refused: too many in flight', ['queueFull']),
      { what: 'in flight', value: inFlight, words: count, amber: 0.5, of: 'queueMax' },
    ],
    sentence(recent, level) {
      const places = `${count(inFlight(recent))} in flight, ${count(recent.queueMax)} at most`;
      return level === 'amber'
        ? `The queue fills: ${places}.`
        : `Too many requests at once: ${count(refusedFor(recent, ['queueFull']))} refused ${WITHIN}; ${places}.`;
    },
    followsFrom: () => CAPACITY,
  },
  {
    id: 'deadline',
    title: 'Requests expire while they wait',
    metrics: [METRICS.refusals.name, METRICS.queued.name, METRICS.stages.name],
    remedy:
      'They waited longer than ACUITY_DEADLINE_MS. Compare the stages queue, dispatch and infer: a long infer with a full machine means too many threads for the cores (ACUITY_WORKERS plus ACUITY_HTTP_THREADS should not exceed them); a long queue means too few workers. A lower ACUITY_QUEUE_MAX refuses at once what would expire later.',
    signs: [refusals('expired', ['deadline'])],
    sentence: (recent) =>
      `Requests expire: ${count(refusedFor(recent, ['deadline']))} waited longer than ${milliseconds(recent.deadlineMs)} ${WITHIN}.`,
    followsFrom: () => CAPACITY,
  },
  {
    id: 'slow',
    title: 'The slowest requests come near the deadline',
    metrics: [METRICS.stages.name],
    remedy:
      'Find the stage that grew: the dashboard has a chart of the stages. receive: callers send slowly, change nothing here. queue: too few workers. dispatch or infer: too many threads for the cores. reply or read: the event loop.',
    signs: [
      { what: 'p99', value: p99Ms, words: milliseconds, amber: 0.25, of: 'deadlineMs' },
      { what: 'p99 of most seconds', value: usualP99Ms, words: milliseconds, red: 0.5, of: 'deadlineMs' },
    ],
    sentence(recent) {
      const stage = longestStage(recent);
      const most = stage === undefined ? '' : `; most of the time goes to the stage ${stage.stage}`;
      return `Requests are slow: p99 ${milliseconds(p99Ms(recent))} of ${milliseconds(recent.deadlineMs)} allowed${most}.`;
    },
    followsFrom: () => CAPACITY,
  },
  {
    id: 'bodiesFull',
    title: 'Requests are refused because bodies fill their memory',
    metrics: [METRICS.refusals.name, METRICS.heldBytes.name, METRICS.connections.name],
    remedy:
      'bodiesFull: many callers upload slowly at once. bodiesOfKey: one caller does, and holds its quarter; the access log names the key. Let the proxy in front buffer bodies; raise ACUITY_BODIES_MAX_BYTES if memory is free; lower ACUITY_BODY_MAX_BYTES if no honest body is that long.',
    signs: [
      refusals('refused: no memory for the body', ['bodiesFull', 'bodiesOfKey']),
      { what: 'held for bodies', value: heldBytes, words: mebibytes, amber: 0.75, of: 'bodiesMaxBytes' },
    ],
    sentence: (recent) =>
      `Bodies fill their memory: ${mebibytes(heldBytes(recent))} held of ${mebibytes(recent.bodiesMaxBytes)}, ${counted(refusedFor(recent, ['bodiesFull', 'bodiesOfKey']), 'request')} refused ${WITHIN}.`,
  },
  {
    id: 'connectionsFull',
    title: 'New connections are closed at once',
    metrics: [METRICS.connectionsRefused.name, METRICS.connections.name],
    remedy:
      'ACUITY_CONNECTIONS_MAX are open. Callers that open many and keep them idle belong behind the proxy. Raise it together with the limit on file descriptors (LimitNOFILE of the unit).',
    signs: [{ what: 'connections closed at once', value: connectionsRefused, words: count, red: 1 }],
    sentence: (recent) =>
      `${counted(connectionsRefused(recent), 'new connection')} closed at once ${WITHIN}: the limit of open connections is reached.`,
  },
  {
    id: 'keys',
    title: 'Many requests come without a valid key',
    metrics: [METRICS.refusals.name],
    remedy:
      'keyInvalid from a known caller: its key has expired or was revoked; check "acuity keys list", then renew it or issue another. From an unknown caller: it is guessing keys; block its address at the proxy.',
    signs: [refusedOften('without a valid key', KEY_CAUSES)],
    sentence(recent) {
      const invalid = refusedShare(recent, ['keyInvalid']);
      const missing = refusedShare(recent, ['keyMissing']);
      return invalid >= missing
        ? `Keys are not valid: ${percent(invalid)} of the requests have an unknown, expired or revoked one.`
        : `Keys are missing: ${percent(missing)} of the requests have none.`;
    },
  },
  {
    id: 'limits',
    title: 'Many requests exceed the limits of their keys',
    metrics: [METRICS.refusals.name, METRICS.requests.name],
    remedy:
      'The access log names the request; a caller that needs more gets a key with "acuity keys issue --rate … --daily …". rateDaily ends at midnight UTC.',
    signs: [refusedOften('over a limit', LIMIT_CAUSES)],
    sentence(recent) {
      const isDaily = refusedFor(recent, ['rateDaily']) > refusedFor(recent, ['rateBurst']);
      return `Callers exceed the limits of their keys: ${percent(refusedShare(recent, LIMIT_CAUSES))} of the requests get 429, mostly for ${isDaily ? 'the daily quota' : 'the rate'}.`;
    },
  },
  {
    id: 'bodies',
    title: 'Many bodies can’t be scored',
    metrics: [METRICS.findings.name, METRICS.refusals.name],
    remedy:
      'A caller has changed its integration. The types of findings say what is wrong: unit_error means R-R intervals, minutes instead of seconds or another unit; value_error means one thing under two names; too_long means a limit of the service (ACUITY_DAY_SAMPLES_MAX, ACUITY_NIGHT_SAMPLES_MAX, ACUITY_BODY_MAX_BYTES).',
    signs: [refusedOften('with a body that can’t be scored', BODY_CAUSES)],
    sentence: (recent) =>
      `Bodies can’t be scored: ${percent(refusedShare(recent, BODY_CAUSES))} of the requests are refused for their content.`,
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
        holds: ({ modelRefusal }) => modelRefusal !== undefined,
        level: 'amber',
        detail: ({ modelRefusal }) => modelRefusal,
      },
    ],
    sentence: ({ modelVersion }) => `A new model was refused: ${modelVersion} keeps serving.`,
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

/** Refusals that the caller never causes: one is amber, a few are red. */
function refusals(what: string, causes: readonly RefusalCause[]): Measure {
  return { what, value: (recent) => refusedFor(recent, causes), words: count, ...TURNED_AWAY };
}

/** Refusals caused by the caller, as a share of all requests. */
function refusedOften(what: string, causes: readonly RefusalCause[]): Measure {
  const value = (recent: Recent): number =>
    refusedFor(recent, causes) < REFUSED_MIN ? 0 : refusedShare(recent, causes);
  return { what, value, words: percent, ...REFUSED };
}

/** The kind of refusal that is most of the event loop's work, if any. */
function mostOfTheWork(recent: Recent): readonly string[] {
  const kinds = { keys: KEY_CAUSES, limits: LIMIT_CAUSES, bodies: BODY_CAUSES };
  return Object.entries(kinds)
    .filter(([, causes]) => refusedShare(recent, causes) >= MOST)
    .map(([id]) => id);
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
  return withoutCore(recent) >= WITHOUT_CORE ? onCore : busy;
}

function loopSentence(recent: Recent, level: Level): string {
  const loop = recent.points.some(({ loopsBusy }) => loopsBusy.length > 1)
    ? 'An event loop'
    : 'The event loop';
  const busy = percent(busiestLoop(recent).busy);
  const workers = workersBusy(recent);
  if (workers >= BUSY.red) {
    return `${loop} and the workers ${nearness(level, 'are')}: ${busy} and ${percent(workers)} busy.`;
  }
  return `${loop} ${nearness(level, 'is')}: ${busy} busy, workers ${percent(workers)}.`;
}

function nearness(level: Level, verb: 'is' | 'are'): string {
  return level === 'red' ? `${verb} the limit` : `${verb} near the limit`;
}

function faultSentence(recent: Recent): string {
  if (refusedFor(recent, ['hung']) > 0)
    return 'A worker hangs: requests are refused until another process starts.';
  const parts = [
    [workersLost(recent), 'worker', 'lost'],
    [runsFailed(recent), 'model run', 'failed'],
    [refusedFor(recent, ['internal']), 'request', 'failed unexpectedly'],
  ] as const;
  const said = parts.filter(([number]) => number > 0);
  return `${said.map(([number, noun, verb]) => `${counted(number, noun)} ${verb}`).join(', ')} ${WITHIN}.`;
}
