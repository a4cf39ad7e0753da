import type { Config } from '../config/options.js';
import type { RefusalCause } from '../contract/metrics.js';
import type { Point } from './timeSeries.js';

/** What the process says of itself. */
export interface ProcessState {
  /** Whether requests are accepted. */
  isReady(): boolean;
  modelVersion(): string;
  /** Why the model in the configured folder was refused; undefined if it serves. */
  modelRefusal(): string | undefined;
  /** The version of the shadow model in force, and why the one in its folder was refused; undefined if there is none. */
  readonly shadow: { version(): string | undefined; refusal(): string | undefined };
  /** The state of the key store. */
  readonly keys: {
    /** Time since it was last seen. */
    readonly ageMs: number;
    readonly isLocal: boolean;
    readonly revocationsLost: number;
    readonly unreadable: number;
    readonly isStoreEmpty: boolean;
    /** Whether any key may be used. */
    readonly hasUsable: boolean;
  };
}

/** The last seconds of the service, and the limits to judge them by. */
export interface Recent extends Pick<Config, 'deadlineMs' | 'queueMax' | 'bodiesMaxBytes'> {
  /** Oldest first. */
  readonly points: readonly Point[];
  readonly isReady: boolean;
  readonly keyStoreAgeS: number;
  readonly hasKeys: boolean;
  readonly modelRefusal: string | undefined;
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
