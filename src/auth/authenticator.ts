/** Finds the record of a key, without any I/O. */
import { LRUCache } from 'lru-cache';
import { digestOf, isWellFormed, KEY_LENGTH, type KeyKind } from './key.js';

/** The part of a key's record that requests need. Plain data, so it can cross threads. */
export interface KeyEntry {
  readonly id: string;
  readonly kind: KeyKind;
  /** First epoch ms at which the key is refused; `Infinity`: never expires, `-Infinity`: revoked. */
  readonly usableUntilMs: number;
  /** The key's index among all keys that this process has known: its place in `Limits` and in every count by key. */
  readonly keyIndex: number;
  readonly ratePerS: number | null;
  readonly dailyMax: number | null;
}

/** Whether the key is accepted at that time; never if its end is no number. */
export function isUsable({ usableUntilMs }: Pick<KeyEntry, 'usableUntilMs'>, nowMs: number): boolean {
  return nowMs < usableUntilMs;
}

export interface IndexedRecord extends KeyEntry {
  /** SHA-256 of the key, base64url. */
  readonly digest: string;
}

export interface AuthenticatorOptions {
  /** Most verified keys kept ready. */
  readonly verifiedMax?: number;
  /** SHA-256 unless a test counts the calls. */
  readonly digest?: (key: string) => Buffer;
}

/** `missing`: no key was sent. `invalid`: malformed, unknown, expired or revoked; the caller does not learn which. */
export type Rejection = 'missing' | 'invalid';

const VERIFIED_MAX = 16_384;

/** Finds the record of a key. One for each event loop; knows no keys until `replace` is called. */
export class Authenticator {
  readonly #digest: (key: string) => Buffer;
  /** By the key in clear. Holds only usable keys, so a flood of invalid ones evicts no caller's key. */
  readonly #verified: LRUCache<string, KeyEntry>;
  /** By digest, which callers can't choose and spreads evenly. */
  #records: ReadonlyMap<string, IndexedRecord> = new Map();

  constructor({ verifiedMax = VERIFIED_MAX, digest = digestOf }: AuthenticatorOptions = {}) {
    this.#digest = digest;
    this.#verified = new LRUCache({ max: verifiedMax });
  }

  /**
   * The record of the key in `X-API-Key` ('' where the header is absent); `nowMs` is wall-clock time. Synchronous and
   * local: no request reads the store.
   */
  identify(key: string, nowMs: number): KeyEntry | Rejection {
    if (key.length === 0) return 'missing';
    // Before the cache, because a look-up reads the whole string.
    if (key.length !== KEY_LENGTH) return 'invalid';
    const known = this.#verified.get(key);
    if (known !== undefined && isUsable(known, nowMs)) return known;
    return this.#verify(key, nowMs);
  }

  /** Sets the keys known from now on. */
  replace(records: readonly IndexedRecord[]): void {
    this.#records = new Map(records.map((record) => [record.digest, record]));
    // A verified key may now be revoked, renewed or have other limits; verifying it again costs one hash.
    this.#verified.clear();
  }

  /** Unknown, expired and revoked keys take the same path, so their timing does not tell them apart. */
  #verify(key: string, nowMs: number): KeyEntry | Rejection {
    if (!isWellFormed(key)) return 'invalid';
    const record = this.#records.get(this.#digest(key).toString('base64url'));
    if (record === undefined || !isUsable(record, nowMs)) {
      this.#verified.delete(key);
      return 'invalid';
    }
    this.#verified.set(key, record);
    return record;
  }
}
