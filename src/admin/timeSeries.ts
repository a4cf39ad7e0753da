/** The last 15 minutes of the service, a point for each second. */
import { quantile, type KeysOfType, type MetricReader } from '../base/metrics.js';
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
export type Point = ReturnType<typeof pointOf>;

/** Fifteen minutes. */
export const POINTS_MAX = 900;
const TOTAL = STAGES.indexOf('total');
/** The stages that a request's time is made of, in order. */
export const PARTS: readonly string[] = STAGES.slice(0, TOTAL);

type CounterKey = KeysOfType<LoopCatalogue, 'counter'>;
/** Counters of events: of neither time nor several kinds. */
export type EventKey = {
  [Key in CounterKey]: LoopCatalogue[Key] extends { readonly scale: number } | { readonly labels: object }
    ? never
    : Key;
}[CounterKey];
const EVENTS = (Object.keys(METRICS) as EventKey[]).filter(
  (key) => METRICS[key].type === 'counter' && !('scale' in METRICS[key] || 'labels' in METRICS[key]),
);

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
  private last: MetricReader<LoopCatalogue>;
  private lastMs: number;

  constructor(private readonly options: TimeSeriesOptions) {
    this.last = options.reader.snapshot();
    this.lastMs = options.clock.monotonicMs();
  }

  /** Oldest first. */
  get points(): readonly Point[] {
    return this.kept;
  }

  /** Adds a point for the time since the last one. */
  sample(): Point {
    const before = this.last;
    const beforeMs = this.lastMs;
    this.last = this.options.reader.snapshot();
    this.lastMs = this.options.clock.monotonicMs();
    const point = pointOf(before, this.last, Math.max(1, this.lastMs - beforeMs), this.options);
    this.kept.push(point);
    if (this.kept.length > POINTS_MAX) this.kept.shift();
    return point;
  }
}

/** The point of the `elapsedMs` in which the counters went from `before` to `now`. */
function pointOf(
  before: MetricReader<LoopCatalogue>,
  now: MetricReader<LoopCatalogue>,
  elapsedMs: number,
  { clock, workers, rssBytes }: TimeSeriesOptions,
) {
  const since = now.since(before);
  const loops = [...Array(now.loopCount).keys()];
  // A loop's first reading covers all the time since its thread began.
  const shares = (key: 'loopBusy' | 'loopCpu'): number[] =>
    loops.map((loop) => (before.ofLoop(loop, key) === 0 ? NaN : share(since.ofLoop(loop, key), elapsedMs)));
  const refusals = REFUSAL_CAUSES.map((cause, cell) => [cause, since.total('refusals', cell)] as const);
  const { buckets, sum: totalMs } = since.histogram('stages', TOTAL);
  const served = sum(buckets);
  const latency = (q: number): number => short(quantile(METRICS.stages, buckets, q));
  const variants = GRAPH_VARIANTS.map((_, cell) => since.histogram('batchRows', cell));
  const batches = sum(variants.map((variant) => sum(variant.buckets)));
  const gcMs = sum(METRICS.gcTime.labels.kind.map((_, cell) => since.total('gcTime', cell)));
  return {
    /** The end of the second, in milliseconds since 1970. */
    atMs: Math.round(clock.nowMs()),
    /** Requests a second. */
    served: short((served * 1000) / elapsedMs),
    refused: short((sum(refusals.map(([, count]) => count)) * 1000) / elapsedMs),
    /** Latencies of the scored requests, from head to answer, in milliseconds. */
    p50Ms: latency(0.5),
    p99Ms: latency(0.99),
    p999Ms: latency(0.999),
    /**
     * Requests in flight: the second's mean and maximum, and those that wait for a worker. The mean is the
     * total time of the requests scored in that second, divided by it (Little's law), or the number in flight
     * now if that is larger.
     */
    inFlight: short(Math.max(now.total('pending'), totalMs / elapsedMs)),
    inFlightMost: now.total('pendingMost'),
    queued: now.total('queued'),
    /** Mean requests in a model run. */
    batchRows: short(sum(variants.map((variant) => variant.sum)) / batches),
    /** Mean milliseconds of a scored request in each stage, in the order of `PARTS`. */
    stagesMs: PARTS.map((_, cell) => short(since.histogram('stages', cell).sum / served)),
    /** All workers together, as a share of the second. A long run counts when it ends, so this may exceed 1. */
    workersBusy: short(since.total('workerBusy') / (elapsedMs * workers)),
    /**
     * Shares of the second, 0 to 1, for each event loop: not waiting for events, and on a core (NaN: unknown).
     */
    loopsBusy: shares('loopBusy').map((busy) => busy || 0),
    loopsOnCore: shares('loopCpu'),
    lagMs: short(Math.max(...loops.map((loop) => now.ofLoop(loop, 'loopLag')))),
    /** Share of the second in garbage collection, the event loops' threads summed. */
    gc: share(gcMs, elapsedMs),
    rssBytes: rssBytes(),
    connections: now.total('connections'),
    /** Bytes of bodies that are still arriving. */
    heldBytes: now.total('heldBytes'),
    /** Events of this second by their counter; counters without any are absent. */
    counted: Object.fromEntries(
      EVENTS.map((key) => [key, since.total(key)] as const).filter(([, count]) => count > 0),
    ) as Partial<Record<EventKey, number>>,
    /** Requests refused in this second, by cause; causes without any are absent. */
    refusals: Object.fromEntries(refusals.filter(([, count]) => count > 0)) as Partial<
      Record<RefusalCause, number>
    >,
  };
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

/** Rounds to a thousandth: more digits would only make the events longer. */
export function short(value: number): number {
  return Math.round(value * 1000) / 1000;
}
