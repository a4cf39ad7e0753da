/** The life of the service: start, signals, drain, and the end of the process. */
import { constants } from 'node:os';
import { openKeyring, type Keyring } from '../auth/keyring.js';
import { Limits } from '../auth/limits/limits.js';
import { openStores } from '../auth/location.js';
import type { KeyStores } from '../auth/store.js';
import { systemClock } from '../base/clock.js';
import type { Hang } from '../base/hangWatch.js';
import { allocateHeartbeats, Heartbeats } from '../base/heartbeats.js';
import { collectWithoutHelpers } from '../base/process/collector.js';
import { FileThreads, type Patience } from '../base/files/fileThreads.js';
import { createLog, errorFields, type Log } from '../base/process/log.js';
import { messageOf, OperatorError, SettingError } from '../base/errors.js';
import { platformRemedy } from '../base/process/fittingNode.js';
import { ProcessEnd } from '../base/process/leave.js';
import { isReload, passStopSignals, type StopSignal } from '../base/process/signals.js';
import { StandardOutput } from '../base/process/standardOutput.js';
import { within } from '../base/within.js';
import { shown } from '../config/documentation.js';
import { usableCores } from '../config/cores.js';
import type { Config } from '../config/options.js';
import { uselessThreads } from '../config/threads.js';
import { allocateLoopMetrics } from '../contract/metrics.js';
import type { ProcessState } from '../admin/measurements.js';
import type { PublicAddress } from '../http/publicListener.js';
import { loadBundle, type Bundle } from '../model/bundle.js';
import { modelLabel } from '../model/manifest.js';
import { readNorms } from '../contract/norms.js';
import type { TraceExporter } from './exporter.js';
import type { TracedRequest } from '../http/tracedRequest.js';
import type { EventLoopServer } from './eventLoopServer.js';
import { ModelFolder } from './modelFolder.js';
import { openAdmin, type AdminServer } from './adminListener.js';
import { tryDesk } from './tryDesk.js';
import { openTraces } from './traces.js';
import { EXIT } from '../base/process/exitCodes.js';

export type ListeningAddress = PublicAddress & {
  readonly adminHost: string;
  readonly adminPort: number;
  /** Whether the admin listener has the page `/try`. */
  readonly hasTry: boolean;
};

export interface ServeHooks {
  /** Called once the public listener accepts connections. */
  onListening?(address: ListeningAddress): void;
  /** Stops the service as SIGTERM does, unless it is already stopping. */
  readonly stopWhen?: AbortSignal;
  /** One wish may send a signal twice: a terminal sends it to all processes, and a launcher passes it on. */
  readonly areSignalsPassedOn?: boolean;
}

/** Most keys with limits of their own. Each takes only virtual memory until it is used. */
const KEYS_MAX = 1 << 20;
/** Time for the last answers to be written after a worker hung, before the process exits. */
const LAST_WORDS_MS = 250;

/*
 * Limits for leaving once no answer is owed any more. Every step is bounded; together with the waits of
 * `leave` they stay within the two seconds after the drain that docs/OPERATIONS.md promises.
 */
const CLOSE_MS = 1000;
/** Part of the closing time: a collector that does not answer must not keep the rest from being closed. */
const TRACES_CLOSE_MS = 400;
/** Upper bound for ending an interrupted start; at most the drain time. */
const START_MAX_MS = 4000;
/** If a signal is passed on, its second copy comes within this time. */
const PASSED_ON_MS = 500;
const NO_KEY = 'no key is valid, so every request is refused: issue one with "acuity keys issue --kind demo"';

/** Revocations count within a second: a look that takes longer than this is reported and made again. */
const KEYS_PATIENCE: Patience = { limitMs: 2_000, lateMax: 2 };
/**
 * A slow disk may need long to make a write durable. One write at a time: a late one must not overwrite a
 * later one.
 */
const USAGE_PATIENCE: Patience = { limitMs: 10_000, lateMax: 1 };
/** A model is read once, perhaps over a network. */
const MODEL_PATIENCE: Patience = { limitMs: 60_000, lateMax: 1 };

/** An event loop that has not turned for this long is blocked. */
const SILENT_MS = 5_000;

