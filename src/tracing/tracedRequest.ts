import type { KEY_KINDS, RefusalCause } from '../contract/metrics.js';
import type { TraceParent } from './traceparent.js';

/** The stages that a request went through, in order, with their milliseconds. */
export type TracedStages = readonly (readonly [
  stage: 'receive' | 'read' | 'queue' | 'dispatch' | 'infer' | 'reply',
  ms: number,
])[];

/**
 * A sampled request that has ended: plain data, so it can cross threads. Contains no key, no score and nothing from
 * the body.
 */
export interface TracedRequest {
  readonly parent: TraceParent;
  readonly requestId: string;
  /** When its head arrived, in milliseconds since 1970. */
  readonly startedMs: number;
  readonly totalMs: number;
  readonly stages: TracedStages;
  /** Undefined if the caller hung up before the response. */
  readonly status: number | undefined;
  /** Why it was refused; undefined if it was not. */
  readonly cause: RefusalCause | undefined;
  readonly keyKind: Exclude<(typeof KEY_KINDS)[number], 'none'>;
  readonly bodyBytes: number;
  /** Requests in the model run that scored it; undefined if it was not scored. */
  readonly batchRows: number | undefined;
  /** Lines of a list; undefined where it was none, or was refused as a whole. */
  readonly lines: number | undefined;
}
