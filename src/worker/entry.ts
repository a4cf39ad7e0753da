import { workerData } from 'node:worker_threads';
import { OUTPUT_COLUMNS } from '../model/manifest.js';
import { blockAt, slotsOf, type BatchTask, type Lease, type WorkerSetup } from '../scoring/messages.js';
import { featuriseRows } from './features.js';
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

async function runBatch(task: BatchTask): Promise<number> {
  const { lane, slot, first, rows } = task;
  const block = blocks[slot];
  if (block === undefined) throw new RangeError(`no block ${slot} in the arena`);
  const session = sessions[lane];
  featuriseRows(block, task, session);
  const { scores, elapsedMs } = await session.run(rows);
  block.scores.set(scores, first * OUTPUT_COLUMNS);
  return elapsedMs;
}