/** Serves until it is stopped. */
export async function serve(config: Config, hooks: ServeHooks = {}): Promise<void> {
  collectWithoutHelpers();
  const output = new StandardOutput();
  const log = createLog({ level: config.logLevel, sink: output });
  const service = new Service(config, hooks, output, log);
  process.on('uncaughtException', (error) => service.crash(error));
  process.on('unhandledRejection', (error) => service.crash(error));
  passStopSignals((signal) => service.onSignal(signal));
  hooks.stopWhen?.addEventListener('abort', () => service.onOrphaned());
  await service.run();
}

/** The parts that a start has opened so far. */
interface Opened {
  readonly bundle: Bundle;
  readonly keyring: Keyring;
  readonly limits: Limits;
  /** One for each event loop. */
  readonly metrics: readonly SharedArrayBuffer[];
  readonly heartbeats: SharedArrayBuffer;
}

class Service {
  private isReady = false;
  private isStopping = false;
  private lastSignal: { readonly name: StopSignal; readonly atMs: number } | undefined;
  private stores: KeyStores | undefined;
  private keyring: Keyring | undefined;
  private eventLoops: EventLoopServer | undefined;
  private admin: AdminServer | undefined;
  private model: ModelFolder | undefined;
  private shadow: ModelFolder | undefined;
  private traces: TraceExporter | undefined;
  private starting: Promise<void> | undefined;
  /** When the drain's time is up, on the clock of `performance.now`. */
  private drainEndsMs = 0;
  private readonly threads = new FileThreads();
  private readonly end: ProcessEnd;
  /** Every run of the model is over, and everything opened is closed. */
  private isClosed = false;

  constructor(
    private readonly config: Config,
    private readonly hooks: ServeHooks,
    private readonly output: StandardOutput,
    private readonly log: Log,
  ) {
    this.end = new ProcessEnd({ output, threads: this.threads });
  }

  async run(): Promise<void> {
    this.starting = this.start();
    try {
      await this.starting;
    } catch (error) {
      if (!this.end.hasBegun) await this.failStart(error);
    }
  }

  private async start(): Promise<void> {
    const { config, log } = this;
    const modelFiles = this.threads.files(MODEL_PATIENCE);
    const [bundle] = await Promise.all([loadBundle(config.model, modelFiles), this.end.guarded()]);
    this.assertWanted();
    const limits = new Limits(Limits.allocate(KEYS_MAX));
    const keyring = await this.openKeys(limits);
    this.assertWanted();
    const metrics = Array.from({ length: config.httpThreads }, allocateLoopMetrics);
    // This thread has a heartbeat: with several event loops it turns beside them.
    const heartbeats = allocateHeartbeats(1 + (config.httpThreads > 1 ? config.httpThreads : 0));
    const shared = { metrics, heartbeats };
    this.admin = await this.openAdminListener({ bundle, keyring, limits, ...shared });
    this.traces = await openTraces(config, log);
    const eventLoops = await this.openLoops({ bundle, keyring, limits, ...shared });
    this.assertWanted();
    // While the workers started, changes of keys reached no event loop.
    eventLoops.replaceKeys(keyring.records);
    this.followModels(eventLoops, bundle.folder);
    this.isReady = !this.isStopping && !this.end.hasBegun;
    new Heartbeats(heartbeats).beat(0);
    this.admin.tell();
    if (this.isReady) this.announce(eventLoops.address, this.admin);
    for (const words of uselessThreads(config, usableCores(), bundle.manifest.areChains === true))
      log.warn(words);
    if (!keyring.hasUsable) log.warn({ keys: shown(config).keys }, NO_KEY);
  }

  private async openKeys(limits: Limits): Promise<Keyring> {
    const { config, threads } = this;
    const keyFiles = { keys: threads.files(KEYS_PATIENCE), usage: threads.files(USAGE_PATIENCE) };
    this.stores = await openStores(config.keys, keyFiles);
    this.keyring = await openKeyring({
      store: this.stores.keys,
      ledger: this.stores.ledger,
      limits,
      clock: systemClock,
      ...(this.stores.isShared && { staleMs: config.keysStaleMs, keepsRevoked: true }),
      onRecords: (records) => this.eventLoops?.replaceKeys(records),
      onProblem: (error) => this.tellOfKeys(error),
    });
    return this.keyring;
  }

