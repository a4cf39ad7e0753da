import { dayAt, msToNextDay } from '../base/days.js';

/*
 * The memory: a header, one entry of 64 bytes for each keyIndex (Int32 cells on the left, Float64 on the right), and
 * one bit for each keyIndex: whether its entry changed since `Limits.takeChanged`.
 *
 *   header   keysMax │ replicas
 *   entry    lock │ day │ used │ used the day before │ spent (tokens) │ settledMs │ taken │ day before │ most │ its day │ last day but one │ its used │ spent day
 *   marks    a bit for each entry
 *
 * The bucket counts tokens spent, not tokens left, so zeroed memory is a full bucket at any time.
 * `taken` are all tokens ever taken; a refill does not lower it. `most` is the highest allowed count of `its day`;
 * on a day without it, the key's quota divided by the replicas holds. `spent day`: all replicas together have used up
 * that day's quota, as the store said last.
 */
const ENTRY_BYTES = 64;
const ENTRY_CELLS = ENTRY_BYTES / 4;
const ENTRY_READINGS = ENTRY_BYTES / 8;
const KEYS_MAX = 0;
/** 0 means 1: a server without replicas. */
const REPLICAS = 1;
const LOCK = 0;
const DAY = 1;
const USED = 2;
const USED_BEFORE = 3;
const SPENT = 2;
const SETTLED = 3;
const TAKEN = 4;
/** The day that `USED_BEFORE` counts: the one counted before `DAY`, which a clock set back makes a later one. */
const DAY_BEFORE = 10;
const MOST = 11;
const MOST_DAY = 12;
/** As `DAY_BEFORE` and `USED_BEFORE`, of the day counted before that. */
const DAY_EARLIER = 13;
const USED_EARLIER = 14;
const SPENT_DAY = 15;
/** The days that are remembered, the newest counted first: a clock may see two wrong ones and come back. */
const DAYS = [
  [DAY, USED],
  [DAY_BEFORE, USED_BEFORE],
  [DAY_EARLIER, USED_EARLIER],
] as const;
const MARKS_IN_CELL = 32;

const INT32_MAX = 2 ** 31 - 1;
const FREE = 0;
const HELD = 1;
const SPINS_MAX = 1000;
/** Naps of 1 ms. */
const NAPS_MAX = 100;
/** Clock readings of two threads differ by less than this; a larger step back means that the clock was set back. */
const SET_BACK_MS = 1000;
/** Tolerance for the rounding of refills: ten refills of a tenth make one token. */
const TOKEN_TOLERANCE = 1e-6;

/** A bucket holds what its rate refills in this time. */
export const BURST_S = 2;

/** `Limits.take`: the token bucket is empty. */
export const BURST_EXCEEDED = -1;
/** `Limits.take`: the day's quota is used up. */
export const DAILY_EXCEEDED = -2;
/** `Limits.take`: this replica's share of the day's quota is used up until it hears from the store. */
export const SHARE_EXCEEDED = -3;

/** What one key may do; `null`: unlimited. */
export interface KeyLimits {
  readonly ratePerS: number | null;
  readonly dailyMax: number | null;
}

/** How much of what is left of a day's quota each of several replicas may answer until it hears from the store. */
export function shareOf(left: number, replicas: number): number {
  return Math.ceil(Math.max(0, left) / Math.max(1, replicas));
}

/** Unused keyIndexes cost no physical memory: the system maps zeroed pages at the first write. */
export function allocateLimits(keysMax: number): SharedArrayBuffer {
  // Fixed length: in Node 20, views on growable memory are several times slower to read.
  const memory = new SharedArrayBuffer(
    (keysMax + 1) * ENTRY_BYTES + Math.ceil(keysMax / MARKS_IN_CELL) * Int32Array.BYTES_PER_ELEMENT,
  );
  new Int32Array(memory)[KEYS_MAX] = keysMax;
  return memory;
}

/** The counts of one key. */
export type Tally = ReturnType<Limits['tally']>;

