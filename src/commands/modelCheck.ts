/** Checks whether a model folder can be served. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PAST_MAX } from '#rules/fields.js';
import { EXPLAIN_COMMAND } from '../contract/explanation.js';
import { createLog } from '../base/process/log.js';
import type { Config } from '../config/options.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { loadBundle, type Bundle } from '../model/bundle.js';
import { openPool, runOnce, type InferencePool } from '../score/pool.js';
import type { GraphVariant } from '../contract/graphVariant.js';
import { blockAt, explanationAt } from '../score/batchBuffers.js';
import { openScorer } from '../score/openScorer.js';

/** Not needed for serving, but don't trust a network without one. */
const CARD = 'MODEL_CARD.md';
/** Rows of the speed check, and how many runs of them are timed. */
const SPEED_ROWS = 32;
const SPEED_RUNS = 200;
/**
 * Fills every number of a record: no real session looks like this, and it drives most features to their bounds. A
 * negative count means that a series is missing.
 */
const EXTREMES = [-1e9, 0, 1e9] as const;

/**
 * `acuity model check DIR`: whether a bundle can be served. Checks names, shapes, feature hash and file hashes, both
 * graphs at every batch size, the golden scores through the whole path, valid scores for extreme rows, and the time
 * of a run. Prints a line for each; throws at the first that fails.
 */
export async function checkModel(
  folder: string,
  config: Config,
  print: (line: string) => void,
): Promise<void> {
  const bundle = await loadBundle(folder);
  const { name, version } = bundle.manifest;
  print(`ok  manifest: ${name} ${version}; features, tensors and file hashes match`);
  if (!existsSync(join(bundle.folder, CARD))) {
    print(
      `    no ${CARD}: readers of the scores can't know what the network was fitted to, or where it fails`,
    );
  }
  await checkGraphs(bundle, config, print);
  await checkServing(bundle, config, print);
}

async function checkGraphs(bundle: Bundle, config: Config, print: (line: string) => void): Promise<void> {
  const { intraOpThreads, interOpThreads, spinning } = config;
  const pool = openPool({
    workers: 1,
    batchMax: SPEED_ROWS,
    blocks: 1,
    graphs: bundle.graphs,
    explain: bundle.explain,
    session: { intraOpThreads, interOpThreads, spinning },
    onWorkerLost: () => undefined, // the run that it interrupted rejects
  });
  try {
    for (const variant of ['base', 'history'] as const) {
      await checkBatches(pool, variant);
      print(`ok  ${variant}: runs batches of 1 to ${SPEED_ROWS}, scores sound at the edges of a row`);
      print(`    ${variant}: ${await medianMicros(pool, variant)} µs a row in batches of ${SPEED_ROWS}`);
    }
    if (bundle.explain === undefined)
      return print(`    no table to explain scores by: ${EXPLAIN_COMMAND} makes it`);
    await checkExplanations(pool);
    print('ok  explain: explanations are sound at the edges of a row');
  } finally {
    await pool.close();
  }
}

async function checkBatches(pool: InferencePool, variant: GraphVariant): Promise<void> {
  const block = blockAt(pool.buffers, SPEED_ROWS, 0);
  for (let rows = 1; rows <= SPEED_ROWS; rows++) {
    const fill = EXTREMES[rows % EXTREMES.length] ?? 0;
    block.records.fill(fill);
    block.targets.fill(fill > 0 ? 100 : 0);
    block.pastCounts.fill(PAST_MAX);
    await runOnce(pool, { variant, blockIndex: 0, first: 0, rows });
    for (let index = 0; index < rows * OUTPUT_COLUMNS; index++) {
      const value = block.scores[index] ?? NaN;
      const most = index % OUTPUT_COLUMNS < OUTPUT_COLUMNS - 2 ? 100 : 1;
      if (!(value >= 0 && value <= most)) {
        throw new Error(
          `${variant}: column ${index % OUTPUT_COLUMNS} is ${value} for records full of ${fill}`,
        );
      }
    }
  }
}

async function checkExplanations(pool: InferencePool): Promise<void> {
  const block = blockAt(pool.buffers, SPEED_ROWS, 0);
  for (const fill of EXTREMES) {
    block.records.fill(fill);
    await runOnce(pool, { variant: 'explain', blockIndex: 0, first: 0, rows: 1 });
    if (!explanationAt(block, 0).every(Number.isFinite)) {
      throw new Error(`explain: an explanation is not finite for records full of ${fill}`);
    }
  }
}

/** Median over the runs, in microseconds per row. */
async function medianMicros(pool: InferencePool, variant: GraphVariant): Promise<string> {
  const runs: number[] = [];
  for (let run = 0; run < SPEED_RUNS; run++) {
    runs.push(await runOnce(pool, { variant, blockIndex: 0, first: 0, rows: SPEED_ROWS }));
  }
  runs.sort((a, b) => a - b);
  return (((runs[SPEED_RUNS / 2] ?? NaN) * 1000) / SPEED_ROWS).toFixed(2);
}

/** Scores the golden requests through reader, features, batcher and pool: `openScorer` throws if they differ. */
async function checkServing(bundle: Bundle, config: Config, print: (line: string) => void): Promise<void> {
  const log = createLog({ level: 'silent' });
  const scorer = await openScorer({ config, bundle, workers: 1, loops: 1 }, log, () => undefined);
  await scorer.drained();
  await scorer.close();
  print(`ok  golden: ${bundle.golden.cases.length} cases within ${bundle.golden.tolerance} points`);
}
