import { quantile, type MetricReader } from '../base/metrics.js';
import { METRICS, type LoopCatalogue } from '../contract/metrics.js';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';

/** How far two models differ, in points; NaN (null in JSON) if nothing was compared. */
export interface Differences {
  readonly compared: number;
  /** Rows dropped for lack of room or time. */
  readonly dropped: number;
  /** Rows without valid scores. */
  readonly errors: number;
  readonly scores: readonly ScoreDifference[];
  /** How often each label of the other model differs. */
  readonly flips: readonly { readonly label: string; readonly count: number }[];
  /** Model runs of the other model, in milliseconds. */
  readonly run: { readonly meanMs: number; readonly p99Ms: number };
}

export interface ScoreDifference {
  readonly score: string;
  /** Signed: above 0 if the other model's scores are higher. */
  readonly meanSigned: number;
  readonly mean: number;
  /** The median and the 99th percentile of the differences, accurate to a bucket of the histogram. */
  readonly p50: number;
  readonly p99: number;
}

/** Reads the counters of the shadow model, or of a comparison. */
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
      };
    }),
    flips: LABEL_FIELDS.map((label, cell) => ({ label, count: reader.total('shadowFlips', cell) })),
    run: {
      meanMs: short(run.sum / compared),
      p99Ms: short(quantile(METRICS.shadowRun, run.buckets, 0.99)),
    },
  };
}

function short(value: number): number {
  return Math.round(value * 1000) / 1000;
}
