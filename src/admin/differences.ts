import { quantile, type MetricReader } from '../base/metrics.js';
import { METRICS, type LoopCatalogue } from '../contract/metrics.js';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { short } from './timeSeries.js';

/** How far two models differ, in points; NaN (null in JSON) if nothing was compared. */
export type Differences = ReturnType<typeof differencesIn>;

/** Reads the counters of the shadow model, or of a comparison. */
export function differencesIn(reader: MetricReader<LoopCatalogue>) {
  const compared = reader.total('shadowCompared');
  const run = reader.histogram('shadowRun');
  return {
    compared,
    /** Rows dropped for lack of room or time. */
    dropped: reader.total('shadowDropped'),
    /** Rows without valid scores. */
    errors: reader.total('shadowErrors'),
    scores: SCORE_FIELDS.map((score, cell) => {
      const { sum, buckets } = reader.histogram('shadowDifference', cell);
      return {
        score,
        /** Above 0 if the other model's scores are higher. */
        meanSigned: short(reader.total('shadowSigned', cell) / compared),
        mean: short(sum / compared),
        // Accurate to a bucket of the histogram.
        p50: short(quantile(METRICS.shadowDifference, buckets, 0.5)),
        p99: short(quantile(METRICS.shadowDifference, buckets, 0.99)),
      };
    }),
    /** How often each label of the other model differs. */
    flips: LABEL_FIELDS.map((label, cell) => ({ label, count: reader.total('shadowFlips', cell) })),
    /** Model runs of the other model, in milliseconds. */
    run: {
      meanMs: short(run.sum / compared),
      p99Ms: short(quantile(METRICS.shadowRun, run.buckets, 0.99)),
    },
  };
}
