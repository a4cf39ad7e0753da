import { workerData } from 'node:worker_threads';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import {
  adjustmentsAt,
  blockAt,
  blockCountOf,
  explanationAt,
  readRow,
  usualAt,
  type Block,
} from '../scoring/batchBuffers.js';
import type { BatchTask, WorkerChannel, WorkerSetup } from '../scoring/protocol.js';
import { Explainer } from './explainer.js';
import { featuriseRows } from './features.js';
import { serveChannel } from './channel.js';
import { giveWay } from '../process/priority.js';
import { openExplainGraph, openGraph } from './session.js';

/** A worker thread: opens the graphs, then runs the batches it is sent. */
const {
  graphs,
  explain,
  runsExplainGraph = false,
  session: options,
  buffers,
  batchMax,
  niceness = 0,
} = workerData as WorkerSetup;

const sessions = {
  base: await openGraph('base', graphs.base, batchMax, options),
  history: await openGraph('history', graphs.history, batchMax, options),
};
const explainGraph = explain && (await openExplainGraph(explain.graph, options));
const explainer = runsExplainGraph && explainGraph && explain && new Explainer(explainGraph, explain.table);
// Opened only to check it: the workers that use it start with the first explained request.
if (!runsExplainGraph) await explainGraph?.release();
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

/** Scores each row as usual, then explains it: the scores are identical to those of a request without `explain`. */
async function runExplained(block: Block, first: number, rows: number): Promise<number> {
  if (!explainer) throw new Error('this network has no graph to explain with');
  let elapsedMs = 0;
  for (let row = first; row < first + rows; row++) {
    const request = {
      ...readRow(block, row),
      usual: usualAt(block, row),
      adjustments: adjustmentsAt(block, row),
    };
    const variant = request.pastCount > 0 ? 'history' : 'base';
    const session = sessions[variant];
    featuriseRows(block, { variant, first: row, rows: 1 }, session);
    const plain = await session.run(1);
    block.scores.set(plain.scores, row * OUTPUT_COLUMNS);
    elapsedMs += plain.elapsedMs;
    const scoreDay = async (day: Float32Array): Promise<Float32Array> => {
      session.inputs.session.set(day);
      const run = await session.run(1);
      elapsedMs += run.elapsedMs;
      return run.scores;
    };
    elapsedMs += await explainer.explain(request, plain.scores, 0, explanationAt(block, row), scoreDay);
  }
  return elapsedMs;
}
