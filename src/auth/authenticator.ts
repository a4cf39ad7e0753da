import { LRUCache } from 'lru-cache';
import { digestOf, isWellFormed, KEY_LENGTH } from './key.js';
import { KeyTable, type IndexedRecord, type KeyEntry } from './keyTable.js';

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
  #table = new KeyTable([]);

  constructor({ verifiedMax = VERIFIED_MAX, digest = digestOf }: AuthenticatorOptions = {}) {
    this.#digest = digest;
    this.#verified = new LRUCache({ max: verifiedMax });
  }

  /** How many keys are known, usable or not. */
  get keyCount(): number {
    return this.#table.size;
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
    if (known !== undefined && nowMs < known.usableUntilMs) return known;
    return this.#verify(key, nowMs);
  }

  /** Sets the keys known from now on. */
  replace(records: readonly IndexedRecord[]): void {
    this.#table = new KeyTable(records);
    // A verified key may now be revoked, renewed or have other limits; verifying it again costs one hash.
    this.#verified.clear();
  }

  /** Unknown, expired and revoked keys take the same path, so their timing does not tell them apart. */
  #verify(key: string, nowMs: number): KeyEntry | Rejection {
    if (!isWellFormed(key)) return 'invalid';
    const row = this.#table.find(this.#digest(key));
    if (!this.#table.isUsable(row, nowMs)) {
      this.#verified.delete(key);
      return 'invalid';
    }
    const entry = this.#table.entry(row);
    this.#verified.set(key, entry);
    return entry;
  }
}