/**
 * Token buckets and daily quotas, one of each for a limited key. Exact across the threads that share the memory. All
 * calls are synchronous; those of a request allocate nothing.
 */
export class Limits {
  readonly keysMax: number;
  readonly #cells: Int32Array;
  readonly #readings: Float64Array;
  /** The first cell of the mark bits. */
  readonly #marks: number;

  /** On memory from `allocateLimits`, made by this thread or received from another. */
  constructor(readonly memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
    this.keysMax = this.#cell(KEYS_MAX);
    this.#marks = (this.keysMax + 1) * ENTRY_CELLS;
    this.#readings = new Float64Array(memory, 0, (this.keysMax + 1) * ENTRY_READINGS);
  }

  /**
   * Charges one request: one token and one of the day's quota (counted even without a quota). Returns the day
   * charged, or `BURST_EXCEEDED`, `DAILY_EXCEEDED` or `SHARE_EXCEEDED`; the latter two have spent the token too.
   */
  take(keyIndex: number, limits: KeyLimits, nowMs: number): number {
    const first = this.#lock(keyIndex);
    const outcome = this.#takeToken(keyIndex, limits.ratePerS, nowMs)
      ? this.#reserve(first, limits.dailyMax, nowMs)
      : BURST_EXCEEDED;
    if (outcome !== BURST_EXCEEDED) this.#mark(keyIndex);
    this.#unlock(first);
    return outcome;
  }

  /**
   * Charges an admitted request further `tokens` and `count` more of the day's quota, all or nothing. Returns as `take`.
   */
  takeMore(
    keyIndex: number,
    limits: KeyLimits,
    { tokens, count }: { readonly tokens: number; readonly count: number },
    nowMs: number,
  ): number {
    const { ratePerS, dailyMax } = limits;
    const first = this.#lock(keyIndex);
    const spent = ratePerS === null ? 0 : this.#spentAt(keyIndex, ratePerS, nowMs);
    const isAffordable = ratePerS === null || spent + tokens <= BURST_S * ratePerS + TOKEN_TOLERANCE;
    const outcome = isAffordable ? this.#reserve(first, dailyMax, nowMs, count) : BURST_EXCEEDED;
    if (outcome >= 0) {
      if (ratePerS !== null) this.#charge(keyIndex, spent + tokens, tokens, nowMs);
      this.#mark(keyIndex);
    }
    this.#unlock(first);
    return outcome;
  }

  /**
   * Spends `tokens` even if the bucket holds fewer: it is then in debt until refilled. `isOwn`: taken here, not by
   * another replica.
   */
  spend(keyIndex: number, ratePerS: number, tokens: number, nowMs: number, isOwn = true): void {
    const first = this.#lock(keyIndex);
    this.#charge(keyIndex, this.#spentAt(keyIndex, ratePerS, nowMs) + tokens, isOwn ? tokens : 0, nowMs);
    if (isOwn) this.#mark(keyIndex);
    this.#unlock(first);
  }

