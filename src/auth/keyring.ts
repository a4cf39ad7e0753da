/** The keys of this process as its store has them, with their keyIndexes and counts. */
import type { Clock } from '../base/clock.js';
import { asError } from '../base/errors.js';
import { Observer, type Repeat } from '../base/observer.js';
import { isUsable, type IndexedRecord } from './authenticator.js';
import { usableUntilMs } from './lifecycle.js';
import type { Limits } from './limits/limits.js';
import { EmptyStoreError, KeyStoreError, ReadOnlyStoreError, type KeyRecord } from './record.js';
import type { KeyStore, Ledger, LedgerParts, StoredKeys } from './store.js';

export interface KeyringOptions {
  readonly store: Pick<KeyStore, 'read' | 'watch'>;
  readonly ledger: (parts: LedgerParts) => Ledger;
  readonly limits: Limits;
  readonly clock: Clock;
  /** After so long without reading the store, no key is valid any more. Absent: keys stay valid for ever. */
  readonly staleMs?: number;
  /** Whether a key once seen as revoked stays revoked: a shared store may come back without its last writes. */
  readonly keepsRevoked?: boolean;
  readonly repeat?: Repeat;
  /**
   * Called with the first records before `openKeyring` resolves, then after each change: pass them to the
   * authenticators.
   */
  onRecords(records: readonly IndexedRecord[]): void;
  /** The store or the ledger failed while the server runs; it goes on with the keys it has. */
  onProblem(error: Error): void;
}

/** Owns the store, the keyIndexes and the daily counts of this process. Rejects if the store can't be read. */
export async function openKeyring(options: KeyringOptions): Promise<Keyring> {
  const keyring = new Keyring(options);
  await keyring.open();
  return keyring;
}

export class Keyring {
  /** How many keys this process saw revoked while the store holds them as valid. */
  revocationsLost = 0;
  /** How many records of the store this version can't read: their keys are refused. */
  unreadable = 0;
  /** Whether the shared store came back without its keys: those seen last stay in force. */
  isStoreEmpty = false;
  /** Whether the ledger has taken over: a start at a store that takes no writes waits for it, and is not ready. */
  isCounting = false;
  /** Whether `ageMs` exceeds the time that keys stay valid. */
  isStale = false;
  readonly #options: KeyringOptions;
  /** Key id → keyIndex. A keyIndex is never reused, so a late refund can't reach another key. */
  readonly #keyIndexes = new Map<string, number>();
  /** By keyIndex. */
  readonly #byIndex: IndexedRecord[] = [];
  readonly #ledger: Ledger;
  /** Ids of keys once seen as revoked. */
  readonly #revoked = new Set<string>();
  /** Problems of single records that were reported already. */
  readonly #reported = new Set<string>();
  #records: readonly IndexedRecord[] = [];
  #seenMs: number;
  #stopWatching: () => void = () => undefined;
  #saving: Observer | undefined;

  constructor(options: KeyringOptions) {
    this.#options = options;
    const { limits, clock, ledger } = options;
    this.#ledger = ledger({ limits, clock, keys: this.#byIndex });
    this.#seenMs = clock.monotonicMs();
  }

  /** For authenticators made later, for instance in a replaced thread. */
  get records(): readonly IndexedRecord[] {
    return this.isStale ? [] : this.#records;
  }

  /** Time since the store was last read successfully, in ms. */
  get ageMs(): number {
    return this.#options.clock.monotonicMs() - this.#seenMs;
  }

  /** Whether fleet-wide limits hold for this replica alone at the moment. */
  get isLocal(): boolean {
    return this.#ledger.isLocal;
  }

  /** Whether the store holds a key that is usable now. */
  get hasUsable(): boolean {
    const nowMs = this.#options.clock.nowMs();
    return this.#records.some((record) => isUsable(record, nowMs));
  }

