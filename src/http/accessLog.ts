import type { Log } from '../base/log.js';

/** What is told of an answered request: never a key, never a header, never a value out of the body. */
export interface AccessLine {
  readonly requestId: string;
  readonly status: number;
  readonly keyId: string | undefined;
  /** From the request's head to the answer, in milliseconds. */
  readonly totalMs: number;
  readonly bytes: number;
}

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
    const { requestId, status, keyId, totalMs, bytes } = line;
    const fields = { requestId, status, keyId, totalMs: Math.round(totalMs * 1000) / 1000, bytes };
    if (status >= 500) this.log.error(fields, 'request failed');
    else if (status >= 400) this.log.warn(fields, 'request refused');
    else this.log.info(fields, 'request served');
  }
}
