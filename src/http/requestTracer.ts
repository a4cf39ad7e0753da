import type { Clock } from '../base/clock.js';
import type { RefusalCause } from '../contract/metrics.js';
import type { Timing } from '../score/scorer.js';
import { sampledParent, type TracedRequest, type TracedStages } from './tracedRequest.js';
import type { ExchangeRecord } from './exchangeRecord.js';

/**
 * Passes on ended requests that the holder of a key sampled, up to a number a second. Other requests bear
 * none of its cost.
 */
export class RequestTracer {
  private second = 0;
  private taken = 0;

  constructor(private readonly options: RequestTracerOptions) {}

  ended(record: ExchangeRecord, ending: Ending): void {
    if (record.traceparent === '' || record.caller === undefined) return;
    const parent = sampledParent(record.traceparent);
    if (parent === undefined) return;
    const { secondMax, clock, pass, onDropped } = this.options;
    const nowMs = clock.nowMs();
    const second = Math.floor(nowMs / 1000);
    if (second !== this.second) this.taken = 0;
    this.second = second;
    if (this.taken++ >= secondMax) return onDropped();
    const { endedMs, status, cause, timing, lines } = ending;
    // The monotonic clock is this thread's own, but the time between two of its readings is valid on every
    // thread.
    const sinceMs = nowMs - clock.monotonicMs();
    const isTaken = pass({
      parent,
      requestId: record.requestId,
      startedMs: sinceMs + record.startedMs,
      totalMs: endedMs - record.startedMs,
      stages: stagesOf(record, timing, endedMs),
      status,
      cause,
      keyKind: record.caller.key.kind,
      bodyBytes: record.bodyBytes,
      batchRows: timing?.rows,
      lines,
    });
    if (!isTaken) onDropped();
  }
}

/** How a request ended. */
interface Ending {
  readonly endedMs: number;
  readonly status?: number;
  readonly cause?: RefusalCause;
  readonly timing?: Timing;
  /** For a list. */
  readonly lines?: number;
}

export interface RequestTracerOptions {
  /** Most requests traced in a second: callers set the sampled flag, but tracing costs us. */
  readonly secondMax: number;
  readonly clock: Clock;
  /** Passes the request on; false if it could not be taken. */
  pass(request: TracedRequest): boolean;
  /** Called when a request that its caller sampled is not traced. */
  onDropped(): void;
}

/** The same times as in the metric `acuity_stage_seconds`; for a refused request, the known ones. */
function stagesOf(
  { startedMs, receivedMs, bodyBytes }: ExchangeRecord,
  timing: Timing | undefined,
  endedMs: number,
): TracedStages {
  const receiveMs = receivedMs - startedMs;
  if (timing === undefined) return bodyBytes === 0 ? [] : [['receive', receiveMs]];
  const { admittedMs, queueMs, dispatchMs, inferMs, scoredMs } = timing;
  return [
    ['receive', receiveMs],
    ['read', admittedMs - receivedMs],
    ['queue', queueMs - dispatchMs],
    ['dispatch', dispatchMs],
    ['infer', inferMs],
    ['reply', endedMs - scoredMs],
  ];
}