  private openAdminListener({ bundle, keyring, limits, metrics, heartbeats }: Opened): Promise<AdminServer> {
    const { config, log } = this;
    const state = (): ProcessState => ({
      isReady: this.isReady && keyring.isCounting && !keyring.isStale, // keys become stale with time alone
      address: this.eventLoops?.address,
      model: this.model?.version ?? modelLabel(bundle.manifest),
      modelRefusal: this.model?.refusal,
      shadowModel: this.shadow?.version,
      shadowRefusal: this.shadow?.refusal,
      keyStoreAgeMs: keyring.ageMs,
      isStoreEmpty: keyring.isStoreEmpty,
      areLimitsLocal: keyring.isLocal,
      revocationsLost: keyring.revocationsLost,
      recordsUnreadable: keyring.unreadable,
      hasKeys: keyring.hasUsable,
    });
    const score = tryDesk({
      keyring,
      limits,
      clock: systemClock,
      score: (body) => this.eventLoops?.scoreOwn(body),
    });
    return openAdmin(
      { config, metrics, heartbeats, silentMs: SILENT_MS },
      {
        state,
        score,
        onCrash: (error) => this.crash(error),
        onProblem: (error) => log.warn({ err: error }, 'dashboard'),
      },
    );
  }

  private async openLoops({ bundle, keyring, limits, ...shared }: Opened): Promise<EventLoopServer> {
    const { config, log, traces } = this;
    const { host, port, socket } = config;
    const address = socket === '' ? { host, port } : ({ host: null, port: null, socket } as const);
    const { openEventLoops } = await importEventLoops();
    this.assertWanted();
    const { records } = keyring;
    const norms = readNorms(config.norms);
    const onTraced = (request: TracedRequest): boolean => {
      traces?.export(request);
      return true;
    };
    this.eventLoops = await openEventLoops(
      { config, norms, bundle, address, limits: limits.memory, records, ...shared },
      log,
      {
        onHung: (hang) => this.leaveHung(hang),
        onCrash: (error) => this.crash(error),
        onTraced: traces && onTraced,
      },
    );
    return this.eventLoops;
  }

  private followModels(server: EventLoopServer, loaded: string): void {
    const { config, log, threads } = this;
    const files = { look: threads.files(KEYS_PATIENCE), load: threads.files(MODEL_PATIENCE) };
    this.model = new ModelFolder({
      role: 'model',
      folder: config.model,
      loaded,
      files,
      async use(next, isStopped) {
        await server.prepareModel(next);
        // Once the service stops, the server closes it.
        return { retired: isStopped() ? Promise.resolve() : server.switchModel() };
      },
      log,
    });
    if (config.shadowModel === '') return;
    this.shadow = new ModelFolder({
      role: 'shadow model',
      folder: config.shadowModel,
      files,
      async use(next) {
        await server.replaceShadow(next);
        return { retired: Promise.resolve() };
      },
      remove: () => server.replaceShadow(undefined),
      log,
    });
  }

  /** Throws if a signal interrupted the start, so that it goes no further. */
  private assertWanted(): void {
    if (this.end.hasBegun) throw new Error('the start was broken off');
  }

  /** Leaving refuses further file operations to code that still uses them; those errors are not reported. */
  private tellOfKeys(error: Error): void {
    if (!this.end.hasBegun) this.log.warn({ err: error }, 'key store');
  }

  /** Announces that requests are answered from now on. */
  private announce(address: PublicAddress, { port: adminPort }: AdminServer): void {
    const { pid, versions } = process;
    const { adminHost } = this.config;
    const line = { event: 'listening', pid, node: versions.node, ...address, adminHost, adminPort };
    this.output.write(`${JSON.stringify(line)}\n`);
    this.hooks.onListening?.({ ...address, adminHost, adminPort, hasTry: this.config.tryPage });
  }

  onSignal(signal: StopSignal): void {
    const reloads = isReload(signal);
    if (reloads && !this.isStopping) this.reload();
    else if (reloads || this.isPassedOn(signal)) this.log.debug({ signal }, 'signal ignored');
    else if (this.isStopping || this.eventLoops === undefined) this.leaveBySignal(signal);
    else this.beginStop({ signal });
  }

  private reload(): void {
    this.model?.request();
    this.shadow?.request();
  }

  /** The launcher, which would have stopped the service, is gone. */
  onOrphaned(): void {
    if (this.isStopping || this.end.hasBegun) return;
    if (this.eventLoops === undefined) this.leaveBySignal('SIGTERM');
    else this.beginStop({ cause: 'the launcher has ended' });
  }

  crash(error: unknown): void {
    this.log.fatal({ err: error }, 'unexpected error');
    void this.leave(EXIT.software);
  }

