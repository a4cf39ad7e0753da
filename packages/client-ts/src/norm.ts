/** How a test's raw results are spread among people: means and spreads by age and by sex. */
export interface Norm {
  /** What was done. */
  readonly title: string;
  /** The score that a percentile of it is a measurement of. More of the raw result is more of that score. */
  readonly score: 'attention' | 'memory' | 'reasoning' | 'stress';
  /** What a raw result counts, from `least` to `most`. */
  readonly unit: string;
  readonly least: number;
  readonly most: number;
  readonly isWhole: boolean;
  /** Where the numbers are from. */
  readonly source: string;
  /** Who was tested, and when. */
  readonly population: string;
  /** People in all, and the mean of them all. */
  readonly n: number;
  readonly mean: number;
  readonly sexes: Readonly<Record<'M' | 'F', { readonly n: number; readonly mean: number }>>;
  /** Completed years, both ends included; without the years between the bands the norm says nothing. */
  readonly ages: readonly {
    readonly from: number;
    readonly to: number;
    readonly n: number;
    readonly mean: number;
    readonly sd: number;
  }[];
}
