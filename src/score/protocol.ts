import type { MessagePort } from 'node:worker_threads';
import type { BatchVariant } from '../contract/graphVariant.js';
import type { ExplainTable } from '../model/manifest.js';

/**
 * The messages between an event loop and its workers, types only. Requests lie in shared memory
 * (`batchBuffers.ts`); a ring in shared memory tells each worker which part of them to run (`taskRing.ts`);
 * for each, a number or an error comes back by a message port.
 */

/** Settings of ONNX Runtime in each worker. */
export interface SessionOptions {
  readonly intraOpThreads: number;
  readonly interOpThreads: number;
  readonly spinning: boolean;
}

/** The table by which a worker explains scores, beside the graphs. */
export type ExplainSetup = Pick<ExplainTable, 'typical' | 'pooling' | 'reach'>;

/** The settings of a worker, which it receives when it starts. */
export interface WorkerSetup {
  readonly graphs: { readonly base: string; readonly history: string };
  /** Only for a worker that explains scores. */
  readonly explain?: ExplainSetup | undefined;
  readonly session: SessionOptions;
  readonly buffers: SharedArrayBuffer;
  readonly batchMax: number;
  /** The worker's niceness, 0 to 19; 0 if absent. */
  readonly niceness?: number;
}

/** Run rows `first … first + rows` of block `blockIndex`; the scores go to the block's own output. */
export interface BatchTask {
  readonly variant: BatchVariant;
  readonly blockIndex: number;
  readonly first: number;
  readonly rows: number;
}

/** Milliseconds that the run took, or why it failed. */
export type BatchResult = number | Error;

/** The one task that the pool gives to a worker: to run the batches of `ring` until the worker ends. */
export interface WorkerChannel {
  readonly ring: SharedArrayBuffer;
  /** Where the results go, in the order of the batches. */
  readonly results: MessagePort;
}
