import { workerData } from 'node:worker_threads';
import { blockAt, slotsOf, type BatchResult, type BatchTask, type WorkerSetup } from '../scoring/messages.js';
import { openGraph } from './session.js';

/** A worker thread: opens both graphs, then runs the batches that it is told to. */
const { graphs, options, arena, batchMax } = workerData as WorkerSetup;

const sessions = {
  base: await openGraph('base', graphs.base, batchMax, options),
  history: await openGraph('history', graphs.history, batchMax, options),
};
const blocks = Array.from({ length: slotsOf(arena, batchMax) }, (_, slot) => blockAt(arena, batchMax, slot));

let previous: Promise<unknown> = Promise.resolve();

/**
 * One run after the other: the pool hands a worker its next batch early, and ONNX Runtime for Node reads the
 * tensors only in a later turn of the loop, so a second batch copied into them meanwhile would answer the first
 * one's callers with its own scores.
 */
export function run(task: BatchTask): Promise<BatchResult> {
  const result = previous.then(() => runNow(task));
  previous = result.catch(() => undefined);
  return result;
}

function runNow({ lane, slot, first, rows }: BatchTask): Promise<BatchResult> {
  const block = blocks[slot];
  if (block === undefined) throw new RangeError(`no block ${slot} in the arena`);
  return sessions[lane].run(block, first, rows);
}
