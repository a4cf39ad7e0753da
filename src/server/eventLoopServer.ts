import { createGate } from '../auth/authenticator.js';
import type { IndexedRecord } from '../auth/keyTable.js';
import { Limits } from '../auth/limits.js';
import { systemClock } from '../base/clock.js';
import { MetricWriter } from '../base/metrics.js';
import type { Log } from '../base/log.js';
import type { Config } from '../config/options.js';
import { GRAPH_VARIANTS, METRICS } from '../contract/metrics.js';
import { AccessLog } from '../http/accessLog.js';
import { BodyBudget } from '../http/bodyBudget.js';
import { ConnectionLimit } from '../http/connectionLimit.js';
import { LoopLag } from '../http/lag.js';
import { watchLoop } from '../http/loopMetrics.js';
import { Predict, type PredictOptions } from '../http/predict.js';
import { RequestMetrics } from '../http/requestMetrics.js';
import { RequestObserver } from '../http/requestObserver.js';
import { requestIds } from '../http/requestId.js';
import { listen, type PublicAddress } from '../http/publicListener.js';
import type { Bundle } from '../model/bundle.js';
import { createReader } from '../pipeline/read.js';
import { Batcher } from '../scoring/batcher.js';
import type { GraphVariant } from '../scoring/protocol.js';
import { openPool, blocksFor } from '../scoring/pool.js';
import type { Scorer } from '../scoring/scorer.js';
import { checkGolden } from './golden.js';

/** What one event loop needs; plain data, so that it may cross threads. */
export interface EventLoopSetup {
  readonly config: Config;
  readonly bundle: Bundle;
  /** This loop's share of the process's workers. */
  readonly workers: number;
  /** Event loops of the process; what is bounded for the process is divided by them. */
  readonly loops: number;
  /** Where to listen; the port is known where another loop listens already. */
  readonly address: PublicAddress;
  /** The keys' limits, shared by all loops. */
  readonly limits: SharedArrayBuffer;
  /** What the bodies of each key hold, and the open connections: shared by all loops too. */
  readonly bodies: SharedArrayBuffer;
  readonly connections: SharedArrayBuffer;
  readonly records: readonly IndexedRecord[];
  /** Where this loop counts. */
  readonly metrics: SharedArrayBuffer;
}

export interface EventLoopEvents {
  /** A worker hangs: requests are refused from now on, the process must leave. */
  onHung(): void;
}

/** One event loop: a listener, its gate, its pool. */
export interface EventLoopServer {
  readonly address: PublicAddress;
  replaceKeys(records: readonly IndexedRecord[]): void;
  /** Opens the model in `bundle` beside the one in force; rejects, and changes nothing, where it can't serve. */
  prepareModel(bundle: Bundle): Promise<void>;
  /** Puts the prepared model in force; resolves when the old one has given its last answer and is closed. */
  switchModel(): Promise<void>;
  /** Closes the prepared model unused. */
  dropModel(): Promise<void>;
  /** Refuses new requests; resolves when every admitted one is answered. */
  drain(): Promise<void>;
  /** Stops listening, ends connections and workers; only when drained. */
  close(): Promise<void>;
}

/** The event loop may be late by this share of the deadline before requests are refused at their headers. */
const LAG_SHARE = 1 / 4;
/** How long callers may take to close their side after their last answer. */
const LINGER_MS = 500;
const LINGER_STEP_MS = 10;

/**
 * Opens the workers, checks the golden scores, and listens.
 * @throws GoldenError, or an error of the worker or the listener
 */
export async function openEventLoopServer(
  setup: EventLoopSetup,
  log: Log,
  events: EventLoopEvents,
): Promise<EventLoopServer> {
  const { limits, bodies, connections, records, address, loops, config } = setup;
  const gate = createGate({ clock: systemClock, limits: new Limits(limits) });
  gate.replace(records);
  const lag = new LoopLag(systemClock);
  const budget = new BodyBudget({
    memory: bodies,
    bytesMax: config.bodiesMaxBytes,
    bodyBytesMax: config.bodyMaxBytes,
  });
  const writer = new MetricWriter(METRICS, setup.metrics);
  let predict: Predict | undefined;
  const onHung = (): void => {
    if (predict !== undefined) predict.isHung = true;
    events.onHung();
  };
  const models = new Models(setup, log, onHung);
  const metrics = new RequestMetrics(writer);
  const access = new AccessLog(log, config.accessLogEvery);
  const observer = new RequestObserver({ gate, metrics, access, clock: systemClock });
  const parts = { gate, lag, budget, metrics, observer };
  predict = createPredict(setup, log, parts, await models.open(setup.bundle));
  const refusedConnections = writer.cells('connectionsRefused');
  const server = listen(predict, {
    ...address,
    isShared: loops > 1,
    limit: new ConnectionLimit(connections, config.connectionsMax),
    onRefused: () => refusedConnections.add(0),
  });
  const stopWatching = watchLoop(writer, () => ({
    pending: predict.scorer.pending,
    queued: predict.scorer.queued,
    connections: server.connections,
    heldBytes: budget.heldBytes,
    lagMs: lag.ms,
  }));
  return {
    address: server.address,
    replaceKeys: (changed) => gate.replace(changed),
    prepareModel: (bundle) => models.prepare(bundle),
    switchModel: () => models.switchIn(predict),
    dropModel: () => models.drop(),
    async drain() {
      predict.drain();
      await Promise.all([predict.scorer.drained(), models.retired]);
    },
    async close() {
      server.stopListening();
      for (let waited = 0; server.connections > 0 && waited < LINGER_MS; waited += LINGER_STEP_MS) {
        await new Promise((resolve) => setTimeout(resolve, LINGER_STEP_MS));
      }
      server.close();
      access.flush(systemClock.monotonicMs());
      lag.stop();
      stopWatching();
      await models.drop();
      await predict.scorer.close();
    },
  };
}

