import { workerData } from 'node:worker_threads';
import { OUTPUT_COLUMNS } from '../model/manifest.js';
import { blockAt, blockCountOf } from '../scoring/batchBuffers.js';
import type { BatchTask, WorkerChannel, WorkerSetup } from '../scoring/protocol.js';
import { featuriseRows } from './features.js';
import { serveChannel } from './channel.js';
import { giveWay } from './priority.js';
import { openGraph } from './session.js';

/** A worker thread: opens both graphs, then runs the batches that it is told to. */
const { graphs, options, buffers, batchMax, niceness } = workerData as WorkerSetup;
giveWay(niceness);

const sessions = {
  base: await openGraph('base', graphs.base, batchMax, options),
  history: await openGraph('history', graphs.history, batchMax, options),
};
const blocks = Array.from({ length: blockCountOf(buffers, batchMax) }, (_, blockIndex) =>
  blockAt(buffers, batchMax, blockIndex),
);

export function run(channel: WorkerChannel): Promise<never> {
  return serveChannel(channel, runBatch);
}

async function runBatch(task: BatchTask): Promise<number> {
  const { variant, blockIndex, first, rows } = task;
  const block = blocks[blockIndex];
  if (block === undefined) throw new RangeError(`no block ${blockIndex} in the buffers`);
  const session = sessions[variant];
  featuriseRows(block, task, session);
  const { scores, elapsedMs } = await session.run(rows);
  block.scores.set(scores, first * OUTPUT_COLUMNS);
  return elapsedMs;
}
