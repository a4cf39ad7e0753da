import type { Chart } from './chart.js';

/** What a part of the report found: for the page, for the terminal and for the JSON file. */
export interface ReportSection {
  readonly name: string;
  readonly heading: string;
  /** How to read it, in a sentence or two. */
  readonly note: string;
  readonly charts: readonly Chart[];
  /** Each with a header row. */
  readonly tables: readonly (readonly (readonly string[])[])[];
  /** Every figure, unrounded. */
  readonly data: unknown;
}
