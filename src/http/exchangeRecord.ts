import type { Admission, Limited } from '../auth/limits/rateLimiter.js';
import type { GoneCause, RecordingLabel } from '../contract/metrics.js';

/** Facts about an exchange; they grow with each step. */
export interface ExchangeRecord {
  readonly requestId: string;
  /** The caller's trace context (W3C); '' if none was sent. */
  readonly traceparent: string;
  /**
   * When the head of the request had arrived, and the last byte of its body; the same if no body was read.
   */
  readonly startedMs: number;
  readonly receivedMs: number;
  /** Length of a body that was read to its end; otherwise 0. */
  readonly bodyBytes: number;
  /** The holder of the key; undefined if no key was accepted. */
  readonly caller: Admission | Limited | undefined;
  /** Whose recording was read; undefined without one. */
  readonly recording?: RecordingLabel | undefined;
  /** Why its connection ended before the answer; undefined if it did not. */
  readonly goneBy?: GoneCause | undefined;
}
