/** How the raw results of a test are distributed among people: means and standard deviations by age and by sex. */
export interface Norm {
  /** What the person does in the test. */
  readonly title: string;
  /** The score that its percentile measures. A higher raw result means more of that score. */
  readonly score: 'attention' | 'memory' | 'reasoning' | 'stress';
  /** The unit of a raw result, which ranges from `least` to `most`. */
  readonly unit: string;
  readonly least: number;
  readonly most: number;
  readonly isWhole: boolean;
  /** The source of the numbers. */
  readonly source: string;
  /** The people who were tested, and when. */
  readonly population: string;
  /** The number of all people, and their mean. */
  readonly n: number;
  readonly mean: number;
  readonly sexes: Readonly<Record<'M' | 'F', { readonly n: number; readonly mean: number }>>;
  /** Completed years, both ends included; the norm does not cover the years between the bands. */
  readonly ages: readonly {
    readonly from: number;
    readonly to: number;
    readonly n: number;
    readonly mean: number;
    readonly sd: number;
  }[];
}
