import type { PredictionRequest } from '../records/request.js';
import type { ExplainSettings } from '../pipeline/explanation.js';
import type { MeasuringConstants } from '../pipeline/measuredRow.js';
import type { Thresholds } from '../pipeline/respond.js';

/** What a scored request took, in milliseconds. */
export interface Timing {
  /** From admission to the start of the model run, the way to the worker included. */
  readonly queueMs: number;
  /** Of that, the way to the worker and back, waiting behind the batch that it was running included. */
  readonly dispatchMs: number;
  /** The model run that held the request. */
  readonly inferMs: number;
  /** Requests in that run. */
  readonly rows: number;
  /** When the request was admitted and when its scores came back, on the scorer's clock. */
  readonly admittedMs: number;
  readonly scoredMs: number;
}

/** The model that scores, as far as an answer tells of it. */
export interface ScoringModel {
  readonly version: string;
  readonly thresholds: Thresholds;
  /** What it says of measurements; undefined where it takes none. */
  readonly measured?: MeasuringConstants;
  /** What it says of its explanations; undefined where it has none. */
  readonly explainSettings?: ExplainSettings;
}

/** What a model said of one request: `scores[offset … offset + OUTPUT_COLUMNS)`, finite and in range. */
export interface ScoredRow {
  readonly scores: Float32Array;
  readonly offset: number;
  readonly model: ScoringModel;
  /** In the order of `EXPLANATION`, where it was asked for. */
  readonly explanation?: Float32Array | undefined;
}

/** Waits for the scores of one request: told exactly once, unless gone. */
export interface ScoreHandler {
  /** Nobody waits any more. */
  readonly isGone: boolean;
  /** When nobody waits any more, on the scorer's clock; undefined: no caller has said so. */
  readonly expiresMs?: number | undefined;
  /** The key that explained requests count for, by its index; undefined where they count for none. */
  readonly holder?: number | undefined;
  /** `row` holds until this returns. */
  scored(row: ScoredRow, timing: Timing): void;
  failed(cause: 'expired' | 'fault'): void;
}

export type AdmitOutcome = 'admitted' | 'saturated';
/** `shareFull`: the key has its share of the explained requests that may be pending. */
export type ExplainOutcome = AdmitOutcome | 'shareFull';

/** Turns requests into scores. */
export interface Scorer {
  readonly model: ScoringModel;
  /** Takes `request` in at once (its buffers are free again on return); the scores come to `handler`. */
  admit(request: PredictionRequest, handler: ScoreHandler): AdmitOutcome;
  /** As `admit`, for a model with `explainSettings`: the scores come with an explanation, and slow no one else. */
  admitExplained(request: PredictionRequest, handler: ScoreHandler): ExplainOutcome;
  /** Takes in what the workers have finished where the queue is full. @returns whether one more request may come in */
  makeRoom(): boolean;
  /** Requests admitted and not yet scored. */
  readonly pending: number;
  /** Most that were pending at once since this was last asked. */
  takeMost(): number;
  /** Of those pending, the requests that wait for a worker. */
  readonly queued: number;
  /** Resolves when no request is pending and no run is in flight. */
  drained(): Promise<void>;
  /** Resolves when no worker is being started. */
  started(): Promise<void>;
  /** Ends the workers; only when drained. */
  close(): Promise<void>;
}
