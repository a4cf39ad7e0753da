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
  /** Aborts the call, pauses between attempts included. */
  readonly signal?: AbortSignal;
}

export const DEFAULT_RETRY: RetryOptions = { retries: 2, firstPauseMs: 200, pauseMaxMs: 30_000 };

/** An attempt that failed for a reason that may pass. */
export interface FailedAttempt {
  /** Counts from 1. */
  readonly attempt: number;
  /** Seconds that the service asked to wait. */
  readonly retryAfterS: number | undefined;
}

/**
 * The pause before the next attempt, in milliseconds; undefined if there is none. Pauses grow and are drawn
 * at random ("full jitter"), so that callers who were refused together do not come back together. A pause is
 * never shorter than `Retry-After`.
 *
 * @param random  uniform, 0 to 1
 */
export function pauseBefore(
  { attempt, retryAfterS }: FailedAttempt,
  { retries, firstPauseMs, pauseMaxMs }: RetryOptions,
  random: () => number,
): number | undefined {
  if (attempt > retries) return undefined;
  const askedMs = (retryAfterS ?? 0) * 1000;
  if (askedMs > pauseMaxMs) return undefined;
  const jitterMs = random() * Math.min(pauseMaxMs, firstPauseMs * 2 ** (attempt - 1));
  return Math.min(pauseMaxMs, askedMs + jitterMs);
}
