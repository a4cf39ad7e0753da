import type { Clock } from '../base/clock.js';
import type { SlottedRecord } from './keyTable.js';
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
  onRecords(records: readonly SlottedRecord[]): void;
  /** The store or the usage file failed on a running server, which goes on with what it has. */
  onProblem(error: Error): void;
}

export interface Keyring {
  /** For gates that are made later, as in a replaced thread. */
  readonly records: readonly SlottedRecord[];
  /** Stops watching and writes the daily counts a last time. */
  close(): Promise<void>;
}

const SAVE_MS = 1000;

/** Owns the store, the slots and the daily counts of this process. Rejects where the store can't be read. */
export async function openKeyring(options: KeyringOptions): Promise<Keyring> {
  const keyring = new WatchingKeyring(options);
  await keyring.open();
  return keyring;
}

class WatchingKeyring implements Keyring {
  readonly #options: KeyringOptions;
  /** Key id → slot. A slot is never given to another key: a late refund can't reach the wrong one. */
  readonly #slots = new Map<string, number>();
  readonly #usage: Usage;
  #records: readonly SlottedRecord[] = [];
  #stopWatching: () => void = () => undefined;
  #saveTimer: NodeJS.Timeout | undefined;
  #problem: string | undefined;

  constructor(options: KeyringOptions) {
    this.#options = options;
    const { usage: store, limits, clock } = options;
    this.#usage = new Usage({ store, limits, clock, slots: this.#slots });
  }

  get records(): readonly SlottedRecord[] {
    return this.#records;
  }

  async open(): Promise<void> {
    const { store } = this.#options;
    const records = this.#slotted(await store.list());
    await this.#usage.restore();
    this.#publish(records);
    this.#stopWatching = store.watch({
      onChange: (changed) => this.#publish(this.#slotted(changed)),
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

  #publish(records: readonly SlottedRecord[]): void {
    this.#records = records;
    this.#options.onRecords(records);
  }

  #slotted(records: readonly KeyRecord[]): readonly SlottedRecord[] {
    return records.map((record) => {
      const { id, kind, digest, ratePerS, dailyMax } = record;
      const slot = this.#slotOf(id);
      return { id, kind, digest, usableUntilMs: usableUntilMs(record), slot, ratePerS, dailyMax };
    });
  }

  #slotOf(id: string): number {
    const known = this.#slots.get(id);
    if (known !== undefined) return known;
    const slot = this.#slots.size;
    if (slot >= this.#options.limits.slotsMax) throw new KeyStoreError(`no room for more than ${slot} keys`);
    this.#slots.set(id, slot);
    return slot;
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
