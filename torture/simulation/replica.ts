import { createHash } from 'node:crypto';
import { Authenticator } from '#acuity/auth/authenticator.js';
import { openKeyring, type Keyring } from '#acuity/auth/keyring.js';
import { allocateLimits, Limits } from '#acuity/auth/limits.js';
import { RateLimiter, type Admission } from '#acuity/auth/rateLimiter.js';
import { RedisCounts } from '#acuity/auth/redisCounts.js';
import { RedisKeyStore } from '#acuity/auth/redisKeys.js';
import type { StoreTransport } from '#acuity/auth/redisNames.js';
import type { Clock } from '#acuity/base/clock.js';
import { pick, type Random } from '#acuity/base/random.js';
import type { Config } from '#acuity/config/options.js';
import { allocateLoopMetrics, loopRecorders } from '#acuity/contract/metrics.js';
import { AccessLog } from '#acuity/http/accessLog.js';
import { BodyBudget, allocateBodyBudget } from '#acuity/http/bodyBudget.js';
import type { LoopLag } from '#acuity/http/loopMetrics.js';
import { Predict } from '#acuity/http/predict.js';
import { requestIds } from '#acuity/http/exchange.js';
import { RequestMetrics } from '#acuity/http/requestMetrics.js';
import { RequestObserver } from '#acuity/http/requestObserver.js';
import type { Bundle } from '#acuity/model/bundle.js';
import type { Log } from '#acuity/process/log.js';
import { createReaders } from '#acuity/reading/read.js';
import { Batcher } from '#acuity/scoring/batcher.js';
import { blocksFor } from '#acuity/scoring/pool.js';
import { RoutingScorer } from '#acuity/scoring/routingScorer.js';
import { Models } from '#acuity/server/models.js';
import { SimulatedPool, type WorkerTroubles } from './pool.js';
import type { Actor, Scheduler } from './scheduler.js';
import { THRESHOLDS } from './scores.js';

/** How every process of a run is set up. */
export type Settings = ReturnType<typeof settingsOf>;

export function settingsOf(random: Random) {
  return {
    loops: pick(random, [1, 1, 2]),
    workers: pick(random, [1, 2]),
    batchMax: pick(random, [1, 2, 4, 8]),
    queueMax: pick(random, [4, 16, 64]),
    deadlineMs: pick(random, [300, 1000, 1000, 3000]),
    hangMs: pick(random, [1500, 5000]),
    bodyMaxBytes: pick(random, [131_072, 262_144]),
    bodiesMaxBytes: pick(random, [262_144, 1_048_576]),
  };
}

/** The ways of one process to the store, each its own connection. */
export interface Lines {
  readonly keys: StoreTransport;
  readonly counts: StoreTransport;
  listen(onMessage: () => void): StoreTransport;
  close(): void;
}

/** What a process is seen to do. */
export interface ReplicaEvents {
  /** `count` predictions, of a list that one prediction was charged for before, or one; and what they cost. */
  admitted(admission: Admission, count: number, tokens: number): void;
  refunded(admission: Admission, count: number): void;
  /** It can't be opened: the store is out of reach. */
  failedToOpen(): void;
  /** A worker hangs: the process is about to leave. */
  hung(): void;
  /** Something that must never happen. */
  fault(error: Error): void;
}

export interface ReplicaOptions {
  readonly scheduler: Scheduler;
  readonly actor: Actor;
  /** Its wall clock is off by so much. */
  readonly offsetMs: number;
  readonly settings: Settings;
  readonly lines: Lines;
  readonly troubles: WorkerTroubles;
  readonly events: ReplicaEvents;
  /** The model that it starts with. */
  readonly model: number;
}

export const KEYS_MAX = 1024;
const LAG_SHARE = 1 / 4;
/** As `LoopLag` has it. */
const LAG_PERIOD_MS = 20;
const LIMITS = { daySamplesMax: 200, nightSamplesMax: 200 };

/** All processes read one after the other: one reader serves them. */
const readers = createReaders(LIMITS);

/** No caller in the simulation sends recordings. */
const recordings = { room: () => 'saturated' as const, add: () => undefined };

/** A batcher, and how many requests it may hold. */
interface Queue {
  readonly batcher: Batcher;
  readonly pool: SimulatedPool;
  readonly max: number;
}

