/** The main thread's half of the page `/try`: who pays, how often it may ask, and the scores. */
import { Authenticator } from '../auth/authenticator.js';
import type { Keyring } from '../auth/keyring.js';
import type { Limits } from '../auth/limits/limits.js';
import { RateLimiter } from '../auth/limits/rateLimiter.js';
import type { Clock } from '../base/clock.js';
import { problemAnswer } from '../contract/problems.js';
import type { TryAnswer, TryScore } from '../admin/tryDesk.js';
import { EXPLAIN_TOKENS, HEAD_TOKENS } from '../http/prices.js';

export interface TryDeskOptions {
  readonly keyring: Pick<Keyring, 'records'>;
  readonly limits: Limits;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** Scores a body as `POST /predict` would; undefined before anything can be scored. */
  score(body: Uint8Array): Promise<TryAnswer> | undefined;
}

/** Enough for a person who moves a slider, and too little to load the service: in any second, of all callers. */
const REQUESTS_MAX = 4;
const PERIOD_MS = 1000;

/** A key, where one is needed, is checked exactly as `POST /predict` does, and charged for an explained request. */
export function tryDesk({ keyring, limits, clock, score }: TryDeskOptions): TryScore {
  const authenticator = new Authenticator();
  const rateLimiter = new RateLimiter(limits);
  let known: Keyring['records'] | undefined;
  const entryOf = (key: string) => {
    // The event loops receive each change; here the table is made only when a request needs it.
    if (known !== keyring.records) {
      known = keyring.records;
      authenticator.replace(known);
    }
    return authenticator.identify(key, clock.nowMs());
  };
  /** When the last requests came, the oldest first. */
  const cameMs: number[] = [];
  const takeTurn = (nowMs: number): boolean => {
    while (cameMs[0] !== undefined && nowMs - cameMs[0] >= PERIOD_MS) cameMs.shift();
    return cameMs.length < REQUESTS_MAX && cameMs.push(nowMs) > 0;
  };
  return async ({ key, body }) => {
    const entry = key === undefined ? undefined : entryOf(key);
    if (entry === 'missing') return problemAnswer('keyMissing');
    if (entry === 'invalid') return problemAnswer('keyInvalid');
    if (!takeTurn(clock.monotonicMs())) return { ...problemAnswer('rateLimited'), retryAfterS: 1 };
    const admission = entry && rateLimiter.admit(entry, clock.nowMs());
    if (admission?.outcome === 'limited')
      return { ...problemAnswer('rateLimited'), retryAfterS: admission.retryAfterS };
    if (admission) rateLimiter.spend(admission, EXPLAIN_TOKENS - HEAD_TOKENS, clock.nowMs());
    let answer: TryAnswer | undefined;
    try {
      answer = (await score(body)) ?? problemAnswer('overloaded');
      return answer;
    } finally {
      // Also where the score has failed: only 200s count against the day's quota.
      if (admission && answer?.status !== 200) rateLimiter.refund(admission);
    }
  };
}