  /** Returns `count` to that day's quota; the day may be over by now. */
  refund(keyIndex: number, day: number, count = 1): void {
    const first = this.#lock(keyIndex);
    for (const [dayCell, usedCell] of DAYS) {
      const used = this.#cell(first + usedCell) >>> 0; // 32 bits without a sign, as they are read
      if (this.#cell(first + dayCell) !== day || used === 0) continue;
      this.#cells[first + usedCell] = Math.max(0, used - count);
      this.#mark(keyIndex);
    }
    this.#unlock(first);
  }

  /** How many predictions are left of the day's quota; Infinity without one. */
  leftOfDay(keyIndex: number, dailyMax: number | null, nowMs: number): number {
    if (dailyMax === null) return Infinity;
    const first = this.#lock(keyIndex);
    const day = this.#openDay(first, nowMs);
    const left = this.#mostOn(first, day, dailyMax) - this.#cell(first + USED);
    this.#unlock(first);
    return Math.max(0, left);
  }

  /** How many tokens the bucket holds; below 0 in debt. */
  tokensLeft(keyIndex: number, ratePerS: number, nowMs: number): number {
    const first = this.#lock(keyIndex);
    const spent = this.#spentAt(keyIndex, ratePerS, nowMs);
    this.#unlock(first);
    return BURST_S * ratePerS - spent;
  }

  /** The counts of a key, all read at one moment. */
  tally(keyIndex: number, { ratePerS }: Pick<KeyLimits, 'ratePerS'>, nowMs: number) {
    const first = this.#lock(keyIndex);
    const tally = {
      /** The UTC day of `used`, in days since 1970-01-01; 0 before the first count. */
      day: this.#cell(first + DAY),
      used: this.#cell(first + USED) >>> 0,
      /** The last day counted before `day`: a later one where the clock was set back. */
      dayBefore: this.#cell(first + DAY_BEFORE),
      usedBefore: this.#cell(first + USED_BEFORE) >>> 0,
      /** Tokens taken since the process started. */
      taken: this.#reading((keyIndex + 1) * ENTRY_READINGS + TAKEN),
      /** Tokens that the bucket lacks. */
      spent: ratePerS === null ? 0 : this.#spentAt(keyIndex, ratePerS, nowMs),
    };
    this.#unlock(first);
    return tally;
  }

  /** Sets the highest allowed count of that day; `isSpent`: all replicas together have used up its quota. */
  limit(keyIndex: number, day: number, most: number, isSpent: boolean): void {
    const first = this.#lock(keyIndex);
    this.#cells[first + MOST_DAY] = day;
    this.#cells[first + MOST] = Math.min(most, INT32_MAX);
    this.#cells[first + SPENT_DAY] = isSpent ? day : 0;
    this.#unlock(first);
  }

  /** Sets by how many replicas a quota is divided on a day of which nothing was read yet. */
  shareBy(replicas: number): void {
    this.#cells[REPLICAS] = replicas;
  }

  /** Sets what was used before a restart. */
  restore(keyIndex: number, day: number, used: number): void {
    const first = this.#lock(keyIndex);
    this.#cells[first + DAY] = day;
    this.#cells[first + USED] = used;
    this.#unlock(first);
  }

  /** The keyIndexes that were charged or refunded since the last call. Only one caller may use this. */
  takeChanged(): number[] {
    const changed: number[] = [];
    const cells = Math.ceil(this.keysMax / MARKS_IN_CELL);
    for (let cell = 0; cell < cells; cell++) {
      if (this.#cell(this.#marks + cell) === 0) continue;
      const marks = Atomics.exchange(this.#cells, this.#marks + cell, 0);
      for (let bit = 0; bit < MARKS_IN_CELL; bit++) {
        if ((marks & (1 << bit)) !== 0) changed.push(cell * MARKS_IN_CELL + bit);
      }
    }
    return changed;
  }

  #takeToken(keyIndex: number, ratePerS: number | null, nowMs: number): boolean {
    if (ratePerS === null) return true;
    const spent = this.#spentAt(keyIndex, ratePerS, nowMs);
    const isAffordable = spent + 1 <= BURST_S * ratePerS + TOKEN_TOLERANCE;
    if (isAffordable) this.#charge(keyIndex, spent + 1, 1, nowMs);
    else this.#settle(keyIndex, spent, nowMs);
    return isAffordable;
  }

  #reserve(first: number, dailyMax: number | null, nowMs: number, count = 1): number {
    const charged = this.#openDay(first, nowMs);
    const used = this.#cell(first + USED);
    if (dailyMax !== null && used + count > this.#mostOn(first, charged, dailyMax)) {
      const isSpent = this.#cell(first + SPENT_DAY) === charged || used + count > dailyMax;
      return isSpent ? DAILY_EXCEEDED : SHARE_EXCEEDED;
    }
    this.#cells[first + USED] = used + count;
    return charged;
  }

  /** Starts the count of a new day, or goes on with that of the day before. Returns the day being counted. */
  #openDay(first: number, nowMs: number): number {
    const counted = this.#cell(first + DAY);
    const day = dayAt(nowMs);
    if (day === counted) return counted;
    // Another thread's clock is past midnight already, so keep its day.
    if (day === counted - 1 && msToNextDay(nowMs) <= SET_BACK_MS) return counted;
    // Any other day in the future: the clock was wrong. It must neither block today's quota nor give it again.
    let [moved, used] = [day, 0];
    for (const [dayCell, usedCell] of DAYS) {
      const here = [this.#cell(first + dayCell), this.#cell(first + usedCell)] as const;
      [this.#cells[first + dayCell], this.#cells[first + usedCell]] = [moved, used];
      [moved, used] = here;
      if (moved === day) break;
    }
    // Found again: its count, which the loop has moved out of its place.
    if (moved === day) this.#cells[first + USED] = used;
    return day;
  }

  #charge(keyIndex: number, spent: number, tokens: number, nowMs: number): void {
    this.#settle(keyIndex, spent, nowMs);
    const reading = (keyIndex + 1) * ENTRY_READINGS + TAKEN;
    this.#readings[reading] = this.#reading(reading) + tokens;
  }

  /** Sets the tokens spent as of `nowMs`. Call it, and the methods below, under the key's lock. */
  #settle(keyIndex: number, spent: number, nowMs: number): void {
    const reading = (keyIndex + 1) * ENTRY_READINGS;
    this.#readings[reading + SPENT] = spent;
    // Two threads read their clocks before either holds the lock, so time may arrive out of order. Going back would
    // refill the difference twice.
    const settledMs = this.#reading(reading + SETTLED);
    if (nowMs > settledMs || nowMs < settledMs - SET_BACK_MS) this.#readings[reading + SETTLED] = nowMs;
  }

