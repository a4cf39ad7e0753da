import { Authenticator, type IndexedRecord } from '../auth/authenticator.js';
import { Limits } from '../auth/limits/limits.js';
import { RateLimiter } from '../auth/limits/rateLimiter.js';
import { systemClock, type Clock } from '../base/clock.js';
import type { Hang } from '../base/hangWatch.js';
import type { Log } from '../base/process/log.js';
import { NICENESS_MAX } from '../base/process/priority.js';
import type { Config } from '../config/options.js';
import { type LoopRecorders, loopRecorders } from '../contract/metrics.js';
import type { OwnAnswer } from '../http/ownRequest.js';
import { AccessLog } from '../http/accessLog.js';
import { BodyBudget } from '../http/bodyBudget.js';
import { ConnectionLimit, listen, type PublicAddress, type PublicListener } from '../http/publicListener.js';
import { LoopLag, type LoopState, watchLoop } from '../http/loopMetrics.js';
import type { PredictOptions } from '../http/door.js';
import { Predict } from '../http/predict.js';
import { RequestMetrics } from '../http/requestMetrics.js';
import { RequestTracer } from '../http/requestTracer.js';
import { RequestObserver } from '../http/requestObserver.js';
import { requestIds } from '../http/requestIds.js';
import type { Bundle } from '../model/bundle.js';
import type { Norms } from '../contract/norms.js';
import { createReaders } from '../read/read.js';
import { RecordingQueue } from '../http/recordings/recordingQueue.js';
import { Comparison } from '../score/comparison.js';
import { openScorer, type HungListener, type ScorerWorld } from '../score/openScorer.js';
import { openPool } from '../score/pool.js';
import type { Scorer } from '../score/scorer.js';
import { Models } from './models.js';
import { Scorers } from './scorers.js';
import { Shadow } from './shadow.js';
import type { TracedRequest } from '../http/tracedRequest.js';

/** One event loop: a listener, its keys, its pool. */
export interface EventLoopServer {
  readonly address: PublicAddress;
  replaceKeys(records: readonly IndexedRecord[]): void;
  /** Opens the model in `bundle` beside the one in force. Rejects, and changes nothing, if it can't serve. */
  prepareModel(bundle: Bundle): Promise<void>;
  /** Puts the prepared model in force. Resolves when the old one has given its last answer and is closed. */
  switchModel(): Promise<void>;
  /** Closes the prepared model without using it. */
  dropModel(): Promise<void>;
  /**
   * Puts another shadow model in force, or none. Rejects if it can't serve; the shadow model then stays the
   * same.
   */
  replaceShadow(bundle: Bundle | undefined): Promise<void>;
  /**
   * Scores a body of the process itself, as `POST /predict` would; refuses it while the queue is at least
   * half full.
   */
  scoreOwn(bytes: Uint8Array): Promise<OwnAnswer>;
  /** Refuses new requests. Resolves when every admitted one is answered. */
  drain(): Promise<void>;
  /**
   * Call it before leaving the process: takes no more requests, and holds its thread if it has one of its
   * own. Resolves when no thread is starting, ending or in a run of the network, since exiting at such a moment crashes.
   */
  halt(): Promise<void>;
  /** Stops listening, and ends connections and workers. Call it only after `drain`. */
  close(): Promise<void>;
}

/** The setting of one event loop: plain data that can cross threads. */
export interface EventLoopSetup {
  readonly config: Config;
  readonly norms: Norms;
  readonly bundle: Bundle;
  /** This loop's share of the process's workers. */
  readonly workers: number;
  /** Event loops of the process; each takes an equal part of the process's limits. */
  readonly loops: number;
  /** Where to listen; the port is never 0 if another loop already listens. */
  readonly address: PublicAddress;
  /** The keys' limits, shared by all loops. */
  readonly limits: SharedArrayBuffer;
  /** Bytes of bodies held for each key, and the number of open connections; shared by all loops. */
  readonly bodies: SharedArrayBuffer;
  readonly connections: SharedArrayBuffer;
  readonly records: readonly IndexedRecord[];
  /** The metrics of this loop. */
  readonly metrics: SharedArrayBuffer;
  /** Heartbeats of every loop: the main thread's first, then the others'. */
  readonly heartbeats: SharedArrayBuffer;
}

