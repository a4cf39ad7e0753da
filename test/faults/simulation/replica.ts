/** One process of the fleet: the event loops that the service opens, in a world of virtual time. */
import { openKeyring, type Keyring } from '#acuity/auth/keyring.js';
import { Limits } from '#acuity/auth/limits/limits.js';
import type { Admission, RateLimiter } from '#acuity/auth/limits/rateLimiter.js';
import { RedisCounts } from '#acuity/auth/redis/redisCounts.js';
import { RedisKeyStore } from '#acuity/auth/redis/redisKeys.js';
import type { StoreTransport } from '#acuity/auth/redis/redisNames.js';
import type { Clock } from '#acuity/base/clock.js';
import { allocateHeartbeats } from '#acuity/base/heartbeats.js';
import { pick, type Random } from '#acuity/base/random.js';
import { defaultConfig, type Config } from '#acuity/config/options.js';
import { allocateLoopMetrics } from '#acuity/contract/metrics.js';
import { allocateBodyBudget } from '#acuity/http/bodyBudget.js';
import type { Predict } from '#acuity/http/predict.js';
import { allocateConnectionCount } from '#acuity/http/publicListener.js';
import type { Bundle } from '#acuity/model/bundle.js';
import { NORMS } from '#acuity/contract/norms.js';
import type { Log } from '#acuity/base/process/log.js';
import type { Batcher } from '#acuity/score/batcher.js';
import type { RoutingScorer } from '#acuity/score/routingScorer.js';
import { type EventLoopServer, type LoopWorld, openEventLoopServer } from '#acuity/serve/eventLoopServer.js';
import { joined } from '#acuity/serve/eventLoopVerbs.js';
import { SimulatedPool, type WorkerTroubles } from './pool.js';
import type { Actor, Scheduler } from './scheduler.js';
import { THRESHOLDS } from './scores.js';

