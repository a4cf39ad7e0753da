import { bucketBound, quantile, type MetricReader } from '../base/metrics.js';
import { METRICS, type LoopCatalogue } from '../contract/metrics.js';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';

/** How far two models lie apart, in points; NaN (null in JSON) where nothing was compared. */
export interface Differences {
  readonly compared: number;
  /** Had no room or no time. */
  readonly dropped: number;
  /** Gave no sound scores. */
  readonly errors: number;
  readonly scores: readonly ScoreDifference[];
  /** Labels that the other model says otherwise. */
  readonly flips: readonly { readonly label: string; readonly count: number }[];
  /** Model runs of the other model, in milliseconds. */
  readonly run: { readonly meanMs: number; readonly p99Ms: number };
}

export interface ScoreDifference {
  readonly score: string;
  /** With its sign: above 0 where the other model says more. */
  readonly meanSigned: number;
  readonly mean: number;
  /** Half of the differences are at most so large; of a hundred, 99. Within a bucket of the histogram. */
  readonly p50: number;
  readonly p99: number;
  /** How many fell below each bound, and not below the one before: the last bound is that of all. */
  readonly histogram: readonly { readonly below: number; readonly count: number }[];
}

/** Bounds of the histogram that is drawn, in points: fewer than are kept. */
const BOUNDS: readonly number[] = [0.25, 0.5, 1, 2, 4, 8, 16, Infinity];

/** What was counted of the shadow model, or of a comparison. */
export function differencesIn(reader: MetricReader<LoopCatalogue>): Differences {
  const compared = reader.total('shadowCompared');
  const run = reader.histogram('shadowRun');
  return {
    compared,
    dropped: reader.total('shadowDropped'),
    errors: reader.total('shadowErrors'),
    scores: SCORE_FIELDS.map((score, cell) => {
      const { sum, buckets } = reader.histogram('shadowDifference', cell);
      return {
        score,
        meanSigned: short(reader.total('shadowSigned', cell) / compared),
        mean: short(sum / compared),
        p50: short(quantile(METRICS.shadowDifference, buckets, 0.5)),
        p99: short(quantile(METRICS.shadowDifference, buckets, 0.99)),
        histogram: drawn(buckets),
      };
    }),
    flips: LABEL_FIELDS.map((label, cell) => ({ label, count: reader.total('shadowFlips', cell) })),
    run: {
      meanMs: short(run.sum / compared),
      p99Ms: short(quantile(METRICS.shadowRun, run.buckets, 0.99)),
    },
  };
}

function drawn(buckets: Float64Array): ScoreDifference['histogram'] {
  const counts = BOUNDS.map(() => 0);
  buckets.forEach((count, bucket) => {
    const bound = bucketBound(METRICS.shadowDifference, bucket);
    const place = BOUNDS.findIndex((most) => bound <= most);
    counts[place] = (counts[place] ?? 0) + count;
  });
  return BOUNDS.map((below, place) => ({ below, count: counts[place] ?? 0 }));
}

function short(value: number): number {
  return Math.round(value * 1000) / 1000;
}
