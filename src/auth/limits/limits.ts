/** The limits of keys: a token bucket and a daily quota for each, exact across the threads that share their memory. */
import { DayQuotas } from './dayQuotas.js';
import { LimitsMemory } from './limitsMemory.js';
import { BURST_S, TokenBuckets } from './tokenBuckets.js';

/** `Limits.take`: the token bucket is empty. */
export const BURST_EXCEEDED = -1;

/** The limits of one key; `null`: unlimited. */
export interface KeyLimits {
  readonly ratePerS: number | null;
  readonly dailyMax: number | null;
}

/** The counts of one key. */
export type Tally = ReturnType<Limits['tally']>;

/** All calls are synchronous. */
export class Limits extends LimitsMemory {
  private readonly buckets = new TokenBuckets(this);
  private readonly days = new DayQuotas(this);

  /**
   * Charges one request: one token and one of the day's quota (counted even without a quota). Returns the day
   * charged, or `BURST_EXCEEDED`, `DAILY_EXCEEDED` or `SHARE_EXCEEDED`; the latter two have spent the token too.
   */
  take(keyIndex: number, { ratePerS, dailyMax }: KeyLimits, nowMs: number): number {
    const first = this.lock(keyIndex);
    const isAffordable = this.buckets.take(first, ratePerS, nowMs);
    const outcome = isAffordable ? this.days.reserve(first, dailyMax, nowMs) : BURST_EXCEEDED;
    if (isAffordable) this.mark(keyIndex);
    this.unlock(first);
    return outcome;
  }

  /**
   * Charges an admitted request further `tokens` and `count` more of the day's quota, all or nothing. Returns as `take`.
   */
  takeMore(
    keyIndex: number,
    { ratePerS, dailyMax }: KeyLimits,
    { tokens, count }: { readonly tokens: number; readonly count: number },
    nowMs: number,
  ): number {
    const first = this.lock(keyIndex);
    const isAffordable = this.buckets.holds(first, ratePerS, tokens, nowMs);
    const outcome = isAffordable ? this.days.reserve(first, dailyMax, nowMs, count) : BURST_EXCEEDED;
    if (outcome >= 0) {
      this.buckets.spend(first, ratePerS, tokens, nowMs);
      this.mark(keyIndex);
    }
    this.unlock(first);
    return outcome;
  }

  /** As `TokenBuckets.spend`. */
  spend(keyIndex: number, ratePerS: number, tokens: number, nowMs: number, isOwn = true): void {
    const first = this.lock(keyIndex);
    this.buckets.spend(first, ratePerS, tokens, nowMs, isOwn);
    if (isOwn) this.mark(keyIndex);
    this.unlock(first);
  }

  /** Returns `count` to that day's quota; the day may be over by now. */
  refund(keyIndex: number, day: number, count = 1): void {
    const first = this.lock(keyIndex);
    if (this.days.refund(first, day, count)) this.mark(keyIndex);
    this.unlock(first);
  }

  /** How many predictions are left of the day's quota; Infinity without one. */
  leftOfDay(keyIndex: number, dailyMax: number | null, nowMs: number): number {
    return dailyMax === null
      ? Infinity
      : this.locked(keyIndex, (first) => this.days.left(first, dailyMax, nowMs));
  }

  /** How many tokens the bucket holds; below 0 in debt. */
  tokensLeft(keyIndex: number, ratePerS: number, nowMs: number): number {
    return (
      BURST_S * ratePerS - this.locked(keyIndex, (first) => this.buckets.spentAt(first, ratePerS, nowMs))
    );
  }

  /** The counts of a key, all read at one moment. */
  tally(keyIndex: number, { ratePerS }: Pick<KeyLimits, 'ratePerS'>, nowMs: number) {
    return this.locked(keyIndex, (first) => ({
      ...this.days.counted(first),
      taken: this.buckets.taken(first),
      spent: this.buckets.spentAt(first, ratePerS, nowMs),
    }));
  }

  /** As `DayQuotas.limit`. */
  limit(keyIndex: number, day: number, most: number, isSpent: boolean): void {
    this.locked(keyIndex, (first) => this.days.limit(first, day, most, isSpent));
  }

  /** Sets the count from before a restart. */
  restore(keyIndex: number, day: number, used: number): void {
    this.locked(keyIndex, (first) => this.days.restore(first, day, used));
  }

  private locked<Value>(keyIndex: number, work: (first: number) => Value): Value {
    const first = this.lock(keyIndex);
    const value = work(first);
    this.unlock(first);
    return value;
  }
}
