import { METRICS, PROCESS_METRICS, type RefusalCause } from '../contract/metrics.js';
import { KEY_STORE_SYMPTOM } from './keyStoreSymptom.js';
import type { Point } from './timeSeries.js';

/** What someone on call sees, where it shows, and what to do: for the dashboard and for `docs/OPERATIONS.md`. */
export interface Symptom {
  readonly id: string;
  readonly title: string;
  /** Where it shows: names of metrics, most telling first. */
  readonly metrics: readonly string[];
  /** What to look at and what to change, in order. */
  readonly remedy: string;
  /** Whether it shows in the last seconds; absent where only a longer look can tell. */
  isRed?(recent: Recent): boolean;
}

/** The last seconds, and what they are judged against. */
export interface Recent {
  readonly points: readonly Point[];
  readonly isReady: boolean;
  readonly deadlineMs: number;
  /** Time since the key store was last seen. */
  readonly keyStoreAgeS?: number;
}

/** A symptom is judged over so many seconds: one slow second is no reason to wake anybody. */
export const JUDGED_POINTS = 5;

const BUSY_SHARE = 0.9;
/** Refusals for one kind of reason count as red from this share of all requests on. */
const REFUSED_SHARE = 0.1;
/** … and from so many on: one mistyped key at night is no symptom. */
const REFUSED_MIN = 20;

