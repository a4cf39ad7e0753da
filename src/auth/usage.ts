import type { Ledger, LedgerParts } from './ledger.js';
import { dayOf } from './limits.js';
import type { UsageStore } from './store.js';
import { Tallies } from './tallies.js';

/** For reading counts, which need no limits. */
const UNLIMITED = { ratePerS: null };

interface DailyCounts {
  readonly day: number;
  readonly used: ReadonlyMap<string, number>;
}

export interface UsageOptions extends LedgerParts {
  readonly store: UsageStore;
}

/** Keeps the daily counts over a restart. Requests in flight at a crash count as used. */
export class Usage implements Ledger {
  readonly everyMs = 1000;
  readonly isLocal = false;
  readonly #options: UsageOptions;
  readonly #tallies: Tallies;
  #day: number;
  /** Key id → predictions of that day. */
  #used = new Map<string, number>();
  /** The day counted before: its counts go on where the clock was ahead and is set back. */
  #before: DailyCounts | undefined;
  #isSaved = true;
  /** Past days whose counts are not written yet. */
  readonly #over: DailyCounts[] = [];
  #saving: Promise<void> | undefined;

  constructor(options: UsageOptions) {
    this.#options = options;
    this.#tallies = new Tallies(options.memory);
    this.#day = dayOf(options.clock.nowMs());
  }

  /** Restores what an earlier server counted today, else last: the clock may be wrong only now. */
  async restore(): Promise<void> {
    const { store, keys } = this.#options;
    const saved = await store.read(this.#day);
    if (saved === undefined) return;
    this.#day = saved.day;
    this.#used = new Map(Object.entries(saved.used));
    for (const { id, keyIndex } of keys.all()) {
      const used = saved.used[id];
      if (used !== undefined) this.#tallies.restore(keyIndex, saved.day, used);
    }
  }

  /** Writes the counts if they changed since the last save. Joins a write under way. */
  save(): Promise<void> {
    this.#saving ??= this.#write().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  async close(): Promise<void> {
    // After a save that began before the last answer.
    await this.#saving?.catch(() => undefined);
    await this.save();
  }

  async #write(): Promise<void> {
    this.#collect();
    for (let over = this.#over[0]; over !== undefined; over = this.#over[0]) {
      await this.#options.store.write({ day: over.day, used: Object.fromEntries(over.used) });
      this.#over.shift();
    }
    if (this.#isSaved) return;
    const used = Object.fromEntries(this.#used);
    this.#isSaved = true;
    try {
      await this.#options.store.write({ day: this.#day, used });
    } catch (error) {
      this.#isSaved = false;
      throw error;
    }
  }

  /** Brings the counts up to date. */
  #collect(): void {
    const nowMs = this.#options.clock.nowMs();
    const next = new Map<string, number>();
    let nextDay = this.#day;
    for (const keyIndex of this.#tallies.takeChanged()) {
      const id = this.#options.keys.at(keyIndex)?.id;
      if (id === undefined) continue;
      const tally = this.#tallies.tally(keyIndex, UNLIMITED, nowMs);
      if (tally.day === this.#day) this.#set(id, tally.used >>> 0);
      else {
        if (tally.dayBefore === this.#day) this.#set(id, tally.usedBefore >>> 0);
        nextDay = tally.day;
        next.set(id, tally.used >>> 0);
      }
    }
    if (next.size > 0) this.#begin(nextDay, next);
  }

  #begin(day: number, used: Map<string, number>): void {
    const counted = { day: this.#day, used: this.#used };
    if (!this.#isSaved) this.#over.push(counted);
    this.#used = this.#before?.day === day ? new Map([...this.#before.used, ...used]) : used;
    this.#before = counted;
    this.#day = day;
    this.#isSaved = false;
  }

  #set(id: string, used: number): void {
    if (used > 0) this.#used.set(id, used);
    else this.#used.delete(id);
    this.#isSaved = false;
  }
}
