import type { MeasuredField } from '#rules/fields.js';

/**
 * A request that passed every check: a record of numbers for each session, one after the other. The views are
 * the parser's reused memory: they hold until the next request is read.
 */
export interface PredictionRequest {
  /** Record i is `records[i · RECORD_LENGTH …]`: 0 the current session, then the past ones, oldest first. No more. */
  readonly records: Float64Array;
  /** Target i of past session i + 1 is `targets[i · TARGET_LENGTH …]`. */
  readonly targets: Float64Array;
  /** Past sessions, and as many targets. */
  readonly pastCount: number;
  /**
   * What is usual for the person, for explanations alone: for each feature of the catalogue its mean in the long run, in its
   * unit; NaN where it is not known of enough nights. Undefined where the long run has too few nights.
   */
  readonly usual?: Float64Array | undefined;
  /** What measurements do to the scores (`pipeline/measuredRow.ts`), for explanations alone; undefined where none counts. */
  readonly adjustments?: Float64Array | undefined;
}

/** What a request says that was measured. */
export interface GivenMeasurement {
  readonly score: MeasuredField;
  /** 0 to 100; of a label its word. */
  readonly value: number | 'Low' | 'High';
  /** Days since 1970. */
  readonly day: number;
  /** Undefined: that of the model. */
  readonly reliability: number | undefined;
}

/** A measurement that came too late to count. */
export interface IgnoredMeasurement {
  readonly score: MeasuredField;
  readonly on: string;
}

/** The history that comes of a request: all of it but the scores of its session. */
export interface HistoryToCome {
  /** What the measurements in it do to the scores (`pipeline/measuredRow.ts`); undefined where none counts. */
  readonly adjustments: Float64Array | undefined;
  readonly ignored: readonly IgnoredMeasurement[];
  /** It seems to be that of another person. */
  readonly isOthers: boolean;
  /** Its text, once the network has said `row`: five scores and two probabilities from `offset` on. */
  text(
    row: { readonly scores: Float32Array; readonly offset: number },
    thresholds: { readonly valence: number; readonly arousal: number },
  ): string;
}

/** A request that was just read. */
export interface ReadRequest extends PredictionRequest {
  /** Fields that the contract does not know, in all its objects. */
  readonly unknownFields: number;
  /** Whether an explanation is asked for. */
  readonly explain: boolean;
  /** What the answer is to carry; undefined where no history was sent. */
  readonly history: HistoryToCome | undefined;
  /**
   * What was measured, where a reader hands that on and another adds it to a history; of the night of the request where
   * the day is NaN. Undefined for nothing.
   */
  readonly measurements?: readonly GivenMeasurement[] | undefined;
  /** Samples of each series of the current session as they were sent, in the order of the record. */
  readonly lengths: Uint32Array;
}
