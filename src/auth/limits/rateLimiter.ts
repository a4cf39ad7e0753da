/** Charges requests to the limits of their keys, and words the refusals. */
import type { KeyEntry } from '../authenticator.js';
import { jittered } from '../../base/jitter.js';
import { msToNextDay } from '../../base/days.js';
import { DAILY_EXCEEDED, SHARE_EXCEEDED } from './dayQuotas.js';
import type { Limits } from './limits.js';
import { BURST_S } from './tokenBuckets.js';

/** Frozen: may be kept until the request is answered. */
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
  /** Value of `Retry-After`: at least 1. For a burst at most 30, drawn at random for each answer. */
  readonly retryAfterS: number;
  /** Value of `RateLimit-Policy`. */
  readonly policy: string;
  /** Value of `RateLimit`. */
  readonly state: string;
}

const DAY_S = 86_400;

/** Charges requests to their keys. One for each event loop; all share `limits`. */
export class RateLimiter {
  readonly #limits: Limits;
  readonly #random: () => number;
  /** The usual verdict for each key, by keyIndex: made once a day, not once a request. */
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
   * Charges a request one token, and counts it against the day's quota (without a quota, only for `acuity keys
   * usage`). Synchronous and local; `nowMs` is wall-clock time.
   */
  admit(key: KeyEntry, nowMs: number): Admission | Limited {
    const { keyIndex } = key;
    const outcome = this.#limits.take(keyIndex, key, nowMs);
    return outcome >= 0 ? this.#admission(key, outcome) : this.#refusal(key, outcome, 1, nowMs);
  }

  /**
   * Charges an admitted request that turned out to be a list: `tokens` beyond those that it has paid of `inAll`, and
   * `count` more of the day's quota; all or nothing. The day on which those count may be another.
   */
  admitMore(
    { key }: Admission,
    { tokens, inAll, count }: { readonly tokens: number; readonly inAll: number; readonly count: number },
    nowMs: number,
  ): Admission | Limited {
    const outcome = this.#limits.takeMore(key.keyIndex, key, { tokens, count }, nowMs);
    return outcome >= 0 ? this.#admission(key, outcome) : this.#refusal(key, outcome, inAll, nowMs);
  }

  /** `tokens`: what the request will need when it comes again. */
  #refusal(key: KeyEntry, outcome: number, tokens: number, nowMs: number): Limited {
    const { keyIndex, ratePerS } = key;
    // Not "tomorrow" while the fleet may have some left: the store says how many with its next answer.
    if (outcome === SHARE_EXCEEDED) return limited(key, 'daily', 0, 1);
    if (outcome === DAILY_EXCEEDED || ratePerS === null)
      return limited(key, 'daily', 0, Math.ceil(msToNextDay(nowMs) / 1000));
    const left = this.#limits.tokensLeft(keyIndex, ratePerS, nowMs);
    const waitS = Math.max(0, (tokens - left) / ratePerS);
    return limited(key, 'burst', Math.max(0, Math.floor(left)), jittered(waitS, { random: this.#random }));
  }

  /** How many more predictions than those admitted the key may have today; Infinity without a quota. */
  leftOfDay({ key: { keyIndex, dailyMax } }: Admission, nowMs: number): number {
    return this.#limits.leftOfDay(keyIndex, dailyMax, nowMs);
  }

  /** Spends further tokens of an admitted request, even if the bucket holds fewer: it may go into debt. */
  spend({ key: { keyIndex, ratePerS } }: Admission, tokens: number, nowMs: number): void {
    if (ratePerS !== null) this.#limits.spend(keyIndex, ratePerS, tokens, nowMs);
  }

  /** Returns `count` to the day's quota: one for each admitted request, or line, that was not answered with 200. */
  refund({ key, day }: Admission, count = 1): void {
    this.#limits.refund(key.keyIndex, day, count);
  }

  #admission(key: KeyEntry, day: number): Admission {
    const known = this.#admissions[key.keyIndex];
    if (known?.key === key && known.day === day) return known;
    const made: Admission = Object.freeze({ outcome: 'admitted', key, day });
    this.#admissions[key.keyIndex] = made;
    return made;
  }
}

/** The most tokens that a key's bucket ever holds. */
export function bucketOf({ ratePerS }: KeyEntry): number {
  return ratePerS === null ? Infinity : BURST_S * ratePerS;
}

/** Headers of draft-ietf-httpapi-ratelimit-headers: lists of strings with parameters. */
function limited(key: KeyEntry, limit: Limited['limit'], left: number, seconds: number): Limited {
  const retryAfterS = Math.max(1, seconds);
  const state = `"${limit}";r=${left};t=${retryAfterS}`;
  return { outcome: 'limited', key, limit, retryAfterS, policy: policiesOf(key), state };
}

/** q: the quota, in requests; w: its window, in seconds. */
function policiesOf({ ratePerS, dailyMax }: KeyEntry): string {
  const policies: string[] = [];
  if (ratePerS !== null) policies.push(`"burst";q=${BURST_S * ratePerS};w=${BURST_S}`);
  if (dailyMax !== null) policies.push(`"daily";q=${dailyMax};w=${DAY_S}`);
  return policies.join(', ');
}
