import { shareOf } from './shares.js';

/*
 * The memory: a header, one entry of 64 bytes for each keyIndex (Int32 cells on the left, Float64 on the right), and
 * one bit for each keyIndex: whether its entry changed since `Tallies.takeChanged`.
 *
 *   header   keysMax │ replicas
 *   entry    lock │ day │ used │ used the day before │ spent (tokens) │ settledMs │ taken │ day before │ most │ its day │ – │ – │ spent day
 *   marks    a bit for each entry
 *
 * The bucket counts tokens spent, not tokens left, so zeroed memory is a full bucket at any time.
 * `taken` are all tokens ever taken; a refill does not lower it. `most` is the highest allowed count of `its day`;
 * on a day without it, the key's quota divided by the replicas holds. `spent day`: all replicas together have used up
 * that day's quota, as the store said last.
 */
const ENTRY_BYTES = 64;
const ENTRY_CELLS = ENTRY_BYTES / 4;
export const ENTRY_READINGS = ENTRY_BYTES / 8;
const KEYS_MAX = 0;
/** 0 means 1: a server without replicas. */
const REPLICAS = 1;
const LOCK = 0;
export const DAY = 1;
export const USED = 2;
export const USED_BEFORE = 3;
const SPENT = 2;
const SETTLED = 3;
/** The day that `USED_BEFORE` counts: the one counted before `DAY`, which a clock set back makes a later one. */
export const DAY_BEFORE = 10;
export const TAKEN = 4;
const MOST = 11;
const MOST_DAY = 12;
export const SPENT_DAY = 15;
export const MARKS_IN_CELL = 32;

const INT32_MAX = 2 ** 31 - 1;

const FREE = 0;
const HELD = 1;
const SPINS_MAX = 1000;
/** Naps of 1 ms. */
const NAPS_MAX = 100;

/** Clock readings of two threads differ by less than this; a larger step back means that the clock was set back. */
export const SET_BACK_MS = 1000;

/** Unused keyIndexes cost no physical memory: the system maps zeroed pages at the first write. */
export function allocateLimits(keysMax: number): SharedArrayBuffer {
  // Fixed length: in Node 20, views on growable memory are several times slower to read.
  const memory = new SharedArrayBuffer(
    (keysMax + 1) * ENTRY_BYTES + Math.ceil(keysMax / MARKS_IN_CELL) * Int32Array.BYTES_PER_ELEMENT,
  );
  new Int32Array(memory)[KEYS_MAX] = keysMax;
  return memory;
}

/** The entry of each key and its lock. `Limits` charges requests, `Tallies` reads and corrects what was charged. */
export class LimitEntries {
  readonly keysMax: number;
  protected readonly cells: Int32Array;
  protected readonly readings: Float64Array;
  /** The first cell of the mark bits. */
  protected readonly marks: number;

  /** On memory from `allocateLimits`, made by this thread or received from another. */
  constructor(readonly memory: SharedArrayBuffer) {
    this.cells = new Int32Array(memory);
    this.keysMax = this.cell(KEYS_MAX);
    this.marks = (this.keysMax + 1) * ENTRY_CELLS;
    this.readings = new Float64Array(memory, 0, (this.keysMax + 1) * ENTRY_READINGS);
  }

  /** Sets the tokens spent as of `nowMs`. Call it, and the methods below, under the key's lock. */
  protected settle(keyIndex: number, spent: number, nowMs: number): void {
    const reading = (keyIndex + 1) * ENTRY_READINGS;
    this.readings[reading + SPENT] = spent;
    // Two threads read their clocks before either holds the lock, so time may arrive out of order. Going back would
    // refill the difference twice.
    const settledMs = this.reading(reading + SETTLED);
    if (nowMs > settledMs || nowMs < settledMs - SET_BACK_MS) this.readings[reading + SETTLED] = nowMs;
  }

  protected spentAt(keyIndex: number, ratePerS: number, nowMs: number): number {
    const reading = (keyIndex + 1) * ENTRY_READINGS;
    const elapsedMs = Math.max(0, nowMs - this.reading(reading + SETTLED));
    return Math.max(0, this.reading(reading + SPENT) - (elapsedMs * ratePerS) / 1000);
  }

  /** Call it under the key's lock: a reader that takes the mark and then the lock sees the new count. */
  protected mark(keyIndex: number): void {
    const cell = this.marks + (keyIndex >>> 5);
    const bit = 1 << (keyIndex & 31);
    if ((this.cell(cell) & bit) === 0) Atomics.or(this.cells, cell, bit);
  }

  protected addTaken(keyIndex: number, tokens: number): void {
    const reading = (keyIndex + 1) * ENTRY_READINGS + TAKEN;
    this.readings[reading] = this.reading(reading) + tokens;
  }

  /** The highest allowed count of that day. */
  protected mostOn(first: number, day: number, dailyMax: number): number {
    return this.cell(first + MOST_DAY) === day
      ? this.cell(first + MOST)
      : shareOf(dailyMax, this.cell(REPLICAS));
  }

  protected setMost(first: number, day: number, most: number, isSpent: boolean): void {
    this.cells[first + MOST_DAY] = day;
    this.cells[first + MOST] = Math.min(most, INT32_MAX);
    this.cells[first + SPENT_DAY] = isSpent ? day : 0;
  }

  protected setReplicas(replicas: number): void {
    this.cells[REPLICAS] = replicas;
  }

  // The indices below come from keyIndexes that the keyring assigned, below `keysMax`.
  protected cell(index: number): number {
    return this.cells[index]!;
  }

  protected reading(index: number): number {
    return this.readings[index]!;
  }

  /** Returns the keyIndex's first cell. Hold the lock for well under a microsecond. */
  protected lock(keyIndex: number): number {
    const first = (keyIndex + 1) * ENTRY_CELLS;
    for (let spins = 0; spins < SPINS_MAX; spins++) {
      if (Atomics.compareExchange(this.cells, first + LOCK, FREE, HELD) === FREE) return first;
    }
    this.#lockPatiently(first);
    return first;
  }

  /**
   * The holder lost its processor, or its thread ended. A lock that is not released in time is taken over: that may
   * cost one count, where waiting would stop every event loop for good.
   */
  #lockPatiently(first: number): void {
    for (let naps = 0; naps < NAPS_MAX; naps++) {
      Atomics.wait(this.cells, first + LOCK, HELD, 1);
      if (Atomics.compareExchange(this.cells, first + LOCK, FREE, HELD) === FREE) return;
    }
  }

  protected unlock(first: number): void {
    Atomics.store(this.cells, first + LOCK, FREE);
  }
}