  #spentAt(keyIndex: number, ratePerS: number, nowMs: number): number {
    const reading = (keyIndex + 1) * ENTRY_READINGS;
    const elapsedMs = Math.max(0, nowMs - this.#reading(reading + SETTLED));
    return Math.max(0, this.#reading(reading + SPENT) - (elapsedMs * ratePerS) / 1000);
  }

  /** Call it under the key's lock: a reader that takes the mark and then the lock sees the new count. */
  #mark(keyIndex: number): void {
    const cell = this.#marks + (keyIndex >>> 5);
    const bit = 1 << (keyIndex & 31);
    if ((this.#cell(cell) & bit) === 0) Atomics.or(this.#cells, cell, bit);
  }

  /** The highest allowed count of that day. */
  #mostOn(first: number, day: number, dailyMax: number): number {
    return this.#cell(first + MOST_DAY) === day
      ? this.#cell(first + MOST)
      : shareOf(dailyMax, this.#cell(REPLICAS));
  }

  // The indices below come from keyIndexes that the keyring assigned, below `keysMax`.
  #cell(index: number): number {
    return this.#cells[index]!;
  }

  #reading(index: number): number {
    return this.#readings[index]!;
  }

  /**
   * Returns the keyIndex's first cell. Hold the lock for well under a microsecond. One that is held for longer belongs
   * to a thread that lost its processor, or ended. It is taken over after some time: that may cost one count, where
   * waiting would stop every event loop for good.
   */
  #lock(keyIndex: number): number {
    const lock = (keyIndex + 1) * ENTRY_CELLS + LOCK;
    for (let tries = 0; tries < SPINS_MAX + NAPS_MAX; tries++) {
      if (Atomics.compareExchange(this.#cells, lock, FREE, HELD) === FREE) break;
      if (tries >= SPINS_MAX) Atomics.wait(this.#cells, lock, HELD, 1);
    }
    return lock - LOCK;
  }

  #unlock(first: number): void {
    Atomics.store(this.#cells, first + LOCK, FREE);
  }
}