  async open(): Promise<void> {
    const { store, repeat } = this.#options;
    if (this.#take(await store.read()) > 0)
      throw new KeyStoreError(`no room for more than ${this.#options.limits.keysMax} keys`);
    this.#seen();
    try {
      const warning = await this.#ledger.restore();
      if (warning !== undefined) this.#reportOnce(warning);
      this.isCounting = true;
    } catch (error) {
      if (!(error instanceof ReadOnlyStoreError)) throw error; // else each save tries, and tells
    }
    const onProblem = (error: Error): void => this.#options.onProblem(error);
    this.#stopWatching = store.watch({
      onChange: (keys) => void this.#take(keys),
      onSeen: () => this.#seen(),
      onProblem: (error) => {
        this.isStoreEmpty = error instanceof EmptyStoreError;
        onProblem(error);
      },
    });
    this.#saving = new Observer({ look: () => this.#save(), onProblem }, this.#ledger.everyMs, repeat);
  }

  /** Stops watching and writes the daily counts one last time. */
  async close(): Promise<void> {
    this.#stopWatching();
    this.#saving?.stop();
    try {
      await this.#ledger.close();
    } catch (error) {
      this.#options.onProblem(asError(error));
    }
  }

  async #save(): Promise<void> {
    const { staleMs = Infinity, onProblem, onRecords } = this.#options;
    if (!this.isStale && this.ageMs > staleMs) {
      this.isStale = true;
      onProblem(new KeyStoreError('the key store was out of reach for too long: no key counts any more'));
      onRecords([]);
    }
    await this.#ledger.save();
    this.isCounting = true;
  }

  #seen(): void {
    this.#seenMs = this.#options.clock.monotonicMs();
    this.isStoreEmpty = false;
    if (!this.isStale) return;
    this.isStale = false;
    this.#options.onRecords(this.#records);
  }

  /** Returns how many keys there is no room for: they are refused, and all others are as the store has them. */
  #take({ records, unreadable }: StoredKeys): number {
    for (const name of unreadable)
      this.#reportOnce(
        `the record ${JSON.stringify(name)} in the key store can't be read by this version: its key is refused, all others count`,
      );
    this.unreadable = unreadable.length;
    this.revocationsLost = 0;
    this.#records = records.flatMap((record) => this.#indexed(record) ?? []);
    for (const record of this.#records) this.#byIndex[record.keyIndex] = record;
    const without = records.length - this.#records.length;
    if (without > 0)
      this.#reportOnce(
        `no room for more than ${this.#options.limits.keysMax} keys, those of the past included: new ones are refused, all others count; restart this process`,
      );
    if (!this.isStale) this.#options.onRecords(this.#records);
    return without;
  }

  #indexed(record: KeyRecord): IndexedRecord | undefined {
    const { id, kind, digest, ratePerS, dailyMax } = record;
    const keyIndex = this.#indexOf(id);
    if (keyIndex === undefined) return undefined;
    return { id, kind, digest, usableUntilMs: this.#usableUntilMs(record), keyIndex, ratePerS, dailyMax };
  }

  #usableUntilMs(record: KeyRecord): number {
    if (record.revokedAt !== null) this.#revoked.add(record.id);
    else if (this.#options.keepsRevoked === true && this.#revoked.has(record.id)) {
      this.revocationsLost++;
      this.#reportOnce(
        `the key store has lost the revocation of ${record.id}: the key stays revoked here until this process ends, revoke it again`,
      );
      return -Infinity;
    }
    return usableUntilMs(record);
  }

  #reportOnce(problem: string): void {
    if (this.#reported.has(problem)) return;
    this.#reported.add(problem);
    this.#options.onProblem(new KeyStoreError(problem));
  }

  /** Undefined if there is no room for another key. */
  #indexOf(id: string): number | undefined {
    const known = this.#keyIndexes.get(id);
    if (known !== undefined) return known;
    const keyIndex = this.#keyIndexes.size;
    if (keyIndex >= this.#options.limits.keysMax) return undefined;
    this.#keyIndexes.set(id, keyIndex);
    return keyIndex;
  }
}
