/** The metrics of an event loop itself: its gauges, its lateness, collections of garbage, processor time. */
import { constants, performance, PerformanceObserver } from 'node:perf_hooks';
import { Observer } from '../base/observer.js';
import { GC_KINDS, type LoopRecorders } from '../contract/metrics.js';
import type { Clock } from '../base/clock.js';
import { openRanMs } from '../base/threadTimes.js';

/** The current state of an event loop: its gauges. */
export interface LoopState extends Readonly<
  Record<'pending' | 'queued' | 'recordingsPending' | 'connections' | 'heldBytes' | 'loopLag', number>
> {
  /** The highest number pending at once since the last reading. */
  readonly most: number;
}

/** Interval of reading gauges: a scrape or the dashboard sees values at most this old. */
const PERIOD_MS = 250;
const LOOKS_A_SECOND = 1000 / PERIOD_MS;

const GC_NAMES: Readonly<Record<number, (typeof GC_KINDS)[number]>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak',
};

/**
 * Writes the metrics of this thread's event loop, as opposed to those of requests. Returns a function that
 * ends it.
 */
export function watchLoop(
  metrics: LoopRecorders,
  state: () => LoopState,
  onProblem: (error: Error) => void,
): () => void {
  const cpu = openRanMs();
  const mosts = new Float64Array(LOOKS_A_SECOND);
  let looks = 0;
  const look = (): void => {
    const { most, ...now } = state();
    mosts[looks++ % LOOKS_A_SECOND] = most;
    metrics.pendingMost.set(0, Math.max(...mosts));
    for (const [gauge, value] of Object.entries(now)) metrics[gauge as keyof typeof now].set(0, value);
    metrics.loopBusy.set(0, performance.eventLoopUtilization().active);
    const ranMs = cpu.ms();
    if (ranMs > 0) metrics.loopCpu.set(0, ranMs);
  };
  const observer = new Observer({ look, onProblem }, PERIOD_MS);
  const stopWatchingGc = watchGc(metrics);
  return () => {
    observer.stop();
    stopWatchingGc();
    look();
    cpu.close();
  };
}

function watchGc({ gcPauses, gcTime }: LoopRecorders): () => void {
  const observer = new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries()) {
      const kind = GC_NAMES[(detail as { readonly kind: number }).kind];
      if (kind === undefined) continue;
      const cell = GC_KINDS.indexOf(kind);
      gcPauses.add(cell);
      gcTime.add(cell, duration);
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

const LAG_PERIOD_MS = 20;

/** How late this thread's event loop is. */
export class LoopLag {
  private expectedMs: number;
  private lastMs = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {
    this.expectedMs = clock.monotonicMs() + LAG_PERIOD_MS;
    this.timer = setInterval(() => this.tick(), LAG_PERIOD_MS).unref();
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
    this.expectedMs = nowMs + LAG_PERIOD_MS;
  }
}
