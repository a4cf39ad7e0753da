import type { KEY_KINDS, RefusalCause } from '../contract/metrics.js';
import type { TraceParent } from './traceparent.js';

/** The stages that a request went through, in order, each with its milliseconds. */
export type TracedStages = readonly (readonly [
  stage: 'receive' | 'read' | 'queue' | 'dispatch' | 'infer' | 'reply',
  ms: number,
])[];

/**
 * A sampled request that has ended: plain data, which may cross threads. Never a key, a score or anything out of a
 * body.
 */
export interface TracedRequest {
  readonly parent: TraceParent;
  readonly requestId: string;
  /** When its head had come, in milliseconds since 1970. */
  readonly startedMs: number;
  readonly totalMs: number;
  readonly stages: TracedStages;
  /** Undefined where the caller hung up before an answer. */
  readonly status: number | undefined;
  /** Why it was refused; undefined where it was not. */
  readonly cause: RefusalCause | undefined;
  readonly keyKind: Exclude<(typeof KEY_KINDS)[number], 'none'>;
  readonly bodyBytes: number;
  /** Requests in the model run that scored it; undefined where none did. */
  readonly batchRows: number | undefined;
}