interface Loop {
  readonly predict: Predict;
  readonly models: Models;
  readonly budget: BodyBudget;
  readonly access: AccessLog;
  readonly authenticator: Authenticator;
}

/** One process of the service: what `openEventLoopServer` and `Service` put together, without sockets and threads. */
export class Replica {
  readonly loops: Loop[] = [];
  readonly clock: Clock;
  /** Ids of keys that it has read as revoked: it never honours them again. */
  readonly seenRevoked = new Set<string>();
  isOpen = false;
  private keyring: Keyring | undefined;
  private allQueues: Queue[] = [];
  /** To hash a key again after each change of keys would cost much, and say nothing. */
  private readonly digests = new Map<string, Buffer>();
  private readonly limits = allocateLimits(KEYS_MAX);
  private readonly bodies = allocateBodyBudget(KEYS_MAX);
  private readonly silent: Log;

  constructor(private readonly options: ReplicaOptions) {
    const { scheduler, offsetMs } = options;
    this.clock = {
      nowMs: () => scheduler.wallMs + offsetMs,
      monotonicMs: () => scheduler.nowMs,
    };
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    this.silent = log as unknown as Log;
  }

  /** Reads the keys, then takes requests. */
  async open(): Promise<void> {
    const { lines, settings, events, model } = this.options;
    const { clock } = this;
    const authenticators = Array.from(
      { length: settings.loops },
      () => new Authenticator({ digest: this.digestOf }),
    );
    const store = new RedisKeyStore(lines.keys, lines.listen);
    try {
      this.keyring = await openKeyring({
        store,
        ledger: (parts) => new RedisCounts(parts, lines.counts, () => store.token),
        limits: new Limits(this.limits),
        clock,
        keepsRevoked: true,
        onRecords: (records) => {
          for (const authenticator of authenticators) authenticator.replace(records);
          for (const { id, usableUntilMs } of records)
            if (usableUntilMs === -Infinity) this.seenRevoked.add(id);
        },
        onProblem: () => undefined,
      });
    } catch {
      return events.failedToOpen();
    }
    for (const authenticator of authenticators) this.loops.push(await this.openLoop(authenticator, model));
    this.isOpen = true;
  }

  /** Puts another model in force, as every loop of the service does. */
  async switchModel(model: number): Promise<void> {
    for (const { models } of this.loops) await models.prepare(bundleOf(model));
    await Promise.all(this.loops.map(({ models, predict }) => models.switchIn(predict)));
  }

  /** As at SIGTERM; `closeConnections` is what closing the listener does. */
  async close(closeConnections: () => void): Promise<void> {
    for (const { predict } of this.loops) predict.drain();
    await Promise.all(
      this.loops.flatMap(({ predict, models }) => [
        predict.scorer.drained(),
        models.retired,
        predict.listsEnded(),
      ]),
    );
    this.isOpen = false;
    closeConnections();
    for (const { predict, models, access } of this.loops) {
      access.flush(this.clock.monotonicMs());
      await models.drop();
      await predict.scorer.close();
    }
    await this.keyring?.close();
    this.options.lines.close();
  }

  /** Whether the key is known and valid here, used up or not. */
  honours(key: string): boolean {
    const [loop] = this.loops;
    return loop !== undefined && typeof loop.authenticator.identify(key, this.clock.nowMs()) !== 'string';
  }

  /** For how many seconds the key is refused, since its bucket is in debt. */
  owedS(key: string): number {
    const nowMs = this.clock.nowMs();
    const entry = this.loops[0]?.authenticator.identify(key, nowMs);
    if (entry === undefined || typeof entry === 'string' || entry.ratePerS === null) return 0;
    const { keyIndex, ratePerS } = entry;
    return -new Limits(this.limits).tokensLeft(keyIndex, ratePerS, nowMs) / ratePerS;
  }

  /** Of every model that is open. */
  get queues(): readonly Queue[] {
    this.allQueues = this.allQueues.filter(({ pool }) => !pool.isClosed);
    return this.allQueues;
  }

  get heldBytes(): number {
    return this.loops.reduce((sum, { budget }) => sum + budget.heldBytes, 0);
  }

  /** Bodies of all loops and keys, as their shared memory has them, in units of the budget. */
  get bodyUnits(): Int32Array {
    return new Int32Array(this.bodies);
  }

