import type { MeasuredField } from '#rules/fields.js';

/**
 * A request that passed every check: one record of numbers per session. The views are the parser's reused memory:
 * they are valid until the next request is read.
 */
export interface PredictionRequest {
  /** Record i is `records[i · RECORD_LENGTH …]`: 0 is the current session, then the past ones, oldest first. */
  readonly records: Float64Array;
  /** Target i of past session i + 1 is `targets[i · TARGET_LENGTH …]`. */
  readonly targets: Float64Array;
  /** Number of past sessions, and of targets. */
  readonly pastCount: number;
  /**
   * The person's usual day, for explanations only: the long-run mean of each feature of the catalogue, in its
   * unit; NaN where too few nights are known. Undefined if the long run has too few nights.
   */
  readonly usual?: Float64Array | undefined;
  /**
   * How measurements move the scores (`night/measuredRow.ts`), for explanations only; undefined if none counts.
   */
  readonly adjustments?: Float64Array | undefined;
}

/** A measurement as given in a request. */
export interface GivenMeasurement {
  readonly score: MeasuredField;
  /** 0 to 100; for a label its word. */
  readonly value: number | 'Low' | 'High';
  /** Days since 1970. */
  readonly day: number;
  /** Undefined: the model's. */
  readonly reliability: number | undefined;
  /** Whose raw result was sent; undefined if the value itself was. */
  readonly test?: string | undefined;
}

/** The raw result of a test, as it was taken. */
export interface MeasuredTest extends IgnoredMeasurement {
  readonly test: string;
  /** Its percentile. */
  readonly value: number;
}

/** A measurement that came too late to count. */
export interface IgnoredMeasurement {
  readonly score: MeasuredField;
  readonly on: string;
}

/** The history that follows from a request, complete except for the scores of its session. */
export interface HistoryToCome {
  /** How its measurements move the scores (`night/measuredRow.ts`); undefined if none counts. */
  readonly adjustments: Float64Array | undefined;
  readonly ignored: readonly IgnoredMeasurement[];
  /** In the order of the request. */
  readonly tests: readonly MeasuredTest[];
  /** Whether it seems to be another person's. */
  readonly isOthers: boolean;
  /** Its text, given the network's output `row`: five scores and two probabilities from `offset` on. */
  text(
    row: { readonly scores: Float32Array; readonly offset: number },
    thresholds: { readonly valence: number; readonly arousal: number },
  ): string;
  /** Its bytes instead, with room for the checksum after them: the first `length` of the buffer. */
  bytes(...of: Parameters<HistoryToCome['text']>): Buffer;
  readonly length: number;
}

/** The place of a session in its history, and the measurements that it brings. */
export interface SessionPlace {
  /** Days since 1970; NaN: undated. */
  readonly day: number;
  readonly given: readonly GivenMeasurement[];
  /** Memory for the history to come, if it is long enough; else a new buffer is made. */
  readonly room?: Buffer | undefined;
}

/** A request just read. */
export interface ReadRequest extends PredictionRequest {
  /** Number of fields that the contract does not know, in all objects of the body. */
  readonly unknownFields: number;
  /** Whether an explanation is requested. */
  readonly explain: boolean;
  /** Whether the exact path read it, which takes several times as long as the fast path. */
  readonly isExact: boolean;
  /**
   * Numbers that took the parser several times as long as usual: long ones, a quarter of the samples left out, and half
   * the bytes of those that the parser could not decide.
   */
  readonly slowNumbers: number;
  /** Number of measurements that it brings. */
  readonly newMeasurements: number;
  /** Where it goes in the history that it brings; undefined without one, and once it is placed there. */
  readonly place?: SessionPlace | undefined;
  /** The history for the answer; undefined if none was sent. */
  readonly history: HistoryToCome | undefined;
  /**
   * Measurements that the reader passes on for another stage to add to a history; NaN as the day means the night of
   * the request. Undefined for none.
   */
  readonly measurements?: readonly GivenMeasurement[] | undefined;
  /** Number of samples sent for each series of the current session, in the order of the record. */
  readonly lengths: Uint32Array;
}
