import type { Measurement } from '#acuity/load/measurement.js';
import type { Cell } from './plan.js';

/** One measurement of one peer. */
export interface Result extends Cell, Measurement {
  readonly peer: string;
  readonly repetition: number;
  readonly cpuMicrosPerRequest: number;
  /** The same for its first thread alone: its event loop, if it has one. */
  readonly mainCpuMicrosPerRequest: number;
  /** Samples during the measurement; the last one is at its end. */
  readonly rssBytes: readonly number[];
  readonly answersChecked: number;
}

export interface Comparison {
  readonly results: readonly Result[];
  /** One line each; with any, the figures are not to be used. */
  readonly faults: readonly string[];
}
