import { allocateMetrics, type MetricSpec, type Recorders, recordersIn } from '../base/metrics.js';
import { BATCH_VARIANTS } from './graphVariant.js';
import {
  FINDING_TYPES,
  MALFORMED,
  PROBLEMS,
  UNPROCESSABLE,
  type BodyProblem,
  type ProblemName,
} from './problems.js';
import { PROVIDERS } from '#adapters/recording.js';
import { FIELDS_OF_A_SESSION, LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';

/**
 * Every metric, in one place: recording, export, dashboard and documentation read this. Names are a promise to
 * everyone who built alerts on them. No label ever holds a key, a caller or any part of a body.
 */

/** The problem that the caller gets for each cause: an operator needs more detail. */
const PROBLEM_OF = {
  notFound: 'notFound',
  methodNotAllowed: 'methodNotAllowed',
  keyMissing: 'keyMissing',
  keyInvalid: 'keyInvalid',
  rateBurst: 'rateLimited',
  rateDaily: 'rateLimited',
  transferEncoding: 'transferEncoding',
  contentType: 'contentType',
  contentEncoding: 'contentEncoding',
  bodyTooLarge: 'bodyTooLarge',
  malformed: 'malformed',
  unprocessable: 'unprocessable',
  queueFull: 'overloaded',
  explainedOfKey: 'overloaded',
  recordingsFull: 'overloaded',
  recordingsOfKey: 'overloaded',
  bodiesFull: 'overloaded',
  bodiesOfKey: 'overloaded',
  loopLag: 'overloaded',
  draining: 'overloaded',
  hung: 'overloaded',
  deadline: 'overloaded',
  internal: 'internal',
} as const satisfies Record<string, ProblemName | BodyProblem['kind']>;

/** Why a request was refused. */
export type RefusalCause = keyof typeof PROBLEM_OF;
export const REFUSAL_CAUSES = Object.keys(PROBLEM_OF) as readonly RefusalCause[];

type CauseOf<Problem> = {
  [Cause in RefusalCause]: (typeof PROBLEM_OF)[Cause] extends Problem ? Cause : never;
}[RefusalCause];
/** Causes of a 503, or of a 429 if `ACUITY_OVERLOAD_STATUS` says so. */
export type OverloadCause = CauseOf<'overloaded'>;
/** Causes of a 429. */
export type LimitCause = CauseOf<'rateLimited'>;
/** Problems that are their own cause. */
export type PlainCause = Extract<RefusalCause, ProblemName>;

/** The response status for each cause. */
export function statusOf(cause: RefusalCause): number {
  return { ...PROBLEMS, malformed: MALFORMED, unprocessable: UNPROCESSABLE }[PROBLEM_OF[cause]].status;
}

/** Statuses that the service responds with, in ascending order. */
export const STATUSES: readonly number[] = [...new Set([200, ...REFUSAL_CAUSES.map(statusOf)])].toSorted(
  (a, b) => a - b,
);

/** Kind of the accepted key; `none` if the request was refused before a key was accepted. */
export const KEY_KINDS = ['none', 'demo', 'live'] as const;

/** Whose recordings were read; `unknown` if they were refused before that was known. */
export const RECORDING_LABELS = [...PROVIDERS, 'unknown'] as const;
export type RecordingLabel = (typeof RECORDING_LABELS)[number];
export const RECORDING_OUTCOMES = ['read', 'refused'] as const;

/** The stages of a scored request, in order; `total` is all of them. */
export const STAGES = ['receive', 'read', 'queue', 'dispatch', 'infer', 'reply', 'total'] as const;

/**
 * How a caller was lost before its answer. `pipelined`: more bytes came in one packet with the request, and at them the
 * HTTP library closes the connection. `inPieces`: the body came in too many pieces, at which the service closes it.
 */
export const GONE_CAUSES = ['hungUp', 'pipelined', 'inPieces'] as const;
export type GoneCause = (typeof GONE_CAUSES)[number];

export const GC_KINDS = ['minor', 'major', 'incremental', 'weak'] as const;

const MS: { readonly scale: number } = { scale: 0.001 };
/** Recorded in milliseconds, from 2 µs to 16 s. */
const TIMES = { ...MS, minExponent: -9, maxExponent: 14, splitBits: 3, exportEvery: 4 } as const;

/** Whole numbers up to 1,024. */
const NUMBERS = { minExponent: 0, maxExponent: 10, splitBits: 0, exportEvery: 1 } as const;

/** The metrics that the event loops write. */
export const METRICS = {
  requests: {
    type: 'counter',
    name: 'acuity_requests_total',
    help: 'Requests answered, by status and by the kind of the accepted key',
    labels: { status: STATUSES.map(String), key: KEY_KINDS },
  },
  refusals: {
    type: 'counter',
    name: 'acuity_refusals_total',
    help: 'Requests refused, by cause: queueFull, recordingsFull, explainedOfKey, recordingsOfKey and bodiesOfKey (one key holds its share), bodiesFull, loopLag, draining and hung were shed at the door, deadline expired while waiting',
    labels: { cause: REFUSAL_CAUSES },
  },
  findings: {
    type: 'counter',
    name: 'acuity_findings_total',
    help: 'What was wrong in bodies answered with 422, by kind; one body may have up to eight',
    labels: { type: FINDING_TYPES },
  },
  gone: {
    type: 'counter',
    name: 'acuity_callers_gone_total',
    help: 'Requests whose connection ended before the answer, by cause: the caller hung up, or sent another request, or bytes beyond the length, in the same packet (pipelined), at which the HTTP library closes it; or sent its body in too many chunks of a few bytes (inPieces), at which the service closes it',
    labels: { cause: GONE_CAUSES },
  },
  bodyBytes: {
    type: 'counter',
    name: 'acuity_request_body_bytes_total',
    help: 'Bytes of request bodies that were read to the end',
  },
  stages: {
    type: 'histogram',
    name: 'acuity_stage_seconds',
    help: 'Time of scored requests by stage: receive (head to last byte), read (parse and check), queue (until a batch is handed out), dispatch (to the worker and back, the features made there and the wait for its running batch included), infer (model run), reply (scores to bytes), total (head to answer)',
    labels: { stage: STAGES },
    ...TIMES,
  },
  listLines: {
    type: 'histogram',
    name: 'acuity_list_lines',
    help: 'Lines of each list (application/x-ndjson) that was answered; in every other metric a line counts as a request, and a list that was refused as a whole as one',
    ...NUMBERS,
  },
  recordings: {
    type: 'counter',
    name: 'acuity_recordings_total',
    help: 'Recordings that their reader has read or refused (400, 422), by provider; their requests count in the other metrics too',
    labels: { provider: RECORDING_LABELS, outcome: RECORDING_OUTCOMES },
  },
  recordingTime: {
    type: 'histogram',
    name: 'acuity_recording_seconds',
    help: 'Time from the last byte of a recording until it was read or refused, the wait for the reader included; it is part of the stage read',
    ...TIMES,
  },
  recordingsPending: {
    type: 'gauge',
    name: 'acuity_recordings_pending',
    help: 'Recordings that wait for their reader or are read there',
  },
  recordingRestarts: {
    type: 'counter',
    name: 'acuity_recording_thread_restarts_total',
    help: 'Readers of recordings (processes) that were lost, or ended because they hung or took too much memory',
  },
  batchRows: {
    type: 'histogram',
    name: 'acuity_batch_rows',
    help: 'Requests that ran together, by graph: without history, with it, and explained',
    labels: { graph: BATCH_VARIANTS },
    ...NUMBERS,
  },
  workerBusy: {
    type: 'counter',
    name: 'acuity_worker_busy_seconds_total',
    help: 'Time in model runs, summed over the workers (explained requests have one of their own): its rate over acuity_workers is their utilisation',
    ...MS,
  },
  runTime: {
    type: 'counter',
    name: 'acuity_run_seconds_total',
    help: 'Time in model runs, by graph: over the sum of acuity_batch_rows, what a request of each costs',
    labels: { graph: BATCH_VARIANTS },
    ...MS,
  },
  workerRestarts: {
    type: 'counter',
    name: 'acuity_worker_restarts_total',
    help: 'Workers that were lost and replaced',
  },
  batchFaults: {
    type: 'counter',
    name: 'acuity_batch_faults_total',
    help: 'Model runs that failed, and rows whose scores were not sound',
  },
  pending: {
    type: 'gauge',
    name: 'acuity_requests_in_flight',
    help: 'Requests admitted and not yet answered',
  },
  pendingMost: {
    type: 'gauge',
    name: 'acuity_requests_in_flight_most',
    help: 'Most requests in flight at once within the last second, the event loops added up: the gauge itself flips with each batch',
  },
  queued: {
    type: 'gauge',
    name: 'acuity_requests_queued',
    help: 'Of those in flight, the ones that wait for a worker',
  },
  connectionsRefused: {
    type: 'counter',
    name: 'acuity_connections_refused_total',
    help: 'Public connections closed as soon as they were opened, because ACUITY_CONNECTIONS_MAX were open',
  },
  connections: {
    type: 'gauge',
    name: 'acuity_connections',
    help: 'Connections open on the public listener',
  },
  heldBytes: {
    type: 'gauge',
    name: 'acuity_bodies_held_bytes',
    help: 'Memory held for request bodies that are still arriving',
  },
  loopBusy: {
    type: 'counter',
    name: 'acuity_event_loop_busy_seconds_total',
    help: 'Time that an event loop did not wait for events: its rate is the loop’s utilisation, 0 to 1',
    eachLoop: true,
    ...MS,
  },
  loopCpu: {
    type: 'counter',
    name: 'acuity_event_loop_cpu_seconds_total',
    help: 'CPU time of an event loop’s thread: well below acuity_event_loop_busy_seconds_total where other work takes the cores. Stays 0 where the system does not tell (Linux does)',
    eachLoop: true,
    ...MS,
  },
  loopLag: {
    type: 'gauge',
    name: 'acuity_event_loop_lag_seconds',
    help: 'How late the last timer of an event loop was',
    eachLoop: true,
    ...MS,
  },
  sessionsSampled: {
    type: 'counter',
    name: 'acuity_sessions_sampled_total',
    help: 'Current sessions whose fields were looked at: one request in 16',
  },
  fieldsMissing: {
    type: 'counter',
    name: 'acuity_fields_missing_total',
    help: 'Fields missing in the sessions looked at; over acuity_sessions_sampled_total, the share that is missing',
    labels: { field: FIELDS_OF_A_SESSION },
  },
  fieldsUnknown: {
    type: 'counter',
    name: 'acuity_fields_unknown_total',
    help: 'Fields that the contract does not know, in requests that were understood: they are ignored, and most likely mistyped where their number rises',
  },
  tracesDropped: {
    type: 'counter',
    name: 'acuity_traces_dropped_total',
    help: 'Requests that the holder of a key sampled and that were not traced: more than ACUITY_TRACES_MAX in that second, or the thread that sends them is late',
  },
  gcPauses: {
    type: 'counter',
    name: 'acuity_gc_runs_total',
    help: 'Garbage collections of the event loops’ threads, by kind',
    labels: { kind: GC_KINDS },
  },
  gcTime: {
    type: 'counter',
    name: 'acuity_gc_seconds_total',
    help: 'Time in garbage collections of the event loops’ threads, by kind',
    labels: { kind: GC_KINDS },
    ...MS,
  },
  shadowCompared: {
    type: 'counter',
    name: 'acuity_shadow_compared_total',
    help: 'Scored requests that the shadow model scored too, since it came into force',
  },
  shadowDropped: {
    type: 'counter',
    name: 'acuity_shadow_dropped_total',
    help: 'Copies of scored requests that the shadow model had no room or no time for',
  },
  shadowErrors: {
    type: 'counter',
    name: 'acuity_shadow_errors_total',
    help: 'Copies of scored requests that the shadow model gave no sound scores for',
  },
  shadowFlips: {
    type: 'counter',
    name: 'acuity_shadow_label_flips_total',
    help: 'Compared requests whose label the shadow model says otherwise',
    labels: { label: LABEL_FIELDS },
  },
  shadowDifference: {
    type: 'histogram',
    name: 'acuity_shadow_score_difference',
    help: 'How far the scores of the shadow model lie from those that were answered, in points, whichever is higher',
    labels: { score: SCORE_FIELDS },
    minExponent: -6,
    maxExponent: 7,
    splitBits: 1,
    exportEvery: 1,
  },
  shadowSigned: {
    type: 'gauge',
    name: 'acuity_shadow_score_difference_signed',
    help: 'Sum of the differences with their signs, shadow less answered: over acuity_shadow_compared_total it is the mean',
    labels: { score: SCORE_FIELDS },
  },
  shadowRun: {
    type: 'histogram',
    name: 'acuity_shadow_run_seconds',
    help: 'Model run of the shadow model that held a compared request',
    ...TIMES,
  },
} as const satisfies Record<string, MetricSpec>;

export type LoopCatalogue = typeof METRICS;
/** The counters of an event loop. */
export type LoopRecorders = Recorders<LoopCatalogue>;

/** Counts in memory of `allocateLoopMetrics`. */
export function loopRecorders(memory: SharedArrayBuffer): LoopRecorders {
  return recordersIn(METRICS, memory);
}

/** Memory for the metrics of one event loop. */
export function allocateLoopMetrics(): SharedArrayBuffer {
  return allocateMetrics(METRICS);
}
