import { Authenticator } from '../auth/authenticator.js';
import type { Keyring } from '../auth/keyring.js';
import type { Limits } from '../auth/limits.js';
import { RateLimiter } from '../auth/rateLimiter.js';
import type { Clock } from '../base/clock.js';
import type { TryPayer } from '../admin/tryDesk.js';
import { EXPLAIN_TOKENS, HEAD_TOKENS } from '../http/prices.js';

/** Checks keys for the page /try exactly as `POST /predict` does. */
export function tryKeys(
  keyring: Pick<Keyring, 'records'>,
  limits: Limits,
  clock: Pick<Clock, 'nowMs'>,
): (key: string) => TryPayer | 'missing' | 'invalid' {
  const authenticator = new Authenticator();
  const rateLimiter = new RateLimiter(limits);
  let known: Keyring['records'] | undefined;
  return (key) => {
    // The event loops receive each change; here the table is made only when a request needs it.
    if (known !== keyring.records) {
      known = keyring.records;
      authenticator.replace(known);
    }
    const entry = authenticator.identify(key, clock.nowMs());
    if (typeof entry === 'string') return entry;
    let admission: Parameters<RateLimiter['refund']>[0] | undefined;
    return {
      charge() {
        const verdict = rateLimiter.admit(entry, clock.nowMs());
        if (verdict.outcome === 'limited') return verdict.retryAfterS;
        admission = verdict;
        rateLimiter.spend(verdict, EXPLAIN_TOKENS - HEAD_TOKENS, clock.nowMs());
        return undefined;
      },
      refund() {
        if (admission !== undefined) rateLimiter.refund(admission);
      },
    };
  };
}
