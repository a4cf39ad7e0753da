import { systemClock, type Clock } from '../base/clock.js';
import type { Hang } from '../base/hangWatch.js';
import type { Log } from '../base/process/log.js';
import { NICENESS_MAX } from '../base/process/priority.js';
import type { Config } from '../config/options.js';
import { BATCH_VARIANTS } from '../contract/graphVariant.js';
import { loopRecorders } from '../contract/metrics.js';
import type { Bundle } from '../model/bundle.js';
import { modelLabel } from '../model/manifest.js';
import type { AnswerListener } from './answers.js';
import { Batcher } from './batcher.js';
import { EXPLAINED_ROWS_MAX } from './batchBuffers.js';
import { RoutingScorer } from './routingScorer.js';
import { checkGolden } from './golden.js';
import { blocksFor, openPool } from './pool.js';
import type { Scorer, ScoringModel } from './scorer.js';

/**
 * Opens a model: its workers, its batchers, and the check of its golden scores.
 * @throws GoldenError, or the error of a worker that can't load it
 */
export async function openScorer(setup: ScorerSetup, log: Log, onHung: HungListener): Promise<Scorer> {
  const { config, bundle, loops, workers, niceness = 0, gatherMs, onAnswered } = setup;
  const model: ScoringModel = {
    version: modelLabel(bundle.manifest),
    thresholds: bundle.manifest.thresholds,
    ...(bundle.manifest.measured && { measured: bundle.manifest.measured }),
    ...(bundle.explain && { explainSettings: bundle.explain }),
  };
  const open = batcherOpener(setup, model, log, onHung);
  const queueMax = Math.ceil(config.queueMax / loops);
  const linesMax = Math.max(1, Math.min(Math.floor(config.queueMax / 2), queueMax));
  const plain = open({ workers, niceness, batchMax: config.batchMax, queueMax, linesMax, gatherMs });
  const scorer = new RoutingScorer(plain, () => {
    const explainers = setup.explainers ?? { workers, niceness, queueMax };
    const explained = open({
      ...explainers,
      batchMax: EXPLAINED_ROWS_MAX,
      linesMax: Math.max(1, Math.floor(explainers.queueMax * SHARE_OF_HOLDER)),
      explainsEach: true,
    });
    explained.onAnswered = onAnswered;
    return explained;
  });
  try {
    await plain.warmUp();
    await checkGolden(bundle.golden, scorer);
  } catch (error) {
    await scorer.close();
    throw error;
  }
  plain.onAnswered = onAnswered;
  return scorer;
}

/** A model with its share of the process: all that it needs to score, with or without a listener. */
export interface ScorerSetup {
  readonly config: Config;
  readonly bundle: Bundle;
  /** This scorer's share of the process's workers. */
  readonly workers: number;
  /** Event loops of the process. Each has a scorer and an equal part of the queue. */
  readonly loops: number;
  /** The counters of the event loop; absent in `acuity score`. */
  readonly metrics?: SharedArrayBuffer | undefined;
  /** Called with answered rows, except golden requests. */
  readonly onAnswered?: AnswerListener | undefined;
  /** See `BatcherOptions`. */
  readonly gatherMs?: number;
  /** The workers' niceness, 0 to 19; 0 if absent. */
  readonly niceness?: number;
  /**
   * The workers that explain scores, started at the first request for an explanation. If absent, the others'
   * settings apply.
   */
  readonly explainers?: Explainers;
  /** This process's if absent. */
  readonly world?: ScorerWorld;
}

/** The clock of a scorer, and its workers. */
export interface ScorerWorld {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly openPool: typeof openPool;
}

const SYSTEM: ScorerWorld = { clock: systemClock, openPool };

export interface Explainers {
  readonly workers: number;
  /** See `ScorerSetup`. */
  readonly niceness: number;
  /** See `BatcherOptions`. */
  readonly queueMax: number;
}

/** Called with the first worker that hangs. */
export type HungListener = (hang: Hang) => void;

/** One holder (one key) may have at most this share of the pending explained requests. */
const SHARE_OF_HOLDER = 1 / 3;

interface BatcherKind extends Explainers {
  readonly batchMax: number;
  readonly linesMax: number;
  readonly explainsEach?: boolean;
  readonly gatherMs?: number | undefined;
}

function batcherOpener(
  { config, bundle, metrics, world = SYSTEM }: ScorerSetup,
  model: ScoringModel,
  log: Log,
  onHung: HungListener,
): (kind: BatcherKind) => Batcher {
  const { deadlineMs, hangMs, intraOpThreads, interOpThreads, spinning } = config;
  /** Undefined where there is no metrics memory, as in `acuity score`. */
  const counted = metrics && loopRecorders(metrics);
  return ({ workers, niceness, batchMax, queueMax, linesMax, gatherMs, explainsEach = false }) => {
    const pool = world.openPool({
      workers,
      batchMax,
      blocks: blocksFor(queueMax, batchMax, workers),
      graphs: bundle.graphs,
      explain: explainsEach ? bundle.explain : undefined,
      session: { intraOpThreads, interOpThreads, spinning },
      niceness,
      onWorkerLost(error) {
        counted?.workerRestarts.add(0);
        log.error({ err: error }, 'worker lost');
      },
    });
    return new Batcher({
      model,
      pool,
      batchMax,
      queueMax,
      linesMax,
      deadlineMs,
      hangMs,
      hangKind: {
        isLowest: niceness === NICENESS_MAX,
        hasOwnThreads: Math.max(intraOpThreads, interOpThreads) > 1,
      },
      gatherMs,
      explainsEach,
      clock: world.clock,
      onFault(error) {
        counted?.batchFaults.add(0);
        log.error({ err: error }, 'batch failed');
      },
      onRun(variant, rows, inferMs) {
        const graph = BATCH_VARIANTS.indexOf(variant);
        counted?.batchRows.observe(graph, rows);
        counted?.runTime.add(graph, inferMs);
        if (variant !== 'explain') counted?.workerBusy.add(0, inferMs);
      },
      onHung,
    });
  };
}
