import type { Log } from '../base/log.js';

/** What is told of an answered request: never a key, never a header, never a value out of the body. */
export interface AccessLine {
  readonly requestId: string;
  readonly status: number;
  readonly keyId: string | undefined;
  /** From the request's head to the answer, in milliseconds. */
  readonly totalMs: number;
  readonly bytes: number;
  /** The caller's trace context; '' where none was sent. */
  readonly traceparent: string;
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Every refusal is logged, and one in `every` scored requests (0: none). */
export class AccessLog {
  private served = 0;

  constructor(
    private readonly log: Log,
    private readonly every: number,
  ) {}

  /** Whether the next scored request has a line; counts it. */
  wantsServed(): boolean {
    if (this.every === 0) return false;
    this.served++;
    if (this.served < this.every) return false;
    this.served = 0;
    return true;
  }

  write(line: AccessLine): void {
    const { requestId, status, keyId, totalMs, bytes, traceparent } = line;
    const fields = {
      requestId,
      status,
      keyId,
      totalMs: Math.round(totalMs * 1000) / 1000,
      bytes,
      // W3C Trace Context section 3.2: anything that is not of its form is dropped, never passed on.
      ...(TRACEPARENT.test(traceparent) ? { traceparent } : {}),
    };
    if (status >= 500) this.log.error(fields, 'request failed');
    else if (status >= 400) this.log.warn(fields, 'request refused');
    else this.log.info(fields, 'request served');
  }
}
