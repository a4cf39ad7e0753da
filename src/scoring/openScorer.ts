import { systemClock } from '../base/clock.js';
import type { Log } from '../process/log.js';
import { MetricWriter } from '../base/metrics.js';
import type { Config } from '../config/options.js';
import { BATCH_VARIANTS, type BatchVariant } from '../contract/graphVariant.js';
import { METRICS } from '../contract/metrics.js';
import type { Bundle } from '../model/bundle.js';
import { modelLabel } from '../model/manifest.js';
import { Batcher, type AnswerListener } from './batcher.js';
import { checkGolden } from './golden.js';
import { blocksFor, openPool } from './pool.js';
import type { Scorer } from './scorer.js';

/** What a model needs to score, with or without a listener in front of it. */
export interface ScorerSetup {
  readonly config: Config;
  readonly bundle: Bundle;
  /** This scorer's share of the process's workers. */
  readonly workers: number;
  /** Event loops of the process, each with a scorer: the queue is divided by them. */
  readonly loops: number;
  /** Where the event loop counts; absent in `acuity score`. */
  readonly metrics?: SharedArrayBuffer | undefined;
  /** Told of what is answered, the golden requests aside. */
  readonly onAnswered?: AnswerListener | undefined;
  /** As of `BatcherOptions`. */
  readonly gatherMs?: number;
  /** How much the workers give way to other threads, 0 to 19; 0 where it is absent. */
  readonly niceness?: number;
}

/**
 * Opens a model: its workers, its batcher, and the check of its golden scores.
 * @throws GoldenError, or the error of a worker that can't load it
 */
export async function openScorer(setup: ScorerSetup, log: Log, onHung: () => void): Promise<Scorer> {
  const { config, bundle, workers, loops, niceness = 0 } = setup;
  const { batchMax, deadlineMs, hangMs, intraOpThreads, interOpThreads, spinning } = config;
  const queueMax = Math.ceil(config.queueMax / loops);
  const count = scoringCounters(setup.metrics);
  const { explain } = bundle;
  const pool = openPool({
    workers,
    batchMax,
    blocks: blocksFor(queueMax, batchMax, workers),
    graphs: bundle.graphs,
    explain: explain && {
      graph: explain.graph,
      table: { typical: explain.table.typical, pooling: explain.table.pooling },
    },
    session: { intraOpThreads, interOpThreads, spinning },
    niceness,
    onWorkerLost(error) {
      count?.workerLost();
      log.error({ err: error }, 'worker lost');
    },
  });
  const { thresholds } = bundle.manifest;
  const scorer = new Batcher({
    model: {
      version: modelLabel(bundle.manifest),
      thresholds,
      ...(explain === undefined ? {} : { explains: explain.table }),
    },
    pool,
    batchMax,
    queueMax,
    deadlineMs,
    hangMs,
    gatherMs: setup.gatherMs,
    clock: systemClock,
    onFault(error) {
      count?.fault();
      log.error({ err: error }, 'batch failed');
    },
    ...(count === undefined ? {} : { onRun: count.run }),
    onHung,
  });
  try {
    await pool.warmUp();
    await checkGolden(bundle.golden, scorer);
  } catch (error) {
    await scorer.close();
    throw error;
  }
  scorer.onAnswered = setup.onAnswered;
  return scorer;
}

/** Counters of batches and workers; undefined where there is no metrics memory, as in `acuity score`. */
function scoringCounters(memory: SharedArrayBuffer | undefined):
  | {
      readonly run: (variant: BatchVariant, rows: number, inferMs: number) => void;
      readonly workerLost: () => void;
      readonly fault: () => void;
    }
  | undefined {
  if (memory === undefined) return undefined;
  const writer = new MetricWriter(METRICS, memory);
  const rowsOfBatches = writer.histograms('batchRows');
  const busy = writer.cells('workerBusy');
  const restarts = writer.cells('workerRestarts');
  const faults = writer.cells('batchFaults');
  const runTime = writer.cells('runTime');
  const base = BATCH_VARIANTS.indexOf('base');
  const history = BATCH_VARIANTS.indexOf('history');
  const explained = BATCH_VARIANTS.indexOf('explain');
  return {
    run(variant, rows, inferMs) {
      const graph = variant === 'history' ? history : variant === 'base' ? base : explained;
      rowsOfBatches.observe(graph, rows);
      runTime.add(graph, inferMs);
      busy.add(0, inferMs);
    },
    workerLost: () => restarts.add(0),
    fault: () => faults.add(0),
  };
}
