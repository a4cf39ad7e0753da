import type { KeyEntry } from './keyTable.js';
import { jittered } from '../base/jitter.js';
import { BURST_EXCEEDED, BURST_S, DAILY_EXCEEDED, msToNextDay, type Limits } from './limits.js';

/** Frozen: may be kept until the answer is known. */
export interface Admission {
  readonly outcome: 'admitted';
  readonly key: KeyEntry;
  /** The UTC day on which the request counts. */
  readonly day: number;
}

export interface Limited {
  readonly outcome: 'limited';
  readonly key: KeyEntry;
  /** Which of the two limits was reached. */
  readonly limit: 'burst' | 'daily';
  /** Value of `Retry-After`: at least 1. Of the burst, 30 at most, and drawn for each answer. */
  readonly retryAfterS: number;
  /** Value of `RateLimit-Policy`. */
  readonly policy: string;
  /** Value of `RateLimit`. */
  readonly state: string;
}

const DAY_S = 86_400;

/** Charges requests to their keys. One for each event loop; `limits` is shared by all. */
export class RateLimiter {
  readonly #limits: Limits;
  readonly #random: () => number;
  /** The verdict that a key usually gets, by its index: made once a day instead of for each request. */
  readonly #admissions: (Admission | undefined)[] = [];

  constructor(
    limits: Limits,
    /** Uniform, 0 to 1. */
    random: () => number = Math.random,
  ) {
    this.#limits = limits;
    this.#random = random;
  }

  /**
   * Charges a request one token, and counts it: against the day's quota, or without one for `acuity keys usage`.
   * Synchronous and local; `nowMs` is the wall clock's.
   */
  admit(key: KeyEntry, nowMs: number): Admission | Limited {
    const { keyIndex, ratePerS } = key;
    const outcome = this.#limits.take(keyIndex, key, nowMs);
    if (outcome === DAILY_EXCEEDED) return limited(key, 'daily', Math.ceil(msToNextDay(nowMs) / 1000));
    if (outcome !== BURST_EXCEEDED) return this.#admission(key, outcome);
    const waitMs = ratePerS === null ? 0 : this.#limits.waitMs(keyIndex, ratePerS, nowMs);
    return limited(key, 'burst', jittered(waitMs / 1000, { random: this.#random }));
  }

  /** Spends further tokens of an admitted request, whether or not they are there: the bucket may go into debt. */
  spend({ key: { keyIndex, ratePerS } }: Admission, tokens: number, nowMs: number): void {
    if (ratePerS !== null) this.#limits.spend(keyIndex, ratePerS, tokens, nowMs);
  }

  /** Gives the day's quota back: call it once when the answer to an admitted request was not a 200. */
  refund({ key, day }: Admission): void {
    this.#limits.refund(key.keyIndex, day);
  }

  #admission(key: KeyEntry, day: number): Admission {
    const known = this.#admissions[key.keyIndex];
    if (known?.key === key && known.day === day) return known;
    const made: Admission = Object.freeze({ outcome: 'admitted', key, day });
    this.#admissions[key.keyIndex] = made;
    return made;
  }
}

/** Headers as draft-ietf-httpapi-ratelimit-headers words them: lists of strings with parameters. */
function limited(key: KeyEntry, limit: Limited['limit'], seconds: number): Limited {
  const retryAfterS = Math.max(1, seconds);
  const state = `"${limit}";r=0;t=${retryAfterS}`;
  return { outcome: 'limited', key, limit, retryAfterS, policy: policiesOf(key), state };
}

/** q: the quota, in requests; w: its window, in seconds. */
function policiesOf({ ratePerS, dailyMax }: KeyEntry): string {
  const policies: string[] = [];
  if (ratePerS !== null) policies.push(`"burst";q=${BURST_S * ratePerS};w=${BURST_S}`);
  if (dailyMax !== null) policies.push(`"daily";q=${dailyMax};w=${DAY_S}`);
  return policies.join(', ');
}
