/** A worker thread: opens the graphs, then runs the batches it is sent. */
import { workerData } from 'node:worker_threads';
import { OUTPUT_COLUMNS } from '../../model/tensors.js';
import {
  adjustmentsAt,
  blockAt,
  blockCountOf,
  explanationAt,
  readRow,
  usualAt,
  type Block,
} from '../batchBuffers.js';
import type { BatchTask, WorkerChannel, WorkerSetup } from '../protocol.js';
import { EXPLAIN_ROWS, Explainer } from './explainer.js';
import { featuriseRows } from './features.js';
import { serveChannel } from './channel.js';
import { giveWay } from '../../base/process/priority.js';
import { openGraph } from './session.js';

const { graphs, explain, session: options, buffers, batchMax, niceness = 0 } = workerData as WorkerSetup;

const rowsMax = explain === undefined ? batchMax : Math.max(batchMax, EXPLAIN_ROWS);
const sessions = {
  base: await openGraph('base', graphs.base, rowsMax, options),
  history: await openGraph('history', graphs.history, rowsMax, options),
};
const explainer = explain && new Explainer(sessions, explain);
// Only now: with all cores busy, starting at low priority would take longer than a request may wait.
giveWay(niceness);
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
  if (variant === 'explain') return runExplained(block, first, rows);
  const session = sessions[variant];
  featuriseRows(block, { variant, first, rows }, session);
  const { scores, elapsedMs } = await session.run(rows);
  block.scores.set(scores, first * OUTPUT_COLUMNS);
  return elapsedMs;
}

/** The scores are identical to those of a request without `explain`. */
async function runExplained(block: Block, first: number, rows: number): Promise<number> {
  if (explainer === undefined) throw new Error('this network has no table to explain with');
  let totalMs = 0;
  for (let row = first; row < first + rows; row++) {
    const request = {
      ...readRow(block, row),
      usual: usualAt(block, row),
      adjustments: adjustmentsAt(block, row),
    };
    const { scores, elapsedMs } = await explainer.explain(request, explanationAt(block, row));
    block.scores.set(scores, row * OUTPUT_COLUMNS);
    totalMs += elapsedMs;
  }
  return totalMs;
}