  private async failStart(error: unknown): Promise<void> {
    this.log.fatal(errorFields(error), 'start failed');
    process.stderr.write(`acuity: ${messageOf(error)}\n`);
    await this.leave(error instanceof SettingError ? EXIT.misconfigured : EXIT.failed);
  }

  private isPassedOn(signal: StopSignal): boolean {
    const { lastSignal } = this;
    const nowMs = performance.now();
    this.lastSignal ??= { name: signal, atMs: nowMs };
    if (this.hooks.areSignalsPassedOn !== true || lastSignal === undefined) return false;
    return lastSignal.name === signal && nowMs - lastSignal.atMs < PASSED_ON_MS;
  }

  private beginStop(cause: object): void {
    this.isStopping = true;
    this.refuseProbes();
    this.log.info(cause, 'stopping');
    this.drainEndsMs = performance.now() + this.config.stopDelayMs + this.config.drainMs;
    this.end.limit(this.drainEndsMs);
    void this.stop();
  }

  /** Not ready, refuse new requests, finish those in flight, then exit. */
  private async stop(): Promise<void> {
    const { eventLoops, log, config } = this;
    if (eventLoops === undefined) return;
    // The load balancer learns from /readyz that this replica leaves; until then requests are answered as
    // usual.
    if (config.stopDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, config.stopDelayMs));
    this.stopSwitches();
    if (!(await within(this.drainEndsMs - performance.now(), eventLoops.drain()))) {
      log.error({ drainMs: config.drainMs }, 'requests still in flight at the end of the drain');
      return this.leave(EXIT.software);
    }
    // Callers that keep idle connections open, and a disk that takes no counts, are not a failure.
    this.isClosed = await within(CLOSE_MS, this.close(eventLoops));
    if (!this.isClosed) log.warn('leaving before everything is closed');
    log.info('stopped');
    // The rest of the drain's time is for threads that are starting or ending.
    await this.leave(0, 'SIGKILL', this.drainEndsMs);
  }

  private stopSwitches(): void {
    this.model?.stop();
    this.shadow?.stop();
  }

  private async close(eventLoops: EventLoopServer): Promise<void> {
    await Promise.all([eventLoops.close(), this.keyring?.close(), this.admin?.close()]);
    await this.traces?.close(TRACES_CLOSE_MS);
    this.stores?.close();
  }

  /** Only the exit of the process ends a hung worker; the supervisor starts another process. */
  private leaveHung(hang: Hang): void {
    this.refuseProbes();
    this.log.fatal({ hangMs: this.config.hangMs, ...hang }, 'a worker hangs');
    setTimeout(() => void this.leave(EXIT.software), LAST_WORDS_MS);
  }

  private leaveBySignal(signal: StopSignal): void {
    if (this.end.hasBegun) return;
    this.log.warn({ signal }, 'leaving at once');
    void this.leave(128 + constants.signals[signal], signal);
  }

  /** Exits even while workers run. Until `graceEndsMs` it waits for threads that are starting or ending. */
  private async leave(code: number, signal: NodeJS.Signals = 'SIGKILL', graceEndsMs = 0): Promise<void> {
    if (this.end.hasBegun) return;
    this.stopSwitches();
    // Let an interrupted start come to its end: exiting while threads start crashes.
    const startMs = this.eventLoops === undefined ? Math.min(this.config.drainMs, START_MAX_MS) : 0;
    await this.end.leave({
      code,
      signal,
      endsMs: Math.max(performance.now() + startMs, graceEndsMs),
      settled: () => {
        // An interrupted start may still open them.
        const started = Promise.allSettled([this.starting]);
        return [started.then(() => this.admin?.close()), started.then(() => this.eventLoops?.halt())];
      },
      hasWorkers: () => this.eventLoops !== undefined && !this.isClosed,
    });
  }

  /** Takes effect at once, without waiting for a heartbeat. */
  private refuseProbes(): void {
    this.isReady = false;
    this.admin?.tell();
  }
}

/** Names the likely cause if a native library of this platform cannot be loaded. */
async function importEventLoops(): Promise<typeof import('./eventLoops.js')> {
  try {
    return await import('./eventLoops.js');
  } catch (error) {
    const cause = messageOf(error);
    if (!/uWS|GLIBC|\.node\b/.test(cause)) throw error;
    throw new OperatorError(`${platformRemedy() ?? 'a native library does not load here'}. ${cause}`, {
      cause: error,
    });
  }
}
