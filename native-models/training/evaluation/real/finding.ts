import type { Demand, Figure, Table } from '../section.js';

/** What one set of real data shows; undefined where the data are not there. */
export interface RealFinding {
  readonly demands: readonly Demand[];
  readonly tables: readonly Table[];
  readonly figures: readonly Figure[];
}
