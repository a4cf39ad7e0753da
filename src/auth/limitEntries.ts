/*
 * The memory: a header, an entry for each keyIndex, 64 bytes each (Int32 cells on the left, Float64 on the right), and
 * a bit for each keyIndex that says whether its entry changed since `Tallies.takeChanged`.
 *
 *   header   keysMax │ replicas
 *   entry    lock │ day │ used │ used the day before │ spent (tokens) │ settledMs │ taken │ day before │ most │ its day │ –
 *   marks    a bit for each entry
 *
 * The bucket counts the tokens spent, not those left: memory that is all zero is then a full bucket,
 * whatever the time. `taken` are the tokens of all time, which no refill lessens. `most` is where the count of its day
 * has to stop; a day without one has the key's quota divided by the replicas.
 */
const ENTRY_BYTES = 64;
const ENTRY_CELLS = ENTRY_BYTES / 4;
export const ENTRY_READINGS = ENTRY_BYTES / 8;
const KEYS_MAX = 0;
/** 0 stands for one: a server of its own. */
const REPLICAS = 1;
const LOCK = 0;
export const DAY = 1;
export const USED = 2;
export const USED_BEFORE = 3;
const SPENT = 2;
const SETTLED = 3;
/** The day of `USED_BEFORE`. */
export const DAY_BEFORE = 10;
export const TAKEN = 4;
const MOST = 11;
const MOST_DAY = 12;
export const MARKS_IN_CELL = 32;

const INT32_MAX = 2 ** 31 - 1;

const FREE = 0;
const HELD = 1;
const SPINS_MAX = 1000;
/** Of 1 ms each. */
const NAPS_MAX = 100;

/** A clock that is further behind than another thread's reading can be was set back. */
const SET_BACK_MS = 1000;

/** Untouched keyIndexes cost no physical memory: the system gives zeroed pages when they are first written. */
export function allocateLimits(keysMax: number): SharedArrayBuffer {
  // Of fixed length: views on growable memory are several times slower to read in Node 20.
  const memory = new SharedArrayBuffer(
    (keysMax + 1) * ENTRY_BYTES + Math.ceil(keysMax / MARKS_IN_CELL) * Int32Array.BYTES_PER_ELEMENT,
  );
  new Int32Array(memory)[KEYS_MAX] = keysMax;
  return memory;
}

/** What each of several replicas may answer of a day's quota of which nothing was lent to it. */
export function shareOf(dailyMax: number, replicas: number): number {
  return replicas > 1 ? Math.max(1, Math.floor(dailyMax / replicas)) : dailyMax;
}

/**
 * The entries of all keys, and the lock of each. `Limits` charges requests to them, `Tallies` reads and corrects
 * what was charged.
 */
export class LimitEntries {
  readonly keysMax: number;
  protected readonly cells: Int32Array;
  protected readonly readings: Float64Array;
  /** The cell of the first marks. */
  protected readonly marks: number;

  /** On memory from `allocateLimits`, made by this thread or received from another. */
  constructor(readonly memory: SharedArrayBuffer) {
    this.cells = new Int32Array(memory);
    this.keysMax = this.cell(KEYS_MAX);
    this.marks = (this.keysMax + 1) * ENTRY_CELLS;
    this.readings = new Float64Array(memory, 0, (this.keysMax + 1) * ENTRY_READINGS);
  }

  /** Sets the tokens spent, as of `nowMs`. Under the key's lock, as what follows. */
  protected settle(keyIndex: number, spent: number, nowMs: number): void {
    const reading = (keyIndex + 1) * ENTRY_READINGS;
    this.readings[reading + SPENT] = spent;
    // Two threads read their clocks before either has the lock, so time may arrive out of order. Going back
    // would refill the difference twice.
    const settledMs = this.reading(reading + SETTLED);
    if (nowMs > settledMs || nowMs < settledMs - SET_BACK_MS) this.readings[reading + SETTLED] = nowMs;
  }

  protected spentAt(keyIndex: number, ratePerS: number, nowMs: number): number {
    const reading = (keyIndex + 1) * ENTRY_READINGS;
    const elapsedMs = Math.max(0, nowMs - this.reading(reading + SETTLED));
    return Math.max(0, this.reading(reading + SPENT) - (elapsedMs * ratePerS) / 1000);
  }

  /** Under the key's lock: whoever takes the mark and then waits for the lock sees what was counted. */
  protected mark(keyIndex: number): void {
    const cell = this.marks + (keyIndex >>> 5);
    const bit = 1 << (keyIndex & 31);
    if ((this.cell(cell) & bit) === 0) Atomics.or(this.cells, cell, bit);
  }

  protected addTaken(keyIndex: number, tokens: number): void {
    const reading = (keyIndex + 1) * ENTRY_READINGS + TAKEN;
    this.readings[reading] = this.reading(reading) + tokens;
  }

  /** What the count of that day may come to. */
  protected mostOn(first: number, day: number, dailyMax: number): number {
    return this.cell(first + MOST_DAY) === day
      ? this.cell(first + MOST)
      : shareOf(dailyMax, this.cell(REPLICAS));
  }

  protected setMost(first: number, day: number, most: number): void {
    this.cells[first + MOST_DAY] = day;
    this.cells[first + MOST] = Math.min(most, INT32_MAX);
  }

  protected setReplicas(replicas: number): void {
    this.cells[REPLICAS] = replicas;
  }

  // The indices below come from keyIndexes that the keyring assigned, within `keysMax`.
  protected cell(index: number): number {
    return this.cells[index]!;
  }

  protected reading(index: number): number {
    return this.readings[index]!;
  }

  /** Returns the keyIndex's first cell. What is done under a lock takes well under a microsecond. */
  protected lock(keyIndex: number): number {
    const first = (keyIndex + 1) * ENTRY_CELLS;
    for (let spins = 0; spins < SPINS_MAX; spins++) {
      if (Atomics.compareExchange(this.cells, first + LOCK, FREE, HELD) === FREE) return first;
    }
    this.#lockPatiently(first);
    return first;
  }

  /**
   * The holder lost its processor, or its thread was ended: a lock that nobody gives back is taken over, at
   * the price of one count, rather than stop every event loop for good.
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