export interface EventLoopEvents {
  /**
   * Called when a sampled request has ended; returns false if the trace can't be taken. Undefined without
   * tracing.
   */
  readonly onTraced?: ((request: TracedRequest) => boolean) | undefined;
  /** A worker hangs: from now on requests are refused, and the process must exit. */
  onHung(hang: Hang): void;
}

/** The world around an event loop. The simulation of fleets brings its own, with virtual time. */
export interface LoopWorld extends ScorerWorld {
  readonly clock: Clock;
  readonly listen: typeof listen;
  openLag(): Pick<LoopLag, 'ms' | 'stop'>;
  readonly watchLoop: typeof watchLoop;
}

const SYSTEM: LoopWorld = {
  clock: systemClock,
  openPool,
  listen,
  openLag: () => new LoopLag(systemClock),
  watchLoop,
};

/** If the event loop is later than this share of the deadline, requests are refused at their headers. */
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
  world: LoopWorld = SYSTEM,
): Promise<EventLoopServer> {
  const { loops, config } = setup;
  const { clock } = world;
  const counted = loopRecorders(setup.metrics);
  let predict: Predict | undefined;
  const onHung = (hang: Hang): void => {
    predict?.hang();
    events.onHung(hang);
  };
  const { scorers, shadow, models } = createScoring(setup, log, { counted, onHung, world });
  const door = createDoor(setup, log, { counted, clock, onTraced: events.onTraced });
  const { authenticator, budget, access, recordings } = door;
  const lag = world.openLag();
  predict = createPredict(setup, log, { ...door, lag, clock }, await models.open(setup.bundle));
  const server = world.listen(predict, {
    address: setup.address,
    isShared: loops > 1,
    limit: new ConnectionLimit(setup.connections, config.connectionsMax),
    onRefused: () => counted.connectionsRefused.add(0),
  });
  const stateOfLoop = (): LoopState => ({
    pending: predict.scorer.pending,
    most: predict.scorer.takeMost(),
    queued: predict.scorer.queued,
    recordingsPending: recordings.pending,
    connections: server.connections,
    heldBytes: budget.heldBytes,
    loopLag: lag.ms,
  });
  const onProblem = (error: Error): void => log.warn({ err: error }, 'loop metrics');
  const stopWatching = world.watchLoop(counted, stateOfLoop, onProblem);
  return {
    address: server.address,
    replaceKeys: (changed) => authenticator.replace(changed),
    prepareModel: (bundle) => models.prepare(bundle),
    switchModel: () => models.switchIn(predict),
    dropModel: () => models.drop(),
    replaceShadow: (bundle) => shadow.replace(bundle),
    scoreOwn: (bytes) => predict.scoreOwn(bytes, config.queueMax / loops / 2),
    async drain() {
      predict.drain();
      await recordings.drained();
      await Promise.all([predict.scorer.drained(), models.retired, predict.listsEnded()]);
    },
    async halt() {
      predict.drain();
      await scorers.halt();
    },
    async close() {
      await closeListener(server);
      access.flush(clock.monotonicMs());
      lag.stop();
      stopWatching();
      await models.drop();
      recordings.close();
      await scorers.close(predict.scorer);
      await shadow.close();
    },
  };
}

async function closeListener(server: PublicListener): Promise<void> {
  server.stopListening();
  for (let waited = 0; server.connections > 0 && waited < LINGER_MS; waited += LINGER_STEP_MS) {
    await new Promise((resolve) => setTimeout(resolve, LINGER_STEP_MS));
  }
  server.close();
}

/** The models of a loop: that in force, and the shadow model, which gets copies of what that one has answered. */
function createScoring(
  setup: EventLoopSetup,
  log: Log,
  how: { readonly counted: LoopRecorders; readonly onHung: HungListener; readonly world: LoopWorld },
) {
  const { counted, onHung, world } = how;
  const scorers = new Scorers();
  const shadow = createShadow(setup, log, { counted, scorers });
  const onAnswered = setup.config.shadowModel === '' ? undefined : shadow.offer;
  const models = new Models(scorers, (bundle) =>
    openScorer({ ...setup, bundle, explainers: EXPLAINERS, onAnswered, world }, log, onHung),
  );
  return { scorers, shadow, models };
}

