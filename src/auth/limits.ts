const DAY_MS = 86_400_000;

/** A bucket holds what its rate refills in this time. */
export const BURST_S = 2;

/** `Limits.take`: the token bucket is empty. */
export const BURST_EXCEEDED = -1;
/** `Limits.take`: the day's quota is used up. */
export const DAILY_EXCEEDED = -2;

/** What one key may do; `null`: unlimited. */
export interface KeyLimits {
  readonly ratePerS: number | null;
  readonly dailyMax: number | null;
}

/*
 * The memory: a header, then the keyIndexes, each 32 bytes (Int32 cells on the left, Float64 on the right).
 *
 *   header   changes │ – │ – │ – │        –        │        –
 *   keyIndex     lock    │day│used│ – │ spent (tokens)  │ settledMs
 *
 * The bucket counts the tokens spent, not those left: memory that is all zero is then a full bucket,
 * whatever the time.
 */
const ENTRY_BYTES = 32;
const ENTRY_CELLS = ENTRY_BYTES / 4;
const ENTRY_READINGS = ENTRY_BYTES / 8;
const CHANGES = 0;
const LOCK = 0;
const DAY = 1;
const USED = 2;
const SPENT = 2;
const SETTLED = 3;

const FREE = 0;
const HELD = 1;
const SPINS_MAX = 1000;
/** Of 1 ms each. */
const NAPS_MAX = 100;

/** Forgives the rounding of refills: ten refills of a tenth are one token. */
const TOKEN_TOLERANCE = 1e-6;
/** A clock that is further behind than another thread's reading can be was set back. */
const SET_BACK_MS = 1000;

/** The UTC day of an epoch time: days since 1970-01-01. */
export function dayOf(epochMs: number): number {
  return Math.floor(epochMs / DAY_MS);
}

export function msToNextDay(epochMs: number): number {
  return (dayOf(epochMs) + 1) * DAY_MS - epochMs;
}

/** Untouched keyIndexes cost no physical memory: the system gives zeroed pages when they are first written. */
export function allocateLimits(keysMax: number): SharedArrayBuffer {
  // Of fixed length: views on growable memory are several times slower to read in Node 20.
  return new SharedArrayBuffer((keysMax + 1) * ENTRY_BYTES);
}

/**
 * Token buckets and daily quotas, a keyIndex for each limited key. Exact across the threads that share the
 * memory. All calls are synchronous and allocate nothing.
 */
export class Limits {
  readonly keysMax: number;
  readonly #cells: Int32Array;
  readonly #readings: Float64Array;

  /** On memory from `allocateLimits`, made by this thread or received from another. */
  constructor(readonly memory: SharedArrayBuffer) {
    this.keysMax = memory.byteLength / ENTRY_BYTES - 1;
    this.#cells = new Int32Array(memory);
    this.#readings = new Float64Array(memory);
  }

  /**
   * Charges one request: a token and, where there is one to be had, one of the day's quota. Returns the
   * day charged, or `BURST_EXCEEDED` or `DAILY_EXCEEDED`; the token is spent in the latter case too.
   */
  take(keyIndex: number, limits: KeyLimits, nowMs: number): number {
    const first = this.#lock(keyIndex);
    const outcome = this.#takeToken(keyIndex, limits.ratePerS, nowMs)
      ? this.#reserve(first, limits.dailyMax, dayOf(nowMs))
      : BURST_EXCEEDED;
    this.#unlock(first);
    return outcome;
  }

  /** Spends `tokens` that need not be there: the bucket is then in debt until its rate has refilled it. */
  spend(keyIndex: number, ratePerS: number, tokens: number, nowMs: number): void {
    const first = this.#lock(keyIndex);
    this.#settle(keyIndex, this.#spentAt(keyIndex, ratePerS, nowMs) + tokens, nowMs);
    this.#unlock(first);
  }