export const SYMPTOMS: readonly Symptom[] = [
  {
    id: 'notReady',
    title: 'Not ready: no request is taken',
    metrics: [PROCESS_METRICS.ready.name],
    remedy:
      'The service is starting, draining or has a hung worker; the last lines of the log say which. A hung worker ends the process with 70 and the supervisor starts another; if that repeats, go back to the model before.',
    isRed: ({ isReady }) => !isReady,
  },
  {
    id: 'queueFull',
    title: 'Requests are refused because too many are in flight',
    metrics: [METRICS.refusals.name, METRICS.pending.name, PROCESS_METRICS.queueMax.name],
    remedy:
      'Demand exceeds what the workers give. Workers near 100 %: more ACUITY_WORKERS where cores are free, else another replica. Workers idle: the event loop is the limit, see there. Raise ACUITY_QUEUE_MAX only for short bursts: a longer queue means longer waits.',
    isRed: refusedFor(['queueFull'], 0),
  },
  {
    id: 'deadline',
    title: 'Requests expire while they wait',
    metrics: [METRICS.refusals.name, METRICS.queued.name, METRICS.stages.name],
    remedy:
      'They waited longer than ACUITY_DEADLINE_MS. Compare the stages queue, dispatch and infer: a long infer with a full machine means too many threads for the cores (ACUITY_WORKERS plus ACUITY_HTTP_THREADS should not exceed them); a long queue means too few workers. A lower ACUITY_QUEUE_MAX refuses at once what would expire later.',
    isRed: refusedFor(['deadline'], 0),
  },
  {
    id: 'loopBusy',
    title: 'An event loop is at its limit',
    metrics: [METRICS.loopBusy.name, METRICS.loopLag.name, METRICS.refusals.name],
    remedy:
      'Reading requests is the limit, not the model. Raise ACUITY_HTTP_THREADS where cores are free (each loop wants a worker of its own), else add a replica. Look at the mean body size too: long series cost most.',
    isRed: (recent) => mean(recent, busiestLoop) > BUSY_SHARE || refusedFor(['loopLag'], 0)(recent),
  },
  {
    id: 'workersBusy',
    title: 'The workers are at their limit',
    metrics: [METRICS.workerBusy.name, PROCESS_METRICS.workers.name, METRICS.batchRows.name],
    remedy:
      'More ACUITY_WORKERS where cores are free, else another replica. While batches are as large as ACUITY_BATCH_MAX allows, a larger one gives more throughput for a little more latency.',
    isRed: (recent) => mean(recent, ({ workersBusy }) => workersBusy) > BUSY_SHARE,
  },
  {
    id: 'slow',
    title: 'The slowest requests come near the deadline',
    metrics: [METRICS.stages.name],
    remedy:
      'Find the stage that grew. receive: callers send slowly, nothing to change here. queue: too few workers. dispatch or infer: too many threads for the cores. reply or read: the event loop.',
    isRed: (recent) => mean(recent, ({ p99Ms }) => p99Ms) > recent.deadlineMs / 2,
  },
  {
    id: 'bodiesFull',
    title: 'Requests are refused because bodies fill the memory set aside for them',
    metrics: [METRICS.refusals.name, METRICS.heldBytes.name, METRICS.connections.name],
    remedy:
      'bodiesFull: many callers upload slowly at once. bodiesOfKey: one of them does, and holds its quarter; the access log names the key. Let the proxy in front buffer bodies; raise ACUITY_BODIES_MAX_BYTES where memory is free; lower ACUITY_BODY_MAX_BYTES where no honest body is so long.',
    isRed: refusedFor(['bodiesFull', 'bodiesOfKey'], 0),
  },
  {
    id: 'faults',
    title: 'Model runs or workers fail',
    metrics: [METRICS.batchFaults.name, METRICS.workerRestarts.name, METRICS.requests.name],
    remedy:
      'Search the log for "batch failed", "worker lost" and "request failed unexpectedly". A worker that is killed again and again is usually short of memory. After a change of model: go back to the one before.',
    isRed: (recent) =>
      recent.points.some(({ faults }) => faults > 0) || refusedFor(['internal', 'hung'], 0)(recent),
  },
  {
    id: 'keys',
    title: 'Many requests come without a valid key',
    metrics: [METRICS.refusals.name],
    remedy:
      'keyInvalid from a known caller: its key expired or was revoked; see "acuity keys list", then renew or issue. From unknown callers: somebody is guessing; block the address at the proxy.',
    isRed: refusedFor(['keyMissing', 'keyInvalid'], REFUSED_SHARE),
  },
  {
    id: 'limits',
    title: 'Many requests exceed the limits of their keys',
    metrics: [METRICS.refusals.name, METRICS.requests.name],
    remedy:
      'The access log names the request; a caller that needs more gets a key with "acuity keys issue --rate … --daily …". rateDaily ends at midnight UTC.',
    isRed: refusedFor(['rateBurst', 'rateDaily'], REFUSED_SHARE),
  },
  {
    id: 'bodies',
    title: 'Many bodies can’t be scored',
    metrics: [METRICS.findings.name, METRICS.refusals.name],
    remedy:
      'A caller changed its integration. The kinds of findings say what is wrong: unit_error means R-R intervals, minutes for seconds or another unit, value_error one thing under two names, too_long a limit of ours (ACUITY_DAY_SAMPLES_MAX, ACUITY_NIGHT_SAMPLES_MAX, ACUITY_BODY_MAX_BYTES).',
    isRed: refusedFor(
      ['malformed', 'unprocessable', 'bodyTooLarge', 'contentType', 'contentEncoding'],
      REFUSED_SHARE,
    ),
  },
  {
    id: 'missing',
    title: 'Fields are missing more often than last week',
    metrics: [METRICS.fieldsMissing.name, METRICS.sessionsSampled.name, METRICS.fieldsUnknown.name],
    remedy:
      'Scores stay valid but get less certain. A wearable or an integration stopped sending a field: ask the callers; the model card says what each field is worth. Where acuity_fields_unknown_total rises too, they send it under a name that nobody reads.',
  },
  {
    id: 'memory',
    title: 'Memory grows',
    metrics: [PROCESS_METRICS.rss.name, METRICS.heldBytes.name, METRICS.gcTime.name],
    remedy:
      'Bodies held: see above. Otherwise each worker costs memory by itself: fewer ACUITY_WORKERS. Growth that goes on at constant load is a defect: keep a heap snapshot and restart.',
  },
  KEY_STORE_SYMPTOM,
];

function refusedFor(causes: readonly RefusalCause[], shareMin: number): (recent: Recent) => boolean {
  return ({ points }) => {
    let refused = 0;
    let all = 0;
    for (const point of points) {
      for (const cause of causes) refused += point.refusals[cause] ?? 0;
      all += point.served + point.refused;
    }
    return refused >= (shareMin > 0 ? REFUSED_MIN : 1) && refused >= shareMin * all;
  };
}

function busiestLoop({ loopsBusy }: Point): number {
  return Math.max(0, ...loopsBusy);
}

/** Of the points that have the value; 0 where none has. */
function mean({ points }: Recent, value: (point: Point) => number): number {
  const values = points.map(value).filter((one) => !Number.isNaN(one));
  return values.length === 0 ? 0 : values.reduce((sum, one) => sum + one, 0) / values.length;
}
