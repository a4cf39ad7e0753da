import type { Batch } from './batch.js';

export interface HangWatchOptions {
  /** Longest model run before the worker counts as hung. */
  readonly hangMs: number;
  /** Between two sweeps. */
  readonly periodMs: number;
  /** While a worker starts, a run may have to wait for it. */
  readonly pool: { readonly isStarting: boolean };
  readonly nowMs: number;
}

/**
 * At most this many sweeps' time counts between two sweeps: if more has passed, the process was paused, and
 * its workers with it.
 */
const SWEEPS_COUNTED = 2;
/** A run may take this much longer while a worker starts, because it may have to wait for that worker. */
const START_MS = 25_000;

/** Notices a worker that does not come back from its run. */
export class HangWatch {
  /**
   * How long the batcher has been awake, accurate to a sweep. Runs are timed by it, so pauses don't count.
   */
  awakeMs = 0;
  private sweptMs: number;
  private hasHung = false;

  constructor(private readonly options: HangWatchOptions) {
    this.sweptMs = options.nowMs;
  }

  /** Checks the current runs. @returns whether one hangs; true only once */
  sweep(nowMs: number, running: Iterable<Batch>): boolean {
    this.awakeMs += Math.min(nowMs - this.sweptMs, SWEEPS_COUNTED * this.options.periodMs);
    this.sweptMs = nowMs;
    if (this.hasHung || !this.isTooLong(running)) return false;
    this.hasHung = true;
    return true;
  }

  private isTooLong(running: Iterable<Batch>): boolean {
    const { hangMs, periodMs, pool } = this.options;
    // One more sweep, because a run may have begun just before one.
    const limitMs = hangMs + periodMs + (pool.isStarting ? START_MS : 0);
    for (const batch of running) if (this.awakeMs - batch.sentAwakeMs > limitMs) return true;
    return false;
  }
}
