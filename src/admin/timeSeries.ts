import { quantile, type MetricReader } from '../base/metrics.js';
import { GRAPH_VARIANTS } from '../contract/graphVariant.js';
import {
  METRICS,
  REFUSAL_CAUSES,
  STAGES,
  type LoopCatalogue,
  type RefusalCause,
} from '../contract/metrics.js';
import type { Clock } from '../base/clock.js';

/** One second of the service's life, as the dashboard draws it. NaN (null in JSON) if nothing happened. */
export interface Point {
  /** The end of the second, in milliseconds since 1970. */
  readonly atMs: number;
  /** Requests a second. */
  readonly served: number;
  readonly refused: number;
  /** Of the scored requests, from head to answer, in milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /**
   * Requests in flight: the second's mean and maximum, and those that wait for a worker. The mean is the
   * total time of the requests scored in that second, divided by it (Little's law), or the number in flight
   * now if that is larger.
   */
  readonly inFlight: number;
  readonly inFlightMost: number;
  readonly queued: number;
  /** Mean requests in a model run. */
  readonly batchRows: number;
  /** Mean milliseconds of a scored request in each stage, in the order of `PARTS`. */
  readonly stagesMs: readonly number[];
  /** All workers together, as a share of the second. A long run counts when it ends, so this may exceed 1. */
  readonly workersBusy: number;
  /**
   * Shares of the second, 0 to 1, for each event loop: not waiting for events, and on a core (NaN: unknown).
   */
  readonly loopsBusy: readonly number[];
  readonly loopsOnCore: readonly number[];
  readonly lagMs: number;
  /** Share of the second in garbage collection, the event loops' threads summed. */
  readonly gc: number;
  readonly rssBytes: number;
  readonly connections: number;
  /** Connections closed as soon as they were opened. */
  readonly connectionsRefused: number;
  /** Bytes of bodies that are still arriving. */
  readonly heldBytes: number;
  /** Workers lost, and model runs that failed, in this second. */
  readonly workersLost: number;
  readonly runsFailed: number;
  /** Requests refused in this second, by cause; causes without any are absent. */
  readonly refusals: Readonly<Partial<Record<RefusalCause, number>>>;
}

/** Fifteen minutes. */
export const POINTS_MAX = 900;
const TOTAL = STAGES.indexOf('total');
/** The stages that a request's time is made of, in order. */
export const PARTS: readonly string[] = STAGES.slice(0, TOTAL);

/** The counters at one moment; a point is the difference between two. */
interface Snapshot {
  readonly monotonicMs: number;
  readonly served: number;
  readonly buckets: Float64Array;
  /** Total time of all scored requests. */
  readonly totalMs: number;
  readonly stagesMs: readonly number[];
  readonly batches: number;
  readonly rows: number;
  readonly workerBusyMs: number;
  readonly loopBusyMs: readonly number[];
  readonly loopCpuMs: readonly number[];
  readonly gcMs: number;
  readonly connectionsRefused: number;
  readonly workersLost: number;
  readonly runsFailed: number;
  readonly refusals: readonly number[];
}

export interface TimeSeriesOptions {
  readonly reader: MetricReader<LoopCatalogue>;
  readonly clock: Clock;
  readonly workers: number;
  readonly rssBytes: () => number;
}

/**
 * The last 15 minutes, one point a second. It reads counters that exist anyway, so it adds no cost to a
 * request.
 */
export class TimeSeries {
  private readonly kept: Point[] = [];
  private last: Snapshot;

  constructor(private readonly options: TimeSeriesOptions) {
    this.last = this.snapshot();
  }

  /** Oldest first. */
  get points(): readonly Point[] {
    return this.kept;
  }

  /** Adds a point for the time since the last one. */
  sample(): Point {
    const before = this.last;
    const now = this.snapshot();
    this.last = now;
    const point = this.between(before, now);
    this.kept.push(point);
    if (this.kept.length > POINTS_MAX) this.kept.shift();
    return point;
  }

