import { openKeyring, type Keyring } from '../auth/keyring.js';
import { Limits, allocateLimits } from '../auth/limits.js';
import { storesAt } from '../auth/location.js';
import { systemClock } from '../base/clock.js';
import { collectWithoutHelpers } from '../base/collector.js';
import { exitAtOnce } from '../base/exit.js';
import { createLog, type Log } from '../base/log.js';
import type { Config } from '../config/options.js';
import { allocateLoopMetrics } from '../contract/metrics.js';
import type { AdminServer } from '../admin/listener.js';
import { loadBundle } from '../model/bundle.js';
import type { EventLoopServer } from './eventLoopServer.js';
import { ModelSwitch } from './modelSwitch.js';
import { openAdmin } from './adminListener.js';

export interface ServeHooks {
  /** Called once the public listener accepts connections. */
  onListening?(address: { readonly host: string; readonly port: number }): void;
}

/** Exit codes of sysexits.h, where there is one. */
const EXIT_SOFTWARE = 70;
const EXIT_FAILED_START = 1;
const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
/** Most keys with limits of their own: what each takes is virtual until it is used. */
const KEYS_MAX = 1 << 20;
/** After a hang, so long for the answers that are being written. */
const LAST_WORDS_MS = 250;

/** Serves until told to stop. */
export async function serve(config: Config, hooks: ServeHooks = {}): Promise<void> {
  collectWithoutHelpers();
  const log = createLog({ level: config.logLevel });
  const service = new Service(config, log);
  process.once('uncaughtException', (error) => service.crash(error));
  process.once('unhandledRejection', (error) => service.crash(error));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => service.onSignal(signal));
  }
  process.on('SIGHUP', () => service.reloadModel());
  try {
    await service.start();
  } catch (error) {
    service.failStart(error);
    return;
  }
  const address = service.announce();
  hooks.onListening?.(address);
}

class Service {
  private isReady = false;
  private isStopping = false;
  private keyring: Keyring | undefined;
  private eventLoops: EventLoopServer | undefined;
  private admin: AdminServer | undefined;
  private modelSwitch: ModelSwitch | undefined;

  constructor(
    private readonly config: Config,
    private readonly log: Log,
  ) {}

  async start(): Promise<void> {
    const { config, log } = this;
    const bundle = await loadBundle(config.model);
    const limits = new Limits(allocateLimits(KEYS_MAX));
    const { keys: store, usage } = storesAt(config.keys);
    this.keyring = await openKeyring({
      store,
      usage,
      limits,
      clock: systemClock,
      onRecords: (records) => this.eventLoops?.replaceKeys(records),
      onProblem: (error) => log.warn({ err: error }, 'key store'),
    });
    const metrics = Array.from({ length: config.httpThreads }, allocateLoopMetrics);
    const modelVersion = (): string => this.modelSwitch?.version ?? bundle.manifest.version;
    this.admin = await openAdmin(config, { isReady: () => this.isReady, modelVersion }, metrics);
    const { openEventLoops } = await importEventLoops();
    this.eventLoops = await openEventLoops(
      {
        config,
        bundle,
        address: { host: config.host, port: config.port },
        limits: limits.memory,
        records: this.keyring.records,
        metrics,
      },
      log,
      { onHung: () => this.leaveHung(), onCrash: (error) => this.crash(error) },
    );
    // A key that was revoked while the workers started was told to nobody.
    this.eventLoops.replaceKeys(this.keyring.records);
    this.modelSwitch = new ModelSwitch({
      folder: config.model,
      server: this.eventLoops,
      log,
    });
    this.isReady = !this.isStopping;
  }

  /** Says that requests are answered from now on. */
  announce(): { readonly host: string; readonly port: number } {
    if (this.eventLoops === undefined || this.admin === undefined)
      throw new Error('announced before the start');
    const { host, port } = this.eventLoops.address;
    const { host: adminHost, port: adminPort } = this.admin;
    const line = { event: 'listening', pid: process.pid, host, port, adminHost, adminPort };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    return { host, port };
  }

  onSignal(signal: keyof typeof SIGNAL_NUMBERS): void {
    if (this.isStopping || this.eventLoops === undefined) {
      this.log.warn({ signal }, 'leaving at once');
      this.leaveAtOnce(128 + SIGNAL_NUMBERS[signal]);
    }
    this.isStopping = true;
    this.isReady = false;
    this.log.info({ signal }, 'stopping');
    void this.stop();
  }

  /** SIGHUP: another model may lie in the configured folder. */
  reloadModel(): void {
    this.modelSwitch?.request();
  }

  crash(error: unknown): void {
    this.log.fatal({ err: error }, 'unexpected error');
    this.leaveAtOnce(EXIT_SOFTWARE);
  }

  failStart(error: unknown): void {
    this.log.fatal({ err: error }, 'start failed');
    process.stderr.write(`acuity: ${error instanceof Error ? error.message : String(error)}\n`);
    this.leave(EXIT_FAILED_START);
  }

  /** Not ready, no admission, what is in flight finished, then out. */
  private async stop(): Promise<void> {
    const { eventLoops, config } = this;
    if (eventLoops === undefined) return;
    this.modelSwitch?.stop();
    const timer = setTimeout(() => {
      this.log.error({ drainMs: config.drainMs }, 'requests still in flight at the end of the drain');
      this.leaveAtOnce(EXIT_SOFTWARE);
    }, config.drainMs);
    await eventLoops.drain();
    // What follows is bounded by itself, and callers that keep idle connections open are no failure.
    clearTimeout(timer);
    await eventLoops.close();
    await this.keyring?.close();
    this.admin?.close();
    this.log.info('stopped');
    this.leave(0);
  }

  /** A hung worker can't be ended without the process: the supervisor starts another. */
  private leaveHung(): void {
    this.isReady = false;
    this.log.fatal({ hangMs: this.config.hangMs }, 'a worker hangs');
    setTimeout(() => this.leaveAtOnce(EXIT_SOFTWARE), LAST_WORDS_MS);
  }

  /** Only where no model run can be in flight. */
  private leave(code: number): never {
    this.log.flush();
    process.exit(code);
  }

  /** Whatever the workers are doing. */
  private leaveAtOnce(code: number): never {
    this.log.flush();
    exitAtOnce(code);
  }
}

/** Names the likely cause where a native library of this platform cannot be loaded. */
async function importEventLoops(): Promise<typeof import('./eventLoops.js')> {
  try {
    return await import('./eventLoops.js');
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    if (!/uWS|GLIBC|\.node\b/.test(cause)) throw error;
    throw new Error(
      'a native library does not load here. The uWebSockets.js builds for Node 22 and newer need glibc 2.38 ' +
        `(Debian 13, Ubuntu 24.04); on older systems use Node 20. ${cause}`,
      { cause: error },
    );
  }
}