/** Keys, limits, memory and records of requests: all that a request meets before and after its scores. */
function createDoor(
  setup: EventLoopSetup,
  log: Log,
  how: Pick<EventLoopEvents, 'onTraced'> & { readonly counted: LoopRecorders; readonly clock: Clock },
) {
  const { counted, clock, onTraced: pass } = how;
  const { config, bodies, limits, loops } = setup;
  const authenticator = new Authenticator();
  authenticator.replace(setup.records);
  const rateLimiter = new RateLimiter(new Limits(limits));
  const metrics = new RequestMetrics(counted);
  const access = new AccessLog(log, config.accessLogEvery);
  const secondMax = Math.ceil(config.tracesMax / loops);
  const onDropped = (): void => counted.tracesDropped.add(0);
  const tracer = pass && new RequestTracer({ secondMax, clock, pass, onDropped });
  return {
    authenticator,
    rateLimiter,
    metrics,
    access,
    observer: new RequestObserver({ rateLimiter, metrics, access, tracer, clock }),
    budget: new BodyBudget({
      memory: bodies,
      bytesMax: config.bodiesMaxBytes,
      bodyBytesMax: config.bodyMaxBytes,
    }),
    recordings: createRecordings(setup, log, counted),
  };
}

/** Copies that may wait for the shadow model; more are dropped. */
const SHADOW_QUEUE_MAX = 256;
/** Its worker yields its core to every other thread. Copies gather, since larger batches cost little more. */
const SHADOW = { workers: 1, loops: 1, niceness: NICENESS_MAX, gatherMs: 25 } as const;

function createShadow(
  setup: EventLoopSetup,
  log: Log,
  { counted, scorers }: { readonly counted: LoopRecorders; readonly scorers: Scorers },
): Shadow {
  const config = { ...setup.config, queueMax: SHADOW_QUEUE_MAX };
  return new Shadow({
    share: config.shadowShare,
    comparison: new Comparison(counted),
    random: Math.random,
    scorers,
    open: (bundle, onHung) => openScorer({ ...SHADOW, config, bundle }, log, onHung),
    onProblem: (error) => log.error({ err: error }, 'shadow model'),
  });
}

/** Explained requests that may be pending; more are refused. */
const EXPLAINED_QUEUE_MAX = 64;
/** Their worker yields its core to every other thread. */
const EXPLAINERS = { workers: 1, niceness: NICENESS_MAX, queueMax: EXPLAINED_QUEUE_MAX } as const;

/** The share of the queue's places that recordings have for themselves. */
const RECORDINGS_SHARE = 1 / 8;

function createRecordings(
  { config, loops }: EventLoopSetup,
  log: Log,
  counted: LoopRecorders,
): RecordingQueue {
  const { daySamplesMax, nightSamplesMax, deadlineMs, hangMs, queueMax } = config;
  return new RecordingQueue({
    placesMax: Math.max(1, Math.floor((queueMax / loops) * RECORDINGS_SHARE)),
    deadlineMs,
    hangMs,
    clock: systemClock,
    reader: { limits: { daySamplesMax, nightSamplesMax } },
    onLost({ message }) {
      counted.recordingRestarts.add(0);
      log.error({ reason: message }, 'the reader of recordings is lost, and another takes its place');
    },
  });
}

type LoopParts = Pick<
  PredictOptions,
  'authenticator' | 'rateLimiter' | 'lag' | 'budget' | 'metrics' | 'observer' | 'clock' | 'recordings'
>;

function createPredict(setup: EventLoopSetup, log: Log, parts: LoopParts, scorer: Scorer): Predict {
  const { config, norms } = setup;
  const { daySamplesMax, nightSamplesMax, deadlineMs, bodyMaxBytes, retryAfterS, overloadStatus } = config;
  return new Predict(
    {
      ...parts,
      ...createReaders({ daySamplesMax, nightSamplesMax, norms }),
      requestId: requestIds(),
      lagMaxMs: deadlineMs * LAG_SHARE,
      bodyBytesMax: bodyMaxBytes,
      deadlineMs,
      retryAfterS,
      overloadStatus,
      random: Math.random,
      onFault: (error, requestId) => log.error({ err: error, requestId }, 'request failed unexpectedly'),
    },
    scorer,
  );
}
