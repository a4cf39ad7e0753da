import type { Clock } from '../base/clock.js';
import { asError } from '../base/errors.js';
import { Observer } from '../base/observer.js';
import type { Repeat } from '../base/repeat.js';
import type { IndexedRecord } from './keyTable.js';
import { usableUntilMs } from './lifecycle.js';
import type { Limits } from './limits.js';
import type { Ledger, LedgerParts } from './ledger.js';
import { EmptyStoreError, KeyStoreError, type KeyRecord, type KeyStore, type StoredKeys } from './store.js';

export interface KeyringOptions {
  readonly store: KeyStore;
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

export interface Keyring {
  /** For authenticators made later, for instance in a replaced thread. */
  readonly records: readonly IndexedRecord[];
  /** Time since the store was last read successfully, in ms. */
  readonly ageMs: number;
  /** Whether `ageMs` exceeds the time that keys stay valid. */
  readonly isStale: boolean;
  /** Whether fleet-wide limits hold for this replica alone at the moment. */
  readonly isLocal: boolean;
  /** How many keys this process saw revoked while the store holds them as valid. */
  readonly revocationsLost: number;
  /** How many records of the store this version can't read: their keys are refused. */
  readonly unreadable: number;
  /** Whether the shared store came back without its keys: those seen last stay in force. */
  readonly isStoreEmpty: boolean;
  /** Whether the store holds a key that is usable now. */
  readonly hasUsable: boolean;
  /** Stops watching and writes the daily counts one last time. */
  close(): Promise<void>;
}

/** Owns the store, the keyIndexes and the daily counts of this process. Rejects if the store can't be read. */
export async function openKeyring(options: KeyringOptions): Promise<Keyring> {
  const keyring = new WatchingKeyring(options);
  await keyring.open();
  return keyring;
}

class WatchingKeyring implements Keyring {
  readonly #options: KeyringOptions;
  /** Key id → keyIndex. A keyIndex is never reused, so a late refund can't reach another key. */
  readonly #keyIndexes = new Map<string, number>();
  /** By keyIndex. */
  readonly #byIndex: IndexedRecord[] = [];
  readonly #ledger: Ledger;
  /** Ids of keys once seen as revoked. */
  readonly #revoked = new Set<string>();
  /** Those of them already reported as valid in the store. */
  readonly #reported = new Set<string>();
  #revocationsLost = 0;
  #unreadable: readonly string[] = [];
  #isStoreEmpty = false;
  #records: readonly IndexedRecord[] = [];
  #seenMs: number;
  #isStale = false;
  #stopWatching: () => void = () => undefined;
  #saving: Observer | undefined;

  constructor(options: KeyringOptions) {
    this.#options = options;
    const { limits, clock, ledger } = options;
    const keys = { at: (keyIndex: number) => this.#byIndex[keyIndex], all: () => this.#byIndex };
    this.#ledger = ledger({ memory: limits.memory, clock, keys });
    this.#seenMs = clock.monotonicMs();
  }

  get records(): readonly IndexedRecord[] {
    return this.#isStale ? [] : this.#records;
  }

  get ageMs(): number {
    return this.#options.clock.monotonicMs() - this.#seenMs;
  }

  get isStale(): boolean {
    return this.#isStale;
  }

  get isLocal(): boolean {
    return this.#ledger.isLocal;
  }

  get revocationsLost(): number {
    return this.#revocationsLost;
  }

  get unreadable(): number {
    return this.#unreadable.length;
  }

  get isStoreEmpty(): boolean {
    return this.#isStoreEmpty;
  }

  get hasUsable(): boolean {
    const nowMs = this.#options.clock.nowMs();
    return this.#records.some((record) => record.usableUntilMs > nowMs);
  }

  async open(): Promise<void> {
    const { store } = this.#options;
    this.#take(await store.read());
    this.#seen();
    await this.#ledger.restore();
    const onProblem = (error: Error): void => this.#options.onProblem(error);
    this.#stopWatching = store.watch({
      onChange: (keys) => this.#take(keys),
      onSeen: () => this.#seen(),
      onProblem: (error) => {
        this.#isStoreEmpty = error instanceof EmptyStoreError;
        onProblem(error);
      },
    });
    this.#saving = new Observer(
      { look: () => this.#save(), onProblem },
      this.#ledger.everyMs,
      this.#options.repeat,
    );
  }

  async close(): Promise<void> {
    this.#stopWatching();
    this.#saving?.stop();
    try {
      await this.#ledger.close();
    } catch (error) {
      this.#options.onProblem(asError(error));
    }
  }

  #save(): Promise<void> {
    const { staleMs = Infinity, onProblem, onRecords } = this.#options;
    if (!this.#isStale && this.ageMs > staleMs) {
      this.#isStale = true;
      onProblem(new KeyStoreError('the key store was out of reach for too long: no key counts any more'));
      onRecords([]);
    }
    return this.#ledger.save();
  }

  #seen(): void {
    this.#seenMs = this.#options.clock.monotonicMs();
    this.#isStoreEmpty = false;
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#options.onRecords(this.#records);
  }

  #take({ records, unreadable }: StoredKeys): void {
    for (const name of unreadable)
      if (!this.#unreadable.includes(name)) this.#options.onProblem(recordUnreadable(name));
    this.#unreadable = unreadable;
    this.#publish(this.#indexed(records));
  }

  #publish(records: readonly IndexedRecord[]): void {
    this.#records = records;
    for (const record of records) this.#byIndex[record.keyIndex] = record;
    if (!this.#isStale) this.#options.onRecords(records);
  }

  #indexed(records: readonly KeyRecord[]): readonly IndexedRecord[] {
    this.#revocationsLost = 0;
    return records.map((record) => {
      const { id, kind, digest, ratePerS, dailyMax } = record;
      const keyIndex = this.#indexOf(id);
      return { id, kind, digest, usableUntilMs: this.#usableUntilMs(record), keyIndex, ratePerS, dailyMax };
    });
  }

  #usableUntilMs(record: KeyRecord): number {
    if (record.revokedAt !== null) this.#revoked.add(record.id);
    else if (this.#options.keepsRevoked === true && this.#revoked.has(record.id))
      return this.#contradicted(record.id);
    return usableUntilMs(record);
  }

  #contradicted(id: string): number {
    this.#revocationsLost++;
    if (!this.#reported.has(id)) this.#options.onProblem(revocationLost(id));
    this.#reported.add(id);
    return -Infinity;
  }

  #indexOf(id: string): number {
    const known = this.#keyIndexes.get(id);
    if (known !== undefined) return known;
    const keyIndex = this.#keyIndexes.size;
    if (keyIndex >= this.#options.limits.keysMax)
      throw new KeyStoreError(`no room for more than ${keyIndex} keys`);
    this.#keyIndexes.set(id, keyIndex);
    return keyIndex;
  }
}

function revocationLost(id: string): KeyStoreError {
  return new KeyStoreError(
    `the key store has lost the revocation of ${id}: the key stays revoked here until this process ends, revoke it again`,
  );
}

function recordUnreadable(name: string): KeyStoreError {
  return new KeyStoreError(
    `the record ${JSON.stringify(name)} in the key store can't be read by this version: its key is refused, all others count`,
  );
}
