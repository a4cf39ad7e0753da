import {
  DAY,
  DAY_BEFORE,
  ENTRY_READINGS,
  LimitEntries,
  MARKS_IN_CELL,
  TAKEN,
  USED,
  USED_BEFORE,
} from './limitEntries.js';
import type { KeyLimits } from './limits.js';

/** The counts of one key. */
export interface Tally {
  /** The UTC day of `used`, in days since 1970-01-01; 0 before the first count. */
  readonly day: number;
  /** The local count of that day, as 32 bits. */
  readonly used: number;
  /** The last day counted before `day`: a later one where the clock was set back. */
  readonly dayBefore: number;
  readonly usedBefore: number;
  /** Tokens taken since the process started. */
  readonly taken: number;
  /** Tokens that the bucket lacks. */
  readonly spent: number;
}

/** The counts of each key, for ledgers. Not for the request path. */
export class Tallies extends LimitEntries {
  /** How much of that day's quota is used. */
  usedOn(keyIndex: number, day: number): number {
    const first = this.lock(keyIndex);
    const used = this.cell(first + DAY) === day ? this.cell(first + USED) : 0;
    this.unlock(first);
    return used >>> 0;
  }

  /** The counts of a key, all read at one moment. */
  tally(keyIndex: number, { ratePerS }: Pick<KeyLimits, 'ratePerS'>, nowMs: number): Tally {
    const first = this.lock(keyIndex);
    const tally = {
      day: this.cell(first + DAY),
      used: this.cell(first + USED),
      dayBefore: this.cell(first + DAY_BEFORE),
      usedBefore: this.cell(first + USED_BEFORE),
      taken: this.reading((keyIndex + 1) * ENTRY_READINGS + TAKEN),
      spent: ratePerS === null ? 0 : this.spentAt(keyIndex, ratePerS, nowMs),
    };
    this.unlock(first);
    return tally;
  }

  /** Sets what the bucket lacked when `tally` was read, as the fleet knows it; tokens spent since are kept. */
  correct(keyIndex: number, tally: Tally, spent: number, nowMs: number): void {
    const first = this.lock(keyIndex);
    const taken = this.reading((keyIndex + 1) * ENTRY_READINGS + TAKEN);
    this.settle(keyIndex, Math.max(0, spent + taken - tally.taken), nowMs);
    this.unlock(first);
  }

  /** Sets the highest allowed count of that day; `isSpent`: all replicas together have used up its quota. */
  limit(keyIndex: number, day: number, most: number, isSpent: boolean): void {
    const first = this.lock(keyIndex);
    this.setMost(first, day, most, isSpent);
    this.unlock(first);
  }

  /** Sets by how many replicas a quota is divided on a day of which nothing was read yet. */
  shareBy(replicas: number): void {
    this.setReplicas(replicas);
  }

  /** Sets what was used before a restart. */
  restore(keyIndex: number, day: number, used: number): void {
    const first = this.lock(keyIndex);
    this.cells[first + DAY] = day;
    this.cells[first + USED] = used;
    this.unlock(first);
  }

  /** The keyIndexes that were charged or refunded since the last call. Only one caller may use this. */
  takeChanged(): number[] {
    const changed: number[] = [];
    const cells = Math.ceil(this.keysMax / MARKS_IN_CELL);
    for (let cell = 0; cell < cells; cell++) {
      if (this.cell(this.marks + cell) === 0) continue;
      const marks = Atomics.exchange(this.cells, this.marks + cell, 0);
      for (let bit = 0; bit < MARKS_IN_CELL; bit++) {
        if ((marks & (1 << bit)) !== 0) changed.push(cell * MARKS_IN_CELL + bit);
      }
    }
    return changed;
  }
}