  private between(before: Snapshot, now: Snapshot): Point {
    const { reader, clock, workers, rssBytes } = this.options;
    const elapsedMs = Math.max(1, now.monotonicMs - before.monotonicMs);
    const perSecond = 1000 / elapsedMs;
    const refused = now.refusals.map((count, cause) => count - (before.refusals[cause] ?? 0));
    const buckets = now.buckets.map((count, bucket) => count - (before.buckets[bucket] ?? 0));
    const served = now.served - before.served;
    const latency = (q: number): number => short(quantile(METRICS.stages, buckets, q));
    return {
      atMs: Math.round(clock.nowMs()),
      served: short(served * perSecond),
      refused: short(sum(refused) * perSecond),
      p50Ms: latency(0.5),
      p99Ms: latency(0.99),
      p999Ms: latency(0.999),
      inFlight: short(Math.max(reader.total('pending'), (now.totalMs - before.totalMs) / elapsedMs)),
      inFlightMost: reader.total('pendingMost'),
      queued: reader.total('queued'),
      batchRows: short((now.rows - before.rows) / (now.batches - before.batches)),
      stagesMs: now.stagesMs.map((ms, stage) => short((ms - (before.stagesMs[stage] ?? 0)) / served)),
      workersBusy: short((now.workerBusyMs - before.workerBusyMs) / (elapsedMs * workers)),
      loopsBusy: now.loopBusyMs.map((ms, loop) => shareSince(before.loopBusyMs[loop], ms, elapsedMs) || 0),
      loopsOnCore: now.loopCpuMs.map((ms, loop) => shareSince(before.loopCpuMs[loop], ms, elapsedMs)),
      lagMs: short(Math.max(...now.loopBusyMs.map((_, loop) => reader.ofLoop(loop, 'loopLag')))),
      gc: share(now.gcMs - before.gcMs, elapsedMs),
      rssBytes: rssBytes(),
      connections: reader.total('connections'),
      connectionsRefused: now.connectionsRefused - before.connectionsRefused,
      heldBytes: reader.total('heldBytes'),
      workersLost: now.workersLost - before.workersLost,
      runsFailed: now.runsFailed - before.runsFailed,
      refusals: Object.fromEntries(
        REFUSAL_CAUSES.map((cause, cell) => [cause, refused[cell] ?? 0] as const).filter(
          ([, count]) => count > 0,
        ),
      ),
    };
  }

  private snapshot(): Snapshot {
    const { reader, clock } = this.options;
    const { buckets, sum: totalMs } = reader.histogram('stages', TOTAL);
    const variants = GRAPH_VARIANTS.map((_, cell) => reader.histogram('batchRows', cell));
    const ofLoops = (key: 'loopBusy' | 'loopCpu'): number[] =>
      Array.from({ length: reader.loopCount }, (_, loop) => reader.ofLoop(loop, key));
    return {
      monotonicMs: clock.monotonicMs(),
      served: sum(buckets),
      buckets,
      totalMs,
      stagesMs: PARTS.map((_, cell) => reader.histogram('stages', cell).sum),
      batches: sum(variants.map((variant) => sum(variant.buckets))),
      rows: sum(variants.map((variant) => variant.sum)),
      workerBusyMs: reader.total('workerBusy'),
      loopBusyMs: ofLoops('loopBusy'),
      loopCpuMs: ofLoops('loopCpu'),
      gcMs: sum(METRICS.gcTime.labels.kind.map((_, cell) => reader.total('gcTime', cell))),
      connectionsRefused: reader.total('connectionsRefused'),
      workersLost: reader.total('workerRestarts'),
      runsFailed: reader.total('batchFaults'),
      refusals: REFUSAL_CAUSES.map((_, cell) => reader.total('refusals', cell)),
    };
  }
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let index = 0; index < values.length; index++) total += values[index] ?? 0;
  return total;
}

/** Gauges of an event loop are up to a quarter of a second old, so a share may seem to exceed 1. */
function share(part: number, whole: number): number {
  return short(Math.min(1, Math.max(0, part / whole)));
}

/** NaN at a loop's first reading, which covers all the time since its thread began, and without a reading. */
function shareSince(beforeMs: number | undefined, nowMs: number, elapsedMs: number): number {
  return beforeMs === undefined || beforeMs === 0 ? NaN : share(nowMs - beforeMs, elapsedMs);
}

/** Rounds to a thousandth: more digits would only make the events longer. */
function short(value: number): number {
  return Math.round(value * 1000) / 1000;
}
