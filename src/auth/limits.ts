import { DAY, DAY_BEFORE, LimitEntries, USED, USED_BEFORE } from './limitEntries.js';

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

/** Forgives the rounding of refills: ten refills of a tenth are one token. */
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
 * Token buckets and daily quotas, a keyIndex for each limited key. Exact across the threads that share the
 * memory. All calls are synchronous and allocate nothing.
 */
export class Limits extends LimitEntries {
  /**
   * Charges one request: a token and one of the day's quota; without a quota it is counted all the same. Returns the
   * day charged, or `BURST_EXCEEDED` or `DAILY_EXCEEDED`; the token is spent in the latter case too.
   */
  take(keyIndex: number, limits: KeyLimits, nowMs: number): number {
    const first = this.lock(keyIndex);
    const outcome = this.#takeToken(keyIndex, limits.ratePerS, nowMs)
      ? this.#reserve(first, limits.dailyMax, dayOf(nowMs))
      : BURST_EXCEEDED;
    if (outcome !== BURST_EXCEEDED) this.mark(keyIndex);
    this.unlock(first);
    return outcome;
  }

  /** Spends `tokens` that need not be there: the bucket is then in debt until its rate has refilled it. */
  spend(keyIndex: number, ratePerS: number, tokens: number, nowMs: number): void {
    const first = this.lock(keyIndex);
    this.settle(keyIndex, this.spentAt(keyIndex, ratePerS, nowMs) + tokens, nowMs);
    this.addTaken(keyIndex, tokens);
    this.mark(keyIndex);
    this.unlock(first);
  }

  /** Gives one of that day's quota back; the day may be over by now. */
  refund(keyIndex: number, day: number): void {
    const first = this.lock(keyIndex);
    const isToday = this.cell(first + DAY) === day;
    const cell = first + (isToday ? USED : USED_BEFORE);
    if ((isToday || this.cell(first + DAY_BEFORE) === day) && this.cell(cell) !== 0) {
      this.cells[cell] = this.cell(cell) - 1;
      this.mark(keyIndex);
    }
    this.unlock(first);
  }

  /** Milliseconds until the bucket holds a whole token. */
  waitMs(keyIndex: number, ratePerS: number, nowMs: number): number {
    const first = this.lock(keyIndex);
    const excess = this.spentAt(keyIndex, ratePerS, nowMs) + 1 - BURST_S * ratePerS;
    this.unlock(first);
    return Math.max(0, (excess * 1000) / ratePerS);
  }

  #takeToken(keyIndex: number, ratePerS: number | null, nowMs: number): boolean {
    if (ratePerS === null) return true;
    const spent = this.spentAt(keyIndex, ratePerS, nowMs);
    const isAffordable = spent + 1 <= BURST_S * ratePerS + TOKEN_TOLERANCE;
    this.settle(keyIndex, isAffordable ? spent + 1 : spent, nowMs);
    if (isAffordable) this.addTaken(keyIndex, 1);
    return isAffordable;
  }

  #reserve(first: number, dailyMax: number | null, day: number): number {
    const charged = this.#openDay(first, day);
    const used = this.cell(first + USED);
    if (dailyMax !== null && used >= this.mostOn(first, charged, dailyMax)) return DAILY_EXCEEDED;
    this.cells[first + USED] = used + 1;
    return charged;
  }

  /** Starts the count of a new day. Returns the day that is being counted. */
  #openDay(first: number, day: number): number {
    const counted = this.cell(first + DAY);
    // The day before: another thread's clock was past midnight already, and its day goes on. Any earlier day:
    // the clock had been wrong, and its future must not keep the quota shut.
    if (day === counted || day === counted - 1) return counted;
    this.cells[first + DAY_BEFORE] = counted;
    this.cells[first + USED_BEFORE] = this.cell(first + USED);
    this.cells[first + DAY] = day;
    this.cells[first + USED] = 0;
    return day;
  }
}
