import type { PredictionRequest } from '../night/request.js';
import type { ExplainSettings } from '../night/explained/explanation.js';
import type { MeasuringConstants } from '../night/measuredRow.js';
import type { Thresholds } from '../night/respond.js';

/** Turns requests into scores. */
export interface Scorer {
  readonly model: ScoringModel;
  /** Takes `request` in at once (its buffers are free again on return); the scores go to `handler`. */
  admit(request: PredictionRequest, handler: ScoreHandler): AdmitOutcome;
  /**
   * Like `admit`, for a model with `explainSettings`: the scores come with an explanation, without delaying
   * other requests.
   */
  admitExplained(request: PredictionRequest, handler: ScoreHandler): AdmitOutcome;
  /** The lane for lines of lists. */
  readonly lines: LineLane;
  /** The lane for lines to be explained by a model with `explainSettings`. */
  readonly explainedLines: LineLane;
  /** Collects finished runs if the queue is full. @returns whether one more request may come in */
  makeRoom(): boolean;
  /** Requests admitted and not yet scored. */
  readonly pending: number;
  /** The highest number pending at once since the last call. */
  takeMost(): number;
  /** Pending requests that wait for a worker. */
  readonly queued: number;
  /** Resolves when no request is pending and no run is in flight. */
  drained(): Promise<void>;
  /**
   * Hands out no more runs: requests then wait for the end of the process. Resolves when no worker is starting or runs,
   * but for those that hang: the process may exit then.
   */
  halt(): Promise<void>;
  /** Ends the workers. Call it only after draining. */
  close(): Promise<void>;
}

/** Times of a scored request, in milliseconds. */
export interface Timing {
  /** From admission to the start of the model run, including the way to the worker. */
  readonly queueMs: number;
  /**
   * Part of `queueMs`: the way to the worker and back, including the wait for the batch that the worker was
   * running.
   */
  readonly dispatchMs: number;
  /** The model run that held the request. */
  readonly inferMs: number;
  /** Requests in that run. */
  readonly rows: number;
  /** When the request was admitted and when its scores came back, on the scorer's clock. */
  readonly admittedMs: number;
  readonly scoredMs: number;
}

/** The model that scores, as far as answers need it. */
export interface ScoringModel {
  readonly version: string;
  readonly thresholds: Thresholds;
  /** Its constants for measurements; undefined if it takes none. */
  readonly measured?: MeasuringConstants;
  /** Its settings of explanations; undefined if it has none. */
  readonly explainSettings?: ExplainSettings;
}

/** A model's output for one request: `scores[offset … offset + OUTPUT_COLUMNS)`, finite and in range. */
export interface ScoredRow {
  readonly scores: Float32Array;
  readonly offset: number;
  readonly model: ScoringModel;
  /** In the order of `EXPLANATION`, if it was requested. */
  readonly explanation?: Float32Array | undefined;
}

/** Waits for the scores of one request. Called exactly once, unless gone. */
export interface ScoreHandler {
  /** Whether the caller no longer waits. */
  readonly isGone: boolean;
  /** When the caller stops waiting, on the scorer's clock; undefined if it gave no limit. */
  readonly expiresMs?: number | undefined;
  /** Whether it is no caller, so that the deadline of callers does not bound its wait. */
  readonly isPatient?: boolean;
  /** Index of the key that explained requests count for; undefined if they count for none. */
  readonly holder?: number | undefined;
  /** `row` is valid until this returns. */
  scored(row: ScoredRow, timing: Timing): void;
  failed(cause: 'expired' | 'fault'): void;
}

/** `shareFull`: the key has its share of the explained requests that may be pending. */
export type AdmitOutcome = 'admitted' | 'saturated' | 'shareFull';

/**
 * The lane for lists. All places of a list's lines are reserved at once, and the lines follow as workers
 * become free. A single request waits for at most one batch of lines.
 */
export interface LineLane {
  /** Most lines of one list. */
  readonly linesMax: number;
  /** Whether a line may be handed in now. */
  readonly hasLineRoom: boolean;
  /** Called when `hasLineRoom` may be true again. */
  onLineRoom: (() => void) | undefined;
  /** Reserves places for this many lines, all or none. `holder` as in `ScoreHandler`. */
  reserve(lines: number, holder: number | undefined): AdmitOutcome;
  /** Gives back the places of lines that are not handed in. */
  release(lines: number, holder: number | undefined): void;
  /**
   * Like `Scorer.admit`, for a line that has its place; call it only if `hasLineRoom`. `arrivedMs`: when the
   * place was reserved, on the scorer's clock.
   */
  admitLine(request: PredictionRequest, handler: ScoreHandler, arrivedMs: number): void;
}
