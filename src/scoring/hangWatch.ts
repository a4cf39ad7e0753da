import type { Batch } from './batch.js';

export interface HangWatchOptions {
  /** Longest model run before the worker counts as hung. */
  readonly hangMs: number;
  /** Between two sweeps. */
  readonly periodMs: number;
  /** While a worker is being started, a run may have to wait for it. */
  readonly pool: { readonly isStarting: boolean };
  readonly nowMs: number;
}

/**
 * So much of the time between two sweeps counts as time that a run has taken, in sweeps: where more has passed, the
 * process was paused, and its workers with it.
 */
const SWEEPS_COUNTED = 2;
/** So much longer a run may take while a worker is being started, for which it may have to wait. */
const START_MS = 25_000;

/** Notices a worker that does not come back with its run. */
export class HangWatch {
  /** How long the batcher has been awake, to a sweep: runs are timed by it, so that no pause counts. */
  awakeMs = 0;
  private sweptMs: number;
  private hasHung = false;

  constructor(private readonly options: HangWatchOptions) {
    this.sweptMs = options.nowMs;
  }

  /** Looks at the runs under way. @returns whether one hangs; said once */
  sweep(nowMs: number, running: Iterable<Batch>): boolean {
    this.awakeMs += Math.min(nowMs - this.sweptMs, SWEEPS_COUNTED * this.options.periodMs);
    this.sweptMs = nowMs;
    if (this.hasHung || !this.isTooLong(running)) return false;
    this.hasHung = true;
    return true;
  }

  private isTooLong(running: Iterable<Batch>): boolean {
    const { hangMs, periodMs, pool } = this.options;
    // One sweep more, since a run may have begun right before one.
    const limitMs = hangMs + periodMs + (pool.isStarting ? START_MS : 0);
    for (const batch of running) if (this.awakeMs - batch.sentAwakeMs > limitMs) return true;
    return false;
  }
}
