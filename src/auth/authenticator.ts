import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.js';
import { digestOf, isWellFormed, KEY_LENGTH } from './key.js';
import { KeyTable, type KeyEntry, type IndexedRecord } from './keyTable.js';
import { BURST_EXCEEDED, BURST_S, DAILY_EXCEEDED, msToNextDay, type Limits } from './limits.js';
import type { KeyKind } from './store.js';

/** Frozen: may be kept until the answer is known. */
export interface Admission {
  readonly outcome: 'admitted';
  readonly id: string;
  readonly kind: KeyKind;
  readonly keyIndex: number;
  /** The UTC day whose quota the request counts against. */
  readonly day: number;
  /** Tokens a second; `null`: the key has no rate limit. */
  readonly ratePerS: number | null;
}

export interface Limited {
  readonly outcome: 'limited';
  readonly id: string;
  readonly kind: KeyKind;
  /** Which of the two limits was reached. */
  readonly limit: 'burst' | 'daily';
  /** Value of `Retry-After`: at least 1. */
  readonly retryAfterS: number;
  /** Value of `RateLimit-Policy`. */
  readonly policy: string;
  /** Value of `RateLimit`. */
  readonly state: string;
}

export interface Missing {
  readonly outcome: 'missing';
}

/** Malformed, unknown, expired or revoked: the caller is not told which. */
export interface Invalid {
  readonly outcome: 'invalid';
}

export type Verdict = Admission | Limited | Missing | Invalid;

export interface Gate {
  /**
   * Judges the value of `X-API-Key` ('' where the header is absent). Synchronous and local. An admitted
   * request has been charged: one token, and one of the day's quota.
   */
  check(key: string): Verdict;
  /** Spends further tokens of an admitted request, whether or not they are there: the bucket may go into debt. */
  spend(admission: Admission, tokens: number): void;
  /** Gives the day's quota back: call it once when the answer to an admitted request was not a 200. */
  refund(admission: Admission): void;
  /** Sets the keys known from now on. */
  replace(records: readonly IndexedRecord[]): void;
  /** How many keys are known, usable or not. */
  readonly entryCount: number;
}

export interface GateOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly limits: Limits;
  /** Most verified keys kept ready. */
  readonly verifiedMax?: number;
  /** SHA-256 unless a test counts the calls. */
  readonly digest?: (key: string) => Buffer;
}

/** A usable key that was sent at least once, with the verdict that it usually gets. */
interface VerifiedKey {
  readonly entry: KeyEntry;
  admission: Admission;
}

/** The day of a request that counts against no quota: 1970-01-01 can't come again. */
const NO_DAY = 0;
const VERIFIED_MAX = 16_384;
const DAY_S = 86_400;
const MISSING: Missing = Object.freeze({ outcome: 'missing' });
const INVALID: Invalid = Object.freeze({ outcome: 'invalid' });

/** A gate that knows no key until `replace` is called. One for each event loop; `limits` is shared. */
export function createGate(options: GateOptions): Gate {
  return new CachingGate(options);
}

class CachingGate implements Gate {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #limits: Limits;
  readonly #digest: (key: string) => Buffer;
  /** By the key in clear. Only usable keys get in, so no flood of junk pushes a caller's key out. */
  readonly #verified: LRUCache<string, VerifiedKey>;
  #table = new KeyTable([]);

  constructor({ clock, limits, verifiedMax = VERIFIED_MAX, digest = digestOf }: GateOptions) {
    this.#clock = clock;
    this.#limits = limits;
    this.#digest = digest;
    this.#verified = new LRUCache({ max: verifiedMax });
  }

  get entryCount(): number {
    return this.#table.size;
  }

  check(key: string): Verdict {
    if (key.length === 0) return MISSING;
    // Before the cache: looking a string up reads all of it.
    if (key.length !== KEY_LENGTH) return INVALID;
    const nowMs = this.#clock.nowMs();
    const known = this.#verified.get(key);
    if (known !== undefined && nowMs < known.entry.usableUntilMs) return this.#charge(known, nowMs);
    const verified = this.#verify(key, nowMs);
    return verified === undefined ? INVALID : this.#charge(verified, nowMs);
  }

  spend({ keyIndex, ratePerS }: Admission, tokens: number): void {
    if (ratePerS !== null) this.#limits.spend(keyIndex, ratePerS, tokens, this.#clock.nowMs());
  }

  refund({ keyIndex, day }: Admission): void {
    if (day !== NO_DAY) this.#limits.refund(keyIndex, day);
  }

  replace(records: readonly IndexedRecord[]): void {
    this.#table = new KeyTable(records);
    // What was verified may be revoked, renewed or limited otherwise now; verifying again costs one hash.
    this.#verified.clear();
  }

  /** Unknown, expired and revoked keys take the same path: none is told from another by its timing. */
  #verify(key: string, nowMs: number): VerifiedKey | undefined {
    if (!isWellFormed(key)) return undefined;
    const row = this.#table.find(this.#digest(key));
    if (!this.#table.isUsable(row, nowMs)) {
      this.#verified.delete(key);
      return undefined;
    }
    const entry = this.#table.entry(row);
    const verified = { entry, admission: admissionOf(entry, NO_DAY) };
    this.#verified.set(key, verified);
    return verified;
  }

  #charge(verified: VerifiedKey, nowMs: number): Admission | Limited {
    const { entry, admission } = verified;
    if (entry.ratePerS === null && entry.dailyMax === null) return admission;
    const outcome = this.#limits.take(entry.keyIndex, entry, nowMs);
    if (outcome === admission.day) return admission;
    if (outcome === BURST_EXCEEDED) return this.#burstExceeded(entry, nowMs);
    if (outcome === DAILY_EXCEEDED) return dailyExceeded(entry, nowMs);
    return (verified.admission = admissionOf(entry, outcome));
  }

  #burstExceeded(entry: KeyEntry, nowMs: number): Limited {
    const waitMs = entry.ratePerS === null ? 0 : this.#limits.waitMs(entry.keyIndex, entry.ratePerS, nowMs);
    return limited(entry, 'burst', waitMs);
  }
}

function admissionOf({ id, kind, keyIndex, ratePerS }: KeyEntry, day: number): Admission {
  return Object.freeze({ outcome: 'admitted', id, kind, keyIndex, day, ratePerS });
}

function dailyExceeded(entry: KeyEntry, nowMs: number): Limited {
  return limited(entry, 'daily', msToNextDay(nowMs));
}

/** Headers as draft-ietf-httpapi-ratelimit-headers words them: lists of strings with parameters. */
function limited(entry: KeyEntry, limit: Limited['limit'], waitMs: number): Limited {
  const { id, kind } = entry;
  const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000));
  const state = `"${limit}";r=0;t=${retryAfterS}`;
  return { outcome: 'limited', id, kind, limit, retryAfterS, policy: policiesOf(entry), state };
}

/** q: the quota, in requests; w: its window, in seconds. */
function policiesOf({ ratePerS, dailyMax }: KeyEntry): string {
  const policies: string[] = [];
  if (ratePerS !== null) policies.push(`"burst";q=${BURST_S * ratePerS};w=${BURST_S}`);
  if (dailyMax !== null) policies.push(`"daily";q=${dailyMax};w=${DAY_S}`);
  return policies.join(', ');
}