/** How every process of a run is set up; each of its event loops has so many workers. */
export function settingsOf(random: Random): Config {
  return {
    ...defaultConfig(),
    daySamplesMax: 200,
    nightSamplesMax: 200,
    accessLogEvery: 0,
    httpThreads: pick(random, [1, 1, 2]),
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
  readonly settings: Config;
  readonly lines: Lines;
  readonly troubles: WorkerTroubles;
  readonly events: ReplicaEvents;
  /** Its listener is closed, and all connections with it. */
  onClosed(): void;
  /** The model that it starts with. */
  readonly model: number;
}

export const KEYS_MAX = 1024;
/** As `LoopLag` has it. */
const LAG_PERIOD_MS = 20;

const ADDRESS = { host: '', port: 0 } as const;

/** Writes no line. */
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Log;

/** One process of the service: its store and its event loops, without sockets and threads. */
export class Replica {
  /** The door of each event loop. */
  readonly loops: Predict[] = [];
  readonly clock: Clock;
  /** Ids of keys that it has read as revoked: it never honours them again. */
  readonly seenRevoked = new Set<string>();
  isOpen = false;
  private keyring: Keyring | undefined;
  /** All event loops as one. */
  private server: EventLoopServer | undefined;
  private pools: SimulatedPool[] = [];
  private readonly limits = Limits.allocate(KEYS_MAX);
  private readonly bodies = allocateBodyBudget(KEYS_MAX);
  private readonly connections = allocateConnectionCount();

  constructor(private readonly options: ReplicaOptions) {
    const { scheduler, offsetMs } = options;
    this.clock = {
      nowMs: () => scheduler.wallMs + offsetMs,
      monotonicMs: () => scheduler.nowMs,
    };
  }

  /** Reads the keys, then takes requests. */
  async open(): Promise<void> {
    const { lines, settings, events } = this.options;
    const store = new RedisKeyStore(lines.keys, lines.listen);
    try {
      this.keyring = await openKeyring({
        store,
        ledger: (parts) => new RedisCounts(parts, lines.counts, () => store.token),
        limits: new Limits(this.limits),
        clock: this.clock,
        keepsRevoked: true,
        onRecords: (records) => {
          this.server?.replaceKeys(records);
          for (const { id, usableUntilMs } of records)
            if (usableUntilMs === -Infinity) this.seenRevoked.add(id);
        },
        onProblem: () => undefined,
      });
    } catch {
      return events.failedToOpen();
    }
    const servers: EventLoopServer[] = [];
    for (let loop = 0; loop < settings.httpThreads; loop++) servers.push(await this.openLoop(this.keyring));
    this.server = joined(servers, ADDRESS);
    this.isOpen = true;
  }

  /** Puts another model in force, as every loop of the service does. */
  async switchModel(model: number): Promise<void> {
    await this.server?.prepareModel(bundleOf(model));
    await this.server?.switchModel();
  }

  /** As at SIGTERM. */
  async close(): Promise<void> {
    await this.server?.drain();
    this.isOpen = false;
    await this.server?.close();
    await this.keyring?.close();
    this.options.lines.close();
  }

  /** Whether the key is known and valid here, used up or not. */
  honours(key: string): boolean {
    return this.loops.length > 0 && typeof this.identified(key) !== 'string';
  }

  /** For how many seconds the key is refused, since its bucket is in debt. */
  owedS(key: string): number {
    const entry = this.identified(key);
    if (entry === undefined || typeof entry === 'string' || entry.ratePerS === null) return 0;
    const { keyIndex, ratePerS } = entry;
    return -new Limits(this.limits).tokensLeft(keyIndex, ratePerS, this.clock.nowMs()) / ratePerS;
  }

  /** Of the model in force in each loop. */
  get batchers(): readonly Batcher[] {
    return this.loops.map(({ scorer }) => (scorer as RoutingScorer).lines);
  }

  /** Pools of all models that are open. */
  get openPools(): number {
    this.pools = this.pools.filter(({ isClosed }) => !isClosed);
    return this.pools.length;
  }

  get heldBytes(): number {
    return this.loops.reduce((sum, { options }) => sum + options.budget.heldBytes, 0);
  }

  /** Bodies of all loops and keys, as their shared memory has them, in units of the budget. */
  get bodyUnits(): Int32Array {
    return new Int32Array(this.bodies);
  }

  private identified(key: string) {
    return this.loops[0]?.options.authenticator.identify(key, this.clock.nowMs());
  }

  private openLoop({ records }: Keyring): Promise<EventLoopServer> {
    const { settings, events, model } = this.options;
    const setup = {
      config: settings,
      norms: NORMS,
      bundle: bundleOf(model),
      workers: settings.workers,
      loops: settings.httpThreads,
      address: ADDRESS,
      limits: this.limits,
      bodies: this.bodies,
      connections: this.connections,
      records,
      metrics: allocateLoopMetrics(),
      heartbeats: allocateHeartbeats(1),
    };
    return openEventLoopServer(setup, SILENT, { onHung: () => events.hung() }, this.world());
  }

  private world(): LoopWorld {
    const { scheduler, actor, troubles, events, onClosed } = this.options;
    return {
      clock: this.clock,
      listen: (predict) => {
        watchLimiter(predict.options.rateLimiter as RateLimiter, events);
        this.loops.push(predict);
        return { address: ADDRESS, connections: 0, stopListening: () => undefined, close: onClosed };
      },
      openPool: (options) => {
        const pool = new SimulatedPool({
          ...options,
          scheduler,
          troubles,
          model: Number(options.graphs.base),
        });
        this.pools.push(pool);
        return pool;
      },
      openLag: () => lagOf(actor, scheduler),
      watchLoop: () => () => undefined,
    };
  }
}

/** Tells what it admits, and what it gives back. */
function watchLimiter(limiter: RateLimiter, events: ReplicaEvents): void {
  const admit = limiter.admit.bind(limiter);
  const admitMore = limiter.admitMore.bind(limiter);
  const refund = limiter.refund.bind(limiter);
  limiter.admit = (...charge) => {
    const verdict = admit(...charge);
    if (verdict.outcome === 'admitted') events.admitted(verdict, 1, 1);
    return verdict;
  };
  limiter.admitMore = (...charge) => {
    const verdict = admitMore(...charge);
    const [, { count, tokens }] = charge;
    if (verdict.outcome === 'admitted') events.admitted(verdict, count, tokens);
    return verdict;
  };
  limiter.refund = (admission, count = 1) => {
    refund(admission, count);
    events.refunded(admission, count);
  };
}

/** In virtual time a loop is late where its process stood still, until its timer comes again. */
function lagOf(actor: Actor, scheduler: Scheduler): ReturnType<LoopWorld['openLag']> {
  return {
    get ms() {
      return scheduler.nowMs - actor.resumedMs < LAG_PERIOD_MS ? actor.resumedMs - actor.pausedMs : 0;
    },
    stop: () => undefined,
  };
}

/** The number of a simulated model stands for its graphs. */
function bundleOf(model: number): Bundle {
  return {
    folder: '',
    manifest: { name: 'sim', version: String(model), thresholds: THRESHOLDS } as Bundle['manifest'],
    golden: { cases: [] } as unknown as Bundle['golden'],
    graphs: { base: String(model), history: '' },
  };
}
