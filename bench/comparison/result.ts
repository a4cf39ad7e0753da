import type { Measurement } from '#acuity/load/measurement.js';
import type { Cell } from './plan.js';

/** One measurement of one peer. */
export interface Result extends Cell, Measurement {
  readonly peer: string;
  readonly repetition: number;
  readonly cpuMicrosPerRequest: number;
  /** The same of its first thread alone: its event loop, where it has one. */
  readonly mainCpuMicrosPerRequest: number;
  /** In the course of the measurement; the last value is its end. */
  readonly rssBytes: readonly number[];
  readonly answersChecked: number;
}

export interface Comparison {
  readonly results: readonly Result[];
  /** Each in one line; where there is one, the figures are not to be used. */
  readonly faults: readonly string[];
}