  /** Gives one of that day's quota back. Does nothing where the day is over. */
  refund(keyIndex: number, day: number): void {
    const first = this.#lock(keyIndex);
    if (this.#cell(first + DAY) === day && this.#cell(first + USED) > 0) this.#count(first, -1);
    this.#unlock(first);
  }

  /** Milliseconds until the bucket holds a whole token. */
  waitMs(keyIndex: number, ratePerS: number, nowMs: number): number {
    const first = this.#lock(keyIndex);
    const excess = this.#spentAt(keyIndex, ratePerS, nowMs) + 1 - BURST_S * ratePerS;
    this.#unlock(first);
    return Math.max(0, (excess * 1000) / ratePerS);
  }

  /** How much of that day's quota is used. */
  usedOn(keyIndex: number, day: number): number {
    const first = this.#lock(keyIndex);
    const used = this.#cell(first + DAY) === day ? this.#cell(first + USED) : 0;
    this.#unlock(first);
    return used;
  }

  /** Sets what was used before a restart. */
  restore(keyIndex: number, day: number, used: number): void {
    const first = this.#lock(keyIndex);
    this.#cells[first + DAY] = day;
    this.#cells[first + USED] = used;
    this.#unlock(first);
  }

  /** Moves on whenever a daily count does. */
  get changes(): number {
    return Atomics.load(this.#cells, CHANGES);
  }

  #takeToken(keyIndex: number, ratePerS: number | null, nowMs: number): boolean {
    if (ratePerS === null) return true;
    const spent = this.#spentAt(keyIndex, ratePerS, nowMs);
    const isAffordable = spent + 1 <= BURST_S * ratePerS + TOKEN_TOLERANCE;
    this.#settle(keyIndex, isAffordable ? spent + 1 : spent, nowMs);
    return isAffordable;
  }

  #settle(keyIndex: number, spent: number, nowMs: number): void {
    const reading = (keyIndex + 1) * ENTRY_READINGS;
    this.#readings[reading + SPENT] = spent;
    // Two threads read their clocks before either has the lock, so time may arrive out of order. Going back
    // would refill the difference twice.
    const settledMs = this.#reading(reading + SETTLED);
    if (nowMs > settledMs || nowMs < settledMs - SET_BACK_MS) this.#readings[reading + SETTLED] = nowMs;
  }

  #spentAt(keyIndex: number, ratePerS: number, nowMs: number): number {
    const reading = (keyIndex + 1) * ENTRY_READINGS;
    const elapsedMs = Math.max(0, nowMs - this.#reading(reading + SETTLED));
    return Math.max(0, this.#reading(reading + SPENT) - (elapsedMs * ratePerS) / 1000);
  }

  #reserve(first: number, dailyMax: number | null, day: number): number {
    if (dailyMax === null) return day;
    const charged = this.#openDay(first, day);
    if (this.#cell(first + USED) >= dailyMax) return DAILY_EXCEEDED;
    this.#count(first, 1);
    return charged;
  }

  /** Starts the count of a new day. Returns the day that is being counted. */
  #openDay(first: number, day: number): number {
    const counted = this.#cell(first + DAY);
    // The day before: another thread's clock was past midnight already, and its day goes on. Any earlier day:
    // the clock had been wrong, and its future must not keep the quota shut.
    if (day === counted || day === counted - 1) return counted;
    this.#cells[first + DAY] = day;
    this.#cells[first + USED] = 0;
    return day;
  }

  #count(first: number, difference: 1 | -1): void {
    this.#cells[first + USED] = this.#cell(first + USED) + difference;
    Atomics.add(this.#cells, CHANGES, 1);
  }

  // The indices below come from keyIndexes that the keyring assigned, within `keysMax`.
  #cell(index: number): number {
    return this.#cells[index]!;
  }

  #reading(index: number): number {
    return this.#readings[index]!;
  }

  /** Returns the keyIndex's first cell. What is done under a lock takes well under a microsecond. */
  #lock(keyIndex: number): number {
    const first = (keyIndex + 1) * ENTRY_CELLS;
    for (let spins = 0; spins < SPINS_MAX; spins++) {
      if (Atomics.compareExchange(this.#cells, first + LOCK, FREE, HELD) === FREE) return first;
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
      Atomics.wait(this.#cells, first + LOCK, HELD, 1);
      if (Atomics.compareExchange(this.#cells, first + LOCK, FREE, HELD) === FREE) return;
    }
  }

  #unlock(first: number): void {
    Atomics.store(this.#cells, first + LOCK, FREE);
  }
}
