import type { Chart } from './chart.js';

/** A ratio of neighbours in time, which another run can be held against: absolute figures differ by the minute. */
export interface Figure {
  readonly name: string;
  /** Figures of one measure in a section scatter alike. */
  readonly measure: 'throughput' | 'p99' | 'CPU';
  /** Repetition by repetition. */
  readonly ratios: readonly number[];
}

/** What a part of the report found: for the page, for the terminal and for the JSON file. */
export interface ReportSection {
  readonly name: string;
  readonly heading: string;
  /** How to read it, in a sentence or two. */
  readonly note: string;
  readonly charts: readonly Chart[];
  /** Each with a header row. */
  readonly tables: readonly (readonly (readonly string[])[])[];
  /** What a later run is held against. */
  readonly figures: readonly Figure[];
  /** Every figure, unrounded. */
  readonly data: unknown;
}
