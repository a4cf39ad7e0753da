import type { Clock } from '../base/clock.js';
import type { RateLimiter } from '../auth/limits/rateLimiter.js';
import type { RefusalCause } from '../contract/metrics.js';
import type { Timing } from '../score/scorer.js';
import { type AccessLog, lineOf } from './accessLog.js';
import type { ExchangeRecord } from './exchangeRecord.js';
import type { RequestMetrics } from './requestMetrics.js';
import type { RequestTracer } from './requestTracer.js';

/**
 * Records the end of an exchange: numbers, log lines and spans; and gives unused requests back to the day's
 * quota. Called once with the end of each exchange, and of each line of a list.
 */
export class RequestObserver {
  constructor(private readonly options: RequestObserverOptions) {}

  scored(record: ExchangeRecord, timing: Timing): void {
    const { metrics, access, tracer, clock } = this.options;
    const { startedMs, receivedMs, caller } = record;
    const endedMs = clock.monotonicMs();
    metrics.answered(200, caller?.key.kind ?? 'none');
    metrics.served({ startedMs, receivedMs, endedMs, timing });
    if (access.wantsServed()) access.served(lineOf(record, 200, endedMs));
    tracer?.ended(record, { endedMs, status: 200, timing });
  }

  refused(record: ExchangeRecord, cause: RefusalCause, status: number): void {
    const { metrics, access, tracer, clock } = this.options;
    const endedMs = clock.monotonicMs();
    this.refund(record);
    metrics.answered(status, record.caller?.key.kind ?? 'none');
    metrics.refused(cause);
    access.refused(cause, lineOf(record, status, endedMs), endedMs);
    tracer?.ended(record, { endedMs, status, cause });
  }

  /** The caller hung up before an answer. */
  hungUp(record: ExchangeRecord): void {
    this.refund(record);
    const { metrics, tracer, clock } = this.options;
    metrics.callerGone(record.goneBy);
    tracer?.ended(record, { endedMs: clock.monotonicMs() });
  }

  /** A line was scored; its answer is not written yet. */
  lineScored({ startedMs, receivedMs }: ExchangeRecord, timing: Timing): void {
    const { metrics, clock } = this.options;
    metrics.served({ startedMs, receivedMs, endedMs: clock.monotonicMs(), timing });
  }

  /** Lines were written, with these `statuses`. */
  linesWritten({ caller }: ExchangeRecord, statuses: Uint16Array): void {
    const kind = caller?.key.kind ?? 'none';
    for (const status of statuses) this.options.metrics.answered(status, kind);
  }

  lineRefused(cause: RefusalCause): void {
    this.options.metrics.refused(cause);
  }

  /** A list was answered to its last line; `scored` of its `lines` have scores. */
  listEnded(
    record: ExchangeRecord,
    { lines, scored }: { readonly lines: number; readonly scored: number },
  ): void {
    const { metrics, access, tracer, clock } = this.options;
    const endedMs = clock.monotonicMs();
    metrics.listAnswered(lines);
    if (access.wantsServed()) access.served(lineOf(record, 200, endedMs, { lines, scored }));
    tracer?.ended(record, { endedMs, status: 200, lines });
  }

  /** The caller of a list hung up before its end. Its lines have already given back their part of the day's quota. */
  listHungUp(record: ExchangeRecord, lines: number): void {
    const { metrics, tracer, clock } = this.options;
    metrics.callerGone(record.goneBy);
    tracer?.ended(record, { endedMs: clock.monotonicMs(), lines });
  }

  /** Only 200s count against the day's quota. */
  private refund({ caller }: ExchangeRecord): void {
    if (caller?.outcome === 'admitted') this.options.rateLimiter.refund(caller);
  }
}

export interface RequestObserverOptions {
  readonly rateLimiter: Pick<RateLimiter, 'refund'>;
  readonly metrics: RequestMetrics;
  readonly access: AccessLog;
  /** Undefined without tracing. */
  readonly tracer?: Pick<RequestTracer, 'ended'> | undefined;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}
