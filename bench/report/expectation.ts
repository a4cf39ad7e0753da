import { spreadOf, type Spread } from '#acuity/load/statistics.js';
import type { Figure, ReportSection } from './section.js';

/** A figure of this run, and where another run that differs by nothing but chance will have its median. */
export interface Expectation {
  readonly name: string;
  readonly spread: Spread;
  readonly low: number;
  readonly high: number;
}

/** Two-sided 99 % quantiles of Student's t for 1, 2, … degrees of freedom; beyond the last one it is used on. */
const T_99 = [
  63.66, 9.92, 5.84, 4.6, 4.03, 3.71, 3.5, 3.36, 3.25, 3.17, 3.11, 3.05, 3.01, 2.98, 2.95, 2.92, 2.9, 2.88,
  2.86, 2.85,
] as const;

/**
 * The figures of `sections`, each with its 99 % prediction interval. Least and most of three repetitions are no such
 * thing: the median of three more lies outside them two times in five. Ratios scatter by factors, so logarithms are
 * counted; figures of one measure in one section scatter alike, so their variances are pooled. Empty with a single
 * repetition, which tells nothing of scatter.
 */
export function expectationsOf(sections: readonly Pick<ReportSection, 'figures'>[]): Expectation[] {
  return sections.flatMap(({ figures }) =>
    figures.flatMap((figure) => {
      const alike = figures.filter(({ measure }) => measure === figure.measure);
      const factor = factorOf(alike, figure.ratios.length);
      if (factor === undefined) return [];
      const spread = spreadOf(figure.ratios);
      return [{ name: figure.name, spread, low: spread.median / factor, high: spread.median * factor }];
    }),
  );
}

/** By how much the medians of two runs of `repetitions` may differ. */
function factorOf(alike: readonly Figure[], repetitions: number): number | undefined {
  const freedom = alike.reduce((sum, { ratios }) => sum + ratios.length - 1, 0);
  if (freedom === 0) return undefined;
  const variance = alike.reduce((sum, { ratios }) => sum + squaresOf(ratios.map(Math.log)), 0) / freedom;
  const t = T_99[Math.min(freedom, T_99.length) - 1] ?? NaN;
  // The variance of a median is π / 2 n of that of a value, and there are two of them.
  return Math.exp(t * Math.sqrt((variance * Math.PI) / repetitions));
}

/** Squared deviations from the mean, summed. */
function squaresOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}
