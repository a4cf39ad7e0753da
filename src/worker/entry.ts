import { workerData } from 'node:worker_threads';
import { blockAt, slotsOf, type BatchTask, type Lease, type WorkerSetup } from '../scoring/messages.js';
import { serveLease } from './lease.js';
import { openGraph } from './session.js';

/** A worker thread: opens both graphs, then runs the batches that it is told to. */
const { graphs, options, arena, batchMax } = workerData as WorkerSetup;

const sessions = {
  base: await openGraph('base', graphs.base, batchMax, options),
  history: await openGraph('history', graphs.history, batchMax, options),
};
const blocks = Array.from({ length: slotsOf(arena, batchMax) }, (_, slot) => blockAt(arena, batchMax, slot));

export function run(lease: Lease): Promise<never> {
  return serveLease(lease, runBatch);
}

async function runBatch({ lane, slot, first, rows }: BatchTask): Promise<number> {
  const block = blocks[slot];
  if (block === undefined) throw new RangeError(`no block ${slot} in the arena`);
  return sessions[lane].run(block, first, rows);
}
