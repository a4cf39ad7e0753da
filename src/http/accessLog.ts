import type { Log } from '../base/process/log.js';
import type { RefusalCause } from '../contract/metrics.js';
import type { ExchangeRecord } from './exchangeRecord.js';

/**
 * Writes one line for one in `every` scored requests (0: none). A refusal gets its own line, unless its cause
 * had one within the last second: then it shares the next line, which gives the number of refusals. Otherwise
 * the lines of a flood would cost more than its answers.
 */
export class AccessLog {
  private scoredSince = 0;
  private readonly repeats = new Map<RefusalCause, Repeats>();

  constructor(
    private readonly log: Log,
    private readonly every: number,
  ) {}

  /** Whether the next scored request gets a line; counts the request. */
  wantsServed(): boolean {
    if (this.every === 0) return false;
    this.scoredSince++;
    if (this.scoredSince < this.every) return false;
    this.scoredSince = 0;
    return true;
  }

  served(line: AccessLine): void {
    this.log.info(line, 'request served');
  }

  /** `nowMs` is monotonic. */
  refused(cause: RefusalCause, line: AccessLine, nowMs: number): void {
    const known = this.repeats.get(cause);
    // A 500 always gets its own line: its request id is what a caller will report.
    if (cause === 'internal' || known === undefined || (nowMs >= known.quietUntilMs && known.count === 0)) {
      return this.tell(cause, line, { requests: 1, nowMs });
    }
    known.count++;
    known.last = line;
    const { quietUntilMs } = known;
    known.timer ??= setTimeout(() => this.tellRepeats(cause, quietUntilMs), quietUntilMs - nowMs).unref();
  }

  /** Writes the lines of refusals that still wait for one. */
  flush(nowMs: number): void {
    for (const cause of this.repeats.keys()) this.tellRepeats(cause, nowMs);
  }

  private tellRepeats(cause: RefusalCause, nowMs: number): void {
    const { last, count = 0, timer } = this.repeats.get(cause) ?? {};
    clearTimeout(timer);
    if (last !== undefined) this.tell(cause, last, { requests: count, nowMs });
  }

  private tell(
    cause: RefusalCause,
    line: AccessLine,
    { requests, nowMs }: Readonly<Record<'requests' | 'nowMs', number>>,
  ): void {
    this.repeats.set(cause, { quietUntilMs: nowMs + QUIET_MS, count: 0, last: undefined, timer: undefined });
    const fields = { ...line, cause, requests };
    if (line.status >= 500) this.log.error(fields, 'request failed');
    else this.log.warn(fields, 'request refused');
  }
}

/** The line of an answered request: never a key, a header, or a value from the body. */
export type AccessLine = ReturnType<typeof lineOf>;

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Refusals of one cause since its last line. */
interface Repeats {
  readonly quietUntilMs: number;
  count: number;
  /** The newest of them, which the next line describes; undefined while there is none. */
  last: AccessLine | undefined;
  timer: NodeJS.Timeout | undefined;
}

const QUIET_MS = 1000;

/** `more`: of a list, its lines and how many of them were scored. */
export function lineOf(
  { requestId, traceparent, caller, startedMs, bodyBytes: bytes, recording }: ExchangeRecord,
  status: number,
  endedMs: number,
  more: { readonly lines?: number; readonly scored?: number } = {},
) {
  return {
    requestId,
    status,
    keyId: caller?.key.id,
    /** From the request's head to the answer, in milliseconds. */
    totalMs: Math.round((endedMs - startedMs) * 1000) / 1000,
    bytes,
    ...more,
    ...(recording === undefined ? {} : { recording }),
    // W3C Trace Context section 3.2: a value of another form is dropped, never passed on.
    ...(TRACEPARENT.test(traceparent) ? { traceparent } : {}),
  };
}
