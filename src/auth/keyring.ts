import type { Clock } from '../base/clock.js';
import type { IndexedRecord } from './keyTable.js';
import { usableUntilMs } from './lifecycle.js';
import type { Limits } from './limits.js';
import { KeyStoreError, type KeyRecord, type KeyStore, type UsageStore } from './store.js';
import { Usage } from './usage.js';

export interface KeyringOptions {
  readonly store: KeyStore;
  readonly usage: UsageStore;
  readonly limits: Limits;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Called with the first records before `openKeyring` resolves, then after each change: feed the gates. */
  onRecords(records: readonly IndexedRecord[]): void;
  /** The store or the usage file failed on a running server, which goes on with what it has. */
  onProblem(error: Error): void;
}

export interface Keyring {
  /** For gates that are made later, as in a replaced thread. */
  readonly records: readonly IndexedRecord[];
  /** Stops watching and writes the daily counts a last time. */
  close(): Promise<void>;
}

const SAVE_MS = 1000;

/** Owns the store, the keyIndexes and the daily counts of this process. Rejects where the store can't be read. */
export async function openKeyring(options: KeyringOptions): Promise<Keyring> {
  const keyring = new WatchingKeyring(options);
  await keyring.open();
  return keyring;
}

class WatchingKeyring implements Keyring {
  readonly #options: KeyringOptions;
  /** Key id → keyIndex. A keyIndex is never given to another key: a late refund can't reach the wrong one. */
  readonly #keyIndexes = new Map<string, number>();
  readonly #usage: Usage;
  #records: readonly IndexedRecord[] = [];
  #stopWatching: () => void = () => undefined;
  #saveTimer: NodeJS.Timeout | undefined;
  #problem: string | undefined;

  constructor(options: KeyringOptions) {
    this.#options = options;
    const { usage: store, limits, clock } = options;
    this.#usage = new Usage({ store, limits, clock, keyIndexes: this.#keyIndexes });
  }

  get records(): readonly IndexedRecord[] {
    return this.#records;
  }

  async open(): Promise<void> {
    const { store } = this.#options;
    const records = this.#indexed(await store.list());
    await this.#usage.restore();
    this.#publish(records);
    this.#stopWatching = store.watch({
      onChange: (changed) => this.#publish(this.#indexed(changed)),
      onProblem: (error) => this.#options.onProblem(error),
    });
    this.#saveTimer = setInterval(() => void this.#save(), SAVE_MS).unref();
  }

  async close(): Promise<void> {
    this.#stopWatching();
    clearInterval(this.#saveTimer);
    await this.#save();
    // The first may have joined a write that began before the last answer.
    await this.#save();
  }

  #publish(records: readonly IndexedRecord[]): void {
    this.#records = records;
    this.#options.onRecords(records);
  }

  #indexed(records: readonly KeyRecord[]): readonly IndexedRecord[] {
    return records.map((record) => {
      const { id, kind, digest, ratePerS, dailyMax } = record;
      const keyIndex = this.#indexOf(id);
      return { id, kind, digest, usableUntilMs: usableUntilMs(record), keyIndex, ratePerS, dailyMax };
    });
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

  /** Tells a lasting problem once, not every second. */
  async #save(): Promise<void> {
    try {
      await this.#usage.save();
      this.#problem = undefined;
    } catch (error) {
      const problem = error instanceof Error ? error : new Error(String(error));
      if (problem.message !== this.#problem) this.#options.onProblem(problem);
      this.#problem = problem.message;
    }
  }
}
