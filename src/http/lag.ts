import type { Clock } from '../base/clock.js';

const PERIOD_MS = 20;

/** How late this thread's event loop is. */
export class LoopLag {
  private expectedMs: number;
  private lastMs = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {
    this.expectedMs = clock.monotonicMs() + PERIOD_MS;
    this.timer = setInterval(() => this.tick(), PERIOD_MS).unref();
  }

  /** Lateness of the last timer in milliseconds. */
  get ms(): number {
    return this.lastMs;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private tick(): void {
    const nowMs = this.clock.monotonicMs();
    this.lastMs = Math.max(0, nowMs - this.expectedMs);
    this.expectedMs = nowMs + PERIOD_MS;
  }
}
