import { LRUCache } from 'lru-cache';
import { digestOf, isWellFormed, KEY_LENGTH } from './key.js';
import { KeyTable, type IndexedRecord, type KeyEntry } from './keyTable.js';

export interface AuthenticatorOptions {
  /** Most verified keys kept ready. */
  readonly verifiedMax?: number;
  /** SHA-256 unless a test counts the calls. */
  readonly digest?: (key: string) => Buffer;
}

/** `missing`: none was sent. `invalid`: malformed, unknown, expired or revoked; the caller is not told which. */
export type Rejection = 'missing' | 'invalid';

const VERIFIED_MAX = 16_384;

/** Knows whose key it is. One for each event loop; knows none until `replace` is called. */
export class Authenticator {
  readonly #digest: (key: string) => Buffer;
  /** By the key in clear. Only usable keys get in, so no flood of junk pushes a caller's key out. */
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
   * Whose key the value of `X-API-Key` is ('' where the header is absent); `nowMs` is the wall clock's. Synchronous
   * and local: no request causes a look at the store.
   */
  identify(key: string, nowMs: number): KeyEntry | Rejection {
    if (key.length === 0) return 'missing';
    // Before the cache: looking a string up reads all of it.
    if (key.length !== KEY_LENGTH) return 'invalid';
    const known = this.#verified.get(key);
    if (known !== undefined && nowMs < known.usableUntilMs) return known;
    return this.#verify(key, nowMs);
  }

  /** Sets the keys known from now on. */
  replace(records: readonly IndexedRecord[]): void {
    this.#table = new KeyTable(records);
    // What was verified may be revoked, renewed or limited otherwise now; verifying again costs one hash.
    this.#verified.clear();
  }

  /** Unknown, expired and revoked keys take the same path: none is told from another by its timing. */
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
