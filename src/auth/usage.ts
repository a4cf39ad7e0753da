import type { Clock } from '../base/clock.js';
import { dayOf, type Limits } from './limits.js';
import type { DailyUsage, UsageStore } from './store.js';

export interface UsageOptions {
  readonly store: UsageStore;
  readonly limits: Limits;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Key id → keyIndex; grows as keys are issued. */
  readonly keyIndexes: ReadonlyMap<string, number>;
}

/** Carries the daily counts over a restart. What is in flight at a crash counts as used. */
export class Usage {
  readonly #store: UsageStore;
  readonly #limits: Limits;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #keyIndexes: ReadonlyMap<string, number>;
  #savedChanges: number;
  #saving: Promise<void> | undefined;

  constructor({ store, limits, clock, keyIndexes }: UsageOptions) {
    this.#store = store;
    this.#limits = limits;
    this.#clock = clock;
    this.#keyIndexes = keyIndexes;
    this.#savedChanges = limits.changes;
  }

  /** Sets the counts that an earlier server saved today. */
  async restore(): Promise<void> {
    const saved = await this.#store.read();
    if (saved?.day !== dayOf(this.#clock.nowMs())) return;
    for (const [id, keyIndex] of this.#keyIndexes) {
      const used = saved.used[id];
      if (used !== undefined) this.#limits.restore(keyIndex, saved.day, used);
    }
  }

  /** Writes the counts where they changed since the last time. Joins a write that is under way. */
  save(): Promise<void> {
    this.#saving ??= this.#write().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  async #write(): Promise<void> {
    const { changes } = this.#limits;
    if (changes === this.#savedChanges) return;
    await this.#store.write(this.#today());
    this.#savedChanges = changes;
  }

  #today(): DailyUsage {
    const day = dayOf(this.#clock.nowMs());
    const counts = [...this.#keyIndexes].map(
      ([id, keyIndex]) => [id, this.#limits.usedOn(keyIndex, day)] as const,
    );
    return { day, used: Object.fromEntries(counts.filter(([, used]) => used > 0)) };
  }
}
