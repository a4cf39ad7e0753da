/** The figures that symptoms are judged by, and the state that the main thread reports. */
import type { Config } from '../config/options.js';
import type { RefusalCause } from '../contract/metrics.js';
import type { Point } from './timeSeries.js';

/** The state that the main thread reports to the admin listener: plain data. */
export interface ProcessState {
  /** Whether requests are accepted. */
  readonly isReady: boolean;
  /** Where callers send requests; undefined before the service listens there. */
  readonly address: { readonly host: string | null; readonly port: number | null } | undefined;
  /** Name and version of the model in force, and why the one in the configured folder was refused, if it was. */
  readonly model: string;
  readonly modelRefusal: string | undefined;
  /** The same of the shadow model, if there is one. */
  readonly shadowModel: string | undefined;
  readonly shadowRefusal: string | undefined;
  /** Time since the key store was last seen. */
  readonly keyStoreAgeMs: number;
  readonly isStoreEmpty: boolean;
  readonly areLimitsLocal: boolean;
  readonly revocationsLost: number;
  readonly recordsUnreadable: number;
  /** Whether any key may be used. */
  readonly hasKeys: boolean;
}

/** Settings that a threshold may be a share of. */
export type RecentLimits = Pick<Config, 'deadlineMs' | 'queueMax' | 'bodiesMaxBytes'>;

/** The last seconds of the service, its state, and the limits to judge them by. */
export interface Recent
  extends RecentLimits, Pick<ProcessState, 'isReady' | 'modelRefusal' | 'keyStoreAgeMs' | 'hasKeys'> {
  /** Oldest first. */
  readonly points: readonly Point[];
}

/** Symptoms are judged over this many seconds: one slow second is no reason for an alarm. */
export const JUDGED_POINTS = 5;

/** The busiest event loop: the one that waits least for events. */
export interface LoopUse {
  /** Share of the time in which it did not wait for events. */
  readonly busy: number;
  /** Share of the time in which its thread ran on a core; NaN if unknown. */
  readonly onCore: number;
}

export function busiestLoop({ points }: Recent): LoopUse {
  const count = points.at(-1)?.loopsBusy.length ?? 0;
  let busiest: LoopUse = { busy: 0, onCore: NaN };
  for (let loop = 0; loop < count; loop++) {
    const busy = meanOf(points, (point) => point.loopsBusy[loop] ?? NaN);
    if (busy > busiest.busy) busiest = { busy, onCore: loopOnCore(points, loop) };
  }
  return busiest;
}

function loopOnCore(points: readonly Point[], loop: number): number {
  const known = points.filter(({ loopsOnCore }) => !Number.isNaN(loopsOnCore[loop] ?? NaN));
  return known.length === 0 ? NaN : meanOf(known, (point) => point.loopsOnCore[loop] ?? NaN);
}

/** Mean over the points that have the value; 0 if there are none. */
export function meanOf(points: readonly Point[], value: (point: Point) => number): number {
  const values = points.map(value).filter((one) => !Number.isNaN(one));
  return values.length === 0 ? 0 : sumOf(values) / values.length;
}

/** Sum over the last seconds of a value that each second counts. */
export function totalOf({ points }: Recent, value: (point: Point) => number): number {
  return sumOf(points.map(value));
}

/** Requests refused for one of `causes`. */
export function refusedFor(recent: Recent, causes: readonly RefusalCause[]): number {
  return totalOf(recent, ({ refusals }) => sumOf(causes.map((cause) => refusals[cause] ?? 0)));
}

/** The same as a share of all requests, 0 to 1. */
export function refusedShare(recent: Recent, causes: readonly RefusalCause[]): number {
  const all = totalOf(recent, ({ served, refusals }) => served + sumOf(Object.values(refusals)));
  return all === 0 ? 0 : refusedFor(recent, causes) / all;
}

/** Median over the seconds that have a p99: one late request sets the p99 of its own second, not of most. */
export function usualP99Ms({ points }: Recent): number {
  const known = points.map((point) => point.p99Ms).filter((ms) => !Number.isNaN(ms));
  return known.length < 2 ? 0 : (known.toSorted((a, b) => a - b)[Math.floor((known.length - 1) / 2)] ?? 0);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