  private readonly digestOf = (key: string): Buffer => {
    const known = this.digests.get(key) ?? createHash('sha256').update(key).digest();
    this.digests.set(key, known);
    return known;
  };

  private async openLoop(authenticator: Authenticator, model: number): Promise<Loop> {
    const { settings, events, scheduler, actor } = this.options;
    const { clock } = this;
    const rateLimiter = new WatchedLimiter(new Limits(this.limits), scheduler.random, events);
    const budget = new BodyBudget({
      memory: this.bodies,
      bytesMax: settings.bodiesMaxBytes,
      bodyBytesMax: settings.bodyMaxBytes,
    });
    const metrics = new RequestMetrics(loopRecorders(allocateLoopMetrics()));
    const access = new AccessLog(this.silent, 0);
    const onHung = (): void => {
      predict.hang();
      events.hung();
    };
    const setup = {
      config: undefined as unknown as Config,
      workers: settings.workers,
      loops: settings.loops,
    };
    const models = new Models(setup, this.silent, onHung, async ({ bundle }) =>
      this.openScorer(versionOf(bundle), onHung),
    );
    const predict = new Predict(
      {
        authenticator,
        rateLimiter,
        ...readers,
        recordings,
        observer: new RequestObserver({ rateLimiter, metrics, access, clock }),
        metrics,
        clock,
        requestId: requestIds('sim'),
        budget,
        lag: lagOf(actor, scheduler),
        lagMaxMs: settings.deadlineMs * LAG_SHARE,
        deadlineMs: settings.deadlineMs,
        bodyBytesMax: settings.bodyMaxBytes,
        retryAfterS: 1,
        overloadStatus: 503,
        random: scheduler.random,
        onFault: (error) => events.fault(error as Error),
      },
      await models.open(bundleOf(model)),
    );
    return { predict, models, budget, access, authenticator };
  }

  /** What `openScorer` does, with simulated workers. */
  private openScorer(model: number, onHung: () => void): RoutingScorer {
    const { scheduler, settings, troubles } = this.options;
    const { workers, batchMax, deadlineMs, hangMs, loops } = settings;
    const queueMax = Math.ceil(settings.queueMax / loops);
    const pool = new SimulatedPool({
      scheduler,
      workers,
      batchMax,
      blocks: blocksFor(queueMax, batchMax, workers),
      model,
      troubles,
      onWorkerLost: () => undefined,
    });
    const batcher = new Batcher({
      model: { version: `sim/${model}`, thresholds: THRESHOLDS },
      pool,
      batchMax,
      queueMax,
      linesMax: Math.max(1, Math.min(Math.floor(settings.queueMax / 2), queueMax)),
      deadlineMs,
      hangMs,
      clock: this.clock,
      onFault: () => undefined,
      onHung,
    });
    this.allQueues.push({ batcher, pool, max: queueMax });
    // No caller asks for explanations.
    return new RoutingScorer(batcher, () => batcher);
  }
}

/** Tells what it admits, and what it gives back. */
class WatchedLimiter extends RateLimiter {
  constructor(
    limits: Limits,
    random: Random,
    private readonly events: ReplicaEvents,
  ) {
    super(limits, random);
  }

  override admit(...charge: Parameters<RateLimiter['admit']>) {
    const verdict = super.admit(...charge);
    if (verdict.outcome === 'admitted') this.events.admitted(verdict, 1, 1);
    return verdict;
  }

  override admitMore(...charge: Parameters<RateLimiter['admitMore']>) {
    const verdict = super.admitMore(...charge);
    const [, { count, tokens }] = charge;
    if (verdict.outcome === 'admitted') this.events.admitted(verdict, count, tokens);
    return verdict;
  }

  override refund(admission: Admission, count = 1): void {
    super.refund(admission, count);
    this.events.refunded(admission, count);
  }
}

/** In virtual time a loop is late where its process stood still, until its timer comes again. */
function lagOf(actor: Actor, scheduler: Scheduler): Pick<LoopLag, 'ms'> {
  return {
    get ms() {
      return scheduler.nowMs - actor.resumedMs < LAG_PERIOD_MS ? actor.resumedMs - actor.pausedMs : 0;
    },
  };
}

function bundleOf(model: number): Bundle {
  return { manifest: { version: String(model) } } as unknown as Bundle;
}

function versionOf({ manifest }: Bundle): number {
  return Number(manifest.version);
}
