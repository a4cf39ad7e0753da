import type { MessagePort } from 'node:worker_threads';
import type { BatchVariant } from '../contract/graphVariant.js';
import type { ExplainTable } from '../model/explainTable.js';

/**
 * What crosses between an event loop and its workers, types only. Requests lie in shared memory (`batchBuffers.ts`);
 * each worker is told by a ring in shared memory which part of them to run (`taskRing.ts`); a number, or an error,
 * comes back for each by a message port.
 */

/** How ONNX Runtime is set up in each worker. */
export interface SessionOptions {
  readonly intraOpThreads: number;
  readonly interOpThreads: number;
  readonly spinning: boolean;
}

/** What a worker needs to explain scores: where the graph is, and what it does not know. */
export interface ExplainSetup {
  readonly graph: string;
  readonly table: Pick<ExplainTable, 'typical' | 'pooling'>;
}

/** What a worker is given when it starts. */
export interface WorkerSetup {
  readonly graphs: { readonly base: string; readonly history: string };
  readonly explain?: ExplainSetup;
  /** Whether the worker runs the graph of `explain`, or only sees whether it can be loaded. */
  readonly runsExplainGraph: boolean;
  readonly options: SessionOptions;
  readonly buffers: SharedArrayBuffer;
  readonly batchMax: number;
  /** How much the worker gives way to other threads, 0 to 19. */
  readonly niceness: number;
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

/** The one task that the pool gives to a worker: to run the batches of `ring`, for as long as it lives. */
export interface WorkerChannel {
  readonly ring: SharedArrayBuffer;
  /** Where the results go, in the order of the batches. */
  readonly results: MessagePort;
}