/** The models of one event loop: the one in force is `Predict`'s, another may stand ready beside it. */
class Models {
  /** Settles when the model that was replaced last is closed. */
  retired: Promise<void> = Promise.resolve();
  private prepared: Scorer | undefined;
  private opening: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly setup: EventLoopSetup,
    private readonly log: Log,
    private readonly onHung: () => void,
  ) {}

  open(bundle: Bundle): Promise<Scorer> {
    return openModel({ ...this.setup, bundle }, this.log, this.onHung);
  }

  async prepare(bundle: Bundle): Promise<void> {
    await this.drop();
    const opening = this.open(bundle);
    this.opening = opening.catch(() => undefined);
    this.prepared = await opening;
  }

  /** Requests that were admitted to the old model are answered by it. */
  switchIn(predict: Predict): Promise<void> {
    const { prepared } = this;
    if (prepared === undefined) throw new Error('no model was prepared');
    this.prepared = undefined;
    const { scorer } = predict;
    predict.scorer = prepared;
    this.retired = scorer.drained().then(() => scorer.close());
    return this.retired;
  }

  /** Ending its workers while they start or run would end the process: a model that is being opened is awaited. */
  async drop(): Promise<void> {
    await this.opening;
    const { prepared } = this;
    this.prepared = undefined;
    await prepared?.close();
  }
}

/** What a model needs, with or without a listener in front of it. */
export type ModelSetup = Pick<EventLoopSetup, 'config' | 'bundle' | 'workers' | 'loops'> &
  Partial<Pick<EventLoopSetup, 'metrics'>>;

/** Workers, batcher and golden check of one model. */
export async function openModel(setup: ModelSetup, log: Log, onHung: () => void): Promise<Scorer> {
  const { config, bundle, workers, loops } = setup;
  const { batchMax, deadlineMs, hangMs, intraOpThreads, interOpThreads, spinning } = config;
  const queueMax = Math.ceil(config.queueMax / loops);
  const count = scoringCounters(setup.metrics);
  const pool = openPool({
    workers,
    batchMax,
    blocks: blocksFor(queueMax, batchMax, workers),
    graphs: bundle.graphs,
    session: { intraOpThreads, interOpThreads, spinning },
    onWorkerLost(error) {
      count?.workerLost();
      log.error({ err: error }, 'worker lost');
    },
  });
  const { version, thresholds } = bundle.manifest;
  const scorer = new Batcher({
    model: { version, thresholds },
    pool,
    batchMax,
    queueMax,
    deadlineMs,
    hangMs,
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
  return scorer;
}

/** What the pool and its batches leave behind; nothing where nobody counts. */
function scoringCounters(memory: SharedArrayBuffer | undefined):
  | {
      readonly run: (variant: GraphVariant, rows: number, inferMs: number) => void;
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
  const history = GRAPH_VARIANTS.indexOf('history');
  const base = GRAPH_VARIANTS.indexOf('base');
  return {
    run(variant, rows, inferMs) {
      rowsOfBatches.observe(variant === 'history' ? history : base, rows);
      busy.add(0, inferMs);
    },
    workerLost: () => restarts.add(0),
    fault: () => faults.add(0),
  };
}

type LoopParts = Pick<PredictOptions, 'gate' | 'lag' | 'budget' | 'metrics' | 'observer'>;

function createPredict(setup: EventLoopSetup, log: Log, parts: LoopParts, scorer: Scorer): Predict {
  const { config } = setup;
  const { daySamplesMax, nightSamplesMax, deadlineMs, bodyMaxBytes, retryAfterS } = config;
  return new Predict(
    {
      ...parts,
      readRequest: createReader({ daySamplesMax, nightSamplesMax }),
      clock: systemClock,
      requestId: requestIds(),
      lagMaxMs: deadlineMs * LAG_SHARE,
      bodyBytesMax: bodyMaxBytes,
      retryAfterS,
      onFault: (error, requestId) => log.error({ err: error, requestId }, 'request failed unexpectedly'),
    },
    scorer,
  );
}
