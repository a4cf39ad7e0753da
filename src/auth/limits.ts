import { DAY, DAY_BEFORE, LimitEntries, SET_BACK_MS, SPENT_DAY, USED, USED_BEFORE } from './limitEntries.js';

const DAY_MS = 86_400_000;

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

/** Tolerance for the rounding of refills: ten refills of a tenth make one token. */
const TOKEN_TOLERANCE = 1e-6;

/** The UTC day of an epoch time: days since 1970-01-01. */
export function dayOf(epochMs: number): number {
  return Math.floor(epochMs / DAY_MS);
}

/** A UTC day as ISO 8601 writes it: 2030-01-31. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, '2030-01-31'.length);
}

export function msToNextDay(epochMs: number): number {
  return (dayOf(epochMs) + 1) * DAY_MS - epochMs;
}

/**
 * Token buckets and daily quotas, one of each for a limited key. Exact across the threads that share the memory. All
 * calls are synchronous and allocate nothing.
 */
export class Limits extends LimitEntries {
  /**
   * Charges one request: one token and one of the day's quota (counted even without a quota). Returns the day
   * charged, or `BURST_EXCEEDED`, `DAILY_EXCEEDED` or `SHARE_EXCEEDED`; the latter two have spent the token too.
   */
  take(keyIndex: number, limits: KeyLimits, nowMs: number): number {
    const first = this.lock(keyIndex);
    const outcome = this.#takeToken(keyIndex, limits.ratePerS, nowMs)
      ? this.#reserve(first, limits.dailyMax, nowMs)
      : BURST_EXCEEDED;
    if (outcome !== BURST_EXCEEDED) this.mark(keyIndex);
    this.unlock(first);
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
    const first = this.lock(keyIndex);
    const spent = ratePerS === null ? 0 : this.spentAt(keyIndex, ratePerS, nowMs);
    const isAffordable = ratePerS === null || spent + tokens <= BURST_S * ratePerS + TOKEN_TOLERANCE;
    const outcome = isAffordable ? this.#reserve(first, dailyMax, nowMs, count) : BURST_EXCEEDED;
    if (outcome >= 0) {
      if (ratePerS !== null) {
        this.settle(keyIndex, spent + tokens, nowMs);
        this.addTaken(keyIndex, tokens);
      }
      this.mark(keyIndex);
    }
    this.unlock(first);
    return outcome;
  }

  /** Spends `tokens` even if the bucket holds fewer: it is then in debt until refilled. */
  spend(keyIndex: number, ratePerS: number, tokens: number, nowMs: number): void {
    const first = this.lock(keyIndex);
    this.settle(keyIndex, this.spentAt(keyIndex, ratePerS, nowMs) + tokens, nowMs);
    this.addTaken(keyIndex, tokens);
    this.mark(keyIndex);
    this.unlock(first);
  }

  /** Returns `count` to that day's quota; the day may be over by now. */
  refund(keyIndex: number, day: number, count = 1): void {
    const first = this.lock(keyIndex);
    const isToday = this.cell(first + DAY) === day;
    const cell = first + (isToday ? USED : USED_BEFORE);
    if ((isToday || this.cell(first + DAY_BEFORE) === day) && this.cell(cell) !== 0) {
      // 32 bits without a sign, as they are read.
      this.cells[cell] = Math.max(0, (this.cell(cell) >>> 0) - count);
      this.mark(keyIndex);
    }
    this.unlock(first);
  }

  /** How many predictions are left of the day's quota; Infinity without one. */
  leftOfDay(keyIndex: number, dailyMax: number | null, nowMs: number): number {
    if (dailyMax === null) return Infinity;
    const first = this.lock(keyIndex);
    const day = this.#openDay(first, nowMs);
    const left = this.mostOn(first, day, dailyMax) - this.cell(first + USED);
    this.unlock(first);
    return Math.max(0, left);
  }

  /** How many tokens the bucket holds; below 0 in debt. */
  tokensLeft(keyIndex: number, ratePerS: number, nowMs: number): number {
    const first = this.lock(keyIndex);
    const spent = this.spentAt(keyIndex, ratePerS, nowMs);
    this.unlock(first);
    return BURST_S * ratePerS - spent;
  }

  /** Milliseconds until the bucket holds so many tokens. */
  waitMs(keyIndex: number, ratePerS: number, nowMs: number, tokens = 1): number {
    const missing = tokens - this.tokensLeft(keyIndex, ratePerS, nowMs);
    return Math.max(0, (missing * 1000) / ratePerS);
  }

  #takeToken(keyIndex: number, ratePerS: number | null, nowMs: number): boolean {
    if (ratePerS === null) return true;
    const spent = this.spentAt(keyIndex, ratePerS, nowMs);
    const isAffordable = spent + 1 <= BURST_S * ratePerS + TOKEN_TOLERANCE;
    this.settle(keyIndex, isAffordable ? spent + 1 : spent, nowMs);
    if (isAffordable) this.addTaken(keyIndex, 1);
    return isAffordable;
  }

  #reserve(first: number, dailyMax: number | null, nowMs: number, count = 1): number {
    const charged = this.#openDay(first, nowMs);
    const used = this.cell(first + USED);
    if (dailyMax !== null && used + count > this.mostOn(first, charged, dailyMax)) {
      const isSpent = this.cell(first + SPENT_DAY) === charged || used + count > dailyMax;
      return isSpent ? DAILY_EXCEEDED : SHARE_EXCEEDED;
    }
    this.cells[first + USED] = used + count;
    return charged;
  }

  /** Starts the count of a new day, or goes on with that of the day before. Returns the day being counted. */
  #openDay(first: number, nowMs: number): number {
    const counted = this.cell(first + DAY);
    const day = dayOf(nowMs);
    if (day === counted) return counted;
    // Another thread's clock is past midnight already, so keep its day.
    if (day === counted - 1 && msToNextDay(nowMs) <= SET_BACK_MS) return counted;
    // Any other day in the future: the clock was wrong. It must neither block today's quota nor give it again.
    const used = this.cell(first + DAY_BEFORE) === day ? this.cell(first + USED_BEFORE) : 0;
    this.cells[first + DAY_BEFORE] = counted;
    this.cells[first + USED_BEFORE] = this.cell(first + USED);
    this.cells[first + DAY] = day;
    this.cells[first + USED] = used;
    return day;
  }
}
