import type { Clock } from '../base/clock.js';
import type { Limits } from './limits.js';
import type { KeyKind } from './store.js';

/** What the gate knows of a key. Plain data: crosses threads. */
export interface SlottedRecord {
  readonly id: string;
  readonly kind: KeyKind;
  /** SHA-256 of the key, base64url. */
  readonly digest: string;
  /** First epoch ms at which the key is refused; `Infinity`: never expires, `-Infinity`: revoked. */
  readonly usableUntilMs: number;
  /** The key's place in `Limits`; -1 where it has no limit at all. */
  readonly slot: number;
  readonly ratePerS: number | null;
  readonly dailyMax: number | null;
}

/** Frozen: may be kept until the answer is known. */
export interface Admission {
  readonly outcome: 'admitted';
  readonly id: string;
  readonly kind: KeyKind;
  readonly slot: number;
  /** The UTC day whose quota the request counts against. */
  readonly day: number;
}

export interface Limited {
  readonly outcome: 'limited';
  readonly id: string;
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
  /** Gives the day's quota back: call it once when the answer to an admitted request was not a 200. */
  refund(admission: Admission): void;
  /** Sets the keys known from now on. */
  replace(records: readonly SlottedRecord[]): void;
  /** How many keys are known, usable or not. */
  readonly entryCount: number;
}

export interface GateOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly limits: Limits;
  /** Most verified keys kept ready. */
  readonly verifiedMax?: number;
}

/** A gate that knows no key until `replace` is called. One for each event loop; `limits` is shared. */
export function createGate(_options: GateOptions): Gate {
  throw new Error('not written yet');
}
