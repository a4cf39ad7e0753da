/** Daily quotas, one for each key: how many predictions it was answered on each UTC day, and how many it may be. */
import { dayAt, msToNextDay } from '../../base/days.js';
import { type LimitsMemory, SET_BACK_MS } from './limitsMemory.js';

/** `reserve`: the day's quota is used up. */
export const DAILY_EXCEEDED = -2;
/** `reserve`: this replica's share of the day's quota is used up until it hears from the store. */
export const SHARE_EXCEEDED = -3;

/**
 * Cells of an entry. Three days are remembered, each followed by its count, the newest counted first: a clock may see
 * two wrong ones and come back.
 */
const [DAY, DAY_BEFORE, DAY_EARLIER] = [1, 10, 12];
const DAYS = [DAY, DAY_BEFORE, DAY_EARLIER] as const;
const [MOST_DAY, MOST, SPENT_DAY] = [3, 14, 15];
const INT32_MAX = 2 ** 31 - 1;

/** How much of what is left of a day's quota each of several replicas may answer until it hears from the store. */
export function shareOf(left: number, replicas: number): number {
  return Math.ceil(Math.max(0, left) / Math.max(1, replicas));
}

/** Call all methods under the key's lock; `first` is the first cell of its entry. */
export class DayQuotas {
  private readonly cells: Int32Array;

  constructor(private readonly memory: LimitsMemory) {
    this.cells = memory.cells;
  }

  /** Counts `count` more, if the quota holds them. Returns the day on which they count, or why they do not. */
  reserve(first: number, dailyMax: number | null, nowMs: number, count = 1): number {
    const day = this.openDay(first, nowMs);
    const used = this.cells[first + DAY + 1]! + count;
    if (dailyMax !== null && used > this.mostOn(first, day, dailyMax))
      return used > dailyMax || this.cells[first + SPENT_DAY] === day ? DAILY_EXCEEDED : SHARE_EXCEEDED;
    this.cells[first + DAY + 1] = used;
    return day;
  }

  /** Takes `count` off a day's count. Returns whether that is still known. */
  refund(first: number, day: number, count: number): boolean {
    const place = DAYS.find((cell) => this.cells[first + cell] === day);
    const used = place === undefined ? 0 : this.usedAt(first + place);
    if (place === undefined || used === 0) return false;
    this.cells[first + place + 1] = Math.max(0, used - count);
    return true;
  }

  left(first: number, dailyMax: number, nowMs: number): number {
    const most = this.mostOn(first, this.openDay(first, nowMs), dailyMax);
    return Math.max(0, most - this.cells[first + DAY + 1]!);
  }

  counted(first: number) {
    return {
      /** The UTC day of `used`, in days since 1970-01-01; 0 before the first count. */
      day: this.cells[first + DAY]!,
      used: this.usedAt(first + DAY),
      /** The last day counted before `day`: a later one where the clock was set back. */
      dayBefore: this.cells[first + DAY_BEFORE]!,
      usedBefore: this.usedAt(first + DAY_BEFORE),
    };
  }

  /** Sets the highest allowed count of a day; `isSpent`: all replicas together have used up its quota. */
  limit(first: number, day: number, most: number, isSpent: boolean): void {
    this.cells[first + MOST_DAY] = day;
    this.cells[first + MOST] = Math.min(most, INT32_MAX);
    this.cells[first + SPENT_DAY] = isSpent ? day : 0;
  }

  restore(first: number, day: number, used: number): void {
    this.cells.set([day, used], first + DAY);
  }

  /** Starts the count of a new day, or goes on with that of the day before. Returns the day being counted. */
  private openDay(first: number, nowMs: number): number {
    const counted = this.cells[first + DAY]!;
    const day = dayAt(nowMs);
    if (day === counted) return counted;
    // Another thread's clock is past midnight already, so keep its day.
    if (day === counted - 1 && msToNextDay(nowMs) <= SET_BACK_MS) return counted;
    // Any other day in the future: the clock was wrong. It must neither block today's quota nor give it again.
    let [moved, used] = [day, 0];
    for (const place of DAYS) {
      const here = [this.cells[first + place]!, this.cells[first + place + 1]!] as const;
      this.cells.set([moved, used], first + place);
      [moved, used] = here;
      if (moved === day) break;
    }
    // Found again: its count, which the loop has moved out of its place.
    if (moved === day) this.cells[first + DAY + 1] = used;
    return day;
  }

  /** The highest allowed count of a day, by default the quota divided by the replicas. */
  private mostOn(first: number, day: number, dailyMax: number): number {
    return this.cells[first + MOST_DAY] === day
      ? this.cells[first + MOST]!
      : shareOf(dailyMax, this.memory.replicas);
  }

  /** 32 bits without a sign, as they are read. */
  private usedAt(dayCell: number): number {
    return this.cells[dayCell + 1]! >>> 0;
  }
}
