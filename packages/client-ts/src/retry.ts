import { ConnectionError, TimeoutError, type AcuityError } from './errors.js';
import { isTooLong } from './transport.js';

/** When a request is tried again. */
export interface RetryOptions {
  /**
   * Attempts after the first that failed; 0 for none. A 429 that says when to come back does not count as a
   * failure. Default 2.
   */
  readonly retries: number;
  /** The first pause is at most this long; each further one may be twice as long. Default 200. */
  readonly firstPauseMs: number;
  /**
   * No pause is longer. If the service asks for more (a daily quota), the call does not wait. Default 30,000.
   */
  readonly pauseMaxMs: number;
}

export interface PredictOptions {
  /** Your own id for the request, `[A-Za-z0-9._-]{1,128}`; by default one is made. */
  readonly requestId?: string;
  /** Longest wait for the answer of one attempt, in place of the client's. */
  readonly timeoutMs?: number;
  /** Longest time for the whole call, in place of the client's. */
  readonly deadlineMs?: number;
  /** Attempts after the first, in place of the client's. */
  readonly retries?: number;
  /** Beside the client's, in place of those of the same name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborts the call, pauses between attempts included. */
  readonly signal?: AbortSignal;
}

export const DEFAULT_RETRY: RetryOptions = { retries: 2, firstPauseMs: 200, pauseMaxMs: 30_000 };

/** Whether the same request may have another outcome soon. 501 and 505 are answers about the server itself. */
export function mayPass(error: AcuityError): boolean {
  const { status = 0 } = error;
  if (error instanceof TimeoutError || error instanceof ConnectionError) return !isTooLong(error);
  return [408, 429].includes(status) || (status >= 500 && ![501, 505].includes(status));
}

/**
 * The pause before the next attempt, in milliseconds; undefined if there is none. Pauses grow and are drawn
 * at random ("full jitter"), so that callers who were refused together do not come back together. A pause is
 * never shorter than `Retry-After`.
 *
 * @param failures  at least 1
 * @param random  uniform, 0 to 1
 * @param retryAfterS  seconds that the service asked to wait
 */
export function pauseBefore(
  failures: number,
  { retries, firstPauseMs, pauseMaxMs }: RetryOptions,
  random: () => number,
  retryAfterS = 0,
): number | undefined {
  const askedMs = retryAfterS * 1000;
  if (failures > retries || askedMs > pauseMaxMs) return undefined;
  const jitterMs = random() * Math.min(pauseMaxMs, firstPauseMs * 2 ** (failures - 1));
  return Math.min(pauseMaxMs, askedMs + jitterMs);
}
