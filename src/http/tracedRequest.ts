/** A request to be traced, from its header to its place in a queue. */
import type { KEY_KINDS, RefusalCause } from '../contract/metrics.js';

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

/** The position of a request in its caller's trace. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** The caller's span, 16 hex digits. */
  readonly spanId: string;
}

const FORM =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([13579bdf])(?:-.*)?$/;
/** `00-` trace `-` span `-` flags, the shortest form. */
const LENGTH = 55;
/** The last hex digit of the flags if the lowest bit is set. */
const ODD = '13579bdf';

/**
 * The parent in a `traceparent` header with the sampled flag; undefined without the flag, and for an absent or
 * malformed header (W3C Trace Context, sections 3.2 and 4.3: a later version may append fields after the flags,
 * version 00 may not).
 */
export function sampledParent(header: string): TraceParent | undefined {
  // The flag first: most requests need no further check.
  if (header.length < LENGTH || !ODD.includes(header.charAt(LENGTH - 1))) return undefined;
  if (header.length > LENGTH && header.startsWith('00')) return undefined;
  const [, traceId, spanId] = FORM.exec(header) ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}

/** Most traced requests in transit from one event loop to the main thread; more are dropped. */
const UNREAD_MAX = 4096;

/** The number of messages that the main thread has not read yet, shared with an event loop. */
export class TraceQueue {
  private readonly unread: Int32Array;

  constructor(readonly memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.unread = new Int32Array(memory);
  }

  /** Sends by `post`; false, without sending, if too many wait already. */
  send(request: TracedRequest, post: (request: TracedRequest) => void): boolean {
    if (Atomics.load(this.unread, 0) >= UNREAD_MAX) return false;
    Atomics.add(this.unread, 0, 1);
    post(request);
    return true;
  }

  /** Call when one was read. */
  received(): void {
    Atomics.sub(this.unread, 0, 1);
  }
}
