/** Token buckets, one for each key: how many requests it may send at once, and in the long run. */
import { type LimitsMemory, SET_BACK_MS } from './limitsMemory.js';

/** Places among the readings of an entry. */
const SPENT = 2;
const SETTLED = 3;
const TAKEN = 4;

/** A bucket holds what its rate refills in this time. */
export const BURST_S = 2;
/** Tolerance for the rounding of refills: ten refills of a tenth make one token. */
const TOKEN_TOLERANCE = 1e-6;

/**
 * A bucket counts tokens spent, not tokens left, so zeroed memory is a full bucket at any time. Call all methods under
 * the key's lock; `first` is the first cell of its entry. A rate of `null` has no bucket.
 */
export class TokenBuckets {
  private readonly readings: Float64Array;

  constructor({ readings }: LimitsMemory) {
    this.readings = readings;
  }

  /** Takes one token, if there is one. */
  take(first: number, ratePerS: number | null, nowMs: number): boolean {
    if (ratePerS === null) return true;
    const spent = this.spentAt(first, ratePerS, nowMs);
    const isAffordable = isWithin(ratePerS, spent + 1);
    if (isAffordable) this.charge(first, spent + 1, 1, nowMs);
    else this.settle(first, spent, nowMs);
    return isAffordable;
  }

  holds(first: number, ratePerS: number | null, tokens: number, nowMs: number): boolean {
    return ratePerS === null || isWithin(ratePerS, this.spentAt(first, ratePerS, nowMs) + tokens);
  }

  /**
   * Spends `tokens` even if the bucket holds fewer: it is then in debt until refilled. `isOwn`: taken here, not by
   * another replica.
   */
  spend(first: number, ratePerS: number | null, tokens: number, nowMs: number, isOwn = true): void {
    if (ratePerS === null) return;
    this.charge(first, this.spentAt(first, ratePerS, nowMs) + tokens, isOwn ? tokens : 0, nowMs);
  }

  /** Tokens that the bucket lacks. */
  spentAt(first: number, ratePerS: number | null, nowMs: number): number {
    if (ratePerS === null) return 0;
    const elapsedMs = Math.max(0, nowMs - this.readings[(first >> 1) + SETTLED]!);
    return Math.max(0, this.readings[(first >> 1) + SPENT]! - (elapsedMs * ratePerS) / 1000);
  }

  /** All tokens ever taken here; a refill does not lower it. */
  taken(first: number): number {
    return this.readings[(first >> 1) + TAKEN]!;
  }

  private charge(first: number, spent: number, tokens: number, nowMs: number): void {
    this.settle(first, spent, nowMs);
    this.readings[(first >> 1) + TAKEN]! += tokens;
  }

  /** Sets the tokens spent as of `nowMs`. */
  private settle(first: number, spent: number, nowMs: number): void {
    this.readings[(first >> 1) + SPENT] = spent;
    // Two threads read their clocks before either holds the lock, so time may arrive out of order. Going back would
    // refill the difference twice.
    const settledMs = this.readings[(first >> 1) + SETTLED]!;
    if (nowMs > settledMs || nowMs < settledMs - SET_BACK_MS) this.readings[(first >> 1) + SETTLED] = nowMs;
  }
}

function isWithin(ratePerS: number, spent: number): boolean {
  return spent <= BURST_S * ratePerS + TOKEN_TOLERANCE;
}
