import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { issue } from '#acuity/auth/lifecycle.js';
import { openStores } from '#acuity/auth/location.js';
import { Connection, sendOn } from '#fixtures/connection.js';
import { MODEL } from '#fixtures/model.js';
import { freePorts, runServer, type ServerProcess, type Teardown } from '#fixtures/server.js';

export interface SubjectOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  /** Instead of its own key file. */
  readonly keys?: string;
}

const READY_MS = 60_000;
const AGAIN_MS = 200;

/** The server that the provocations act on: killed, restarted, overloaded. */
export class Subject {
  /** The link that `ACUITY_MODEL` names. */
  readonly model: string;
  readonly keys: string;
  readonly logFile: string;
  port = 0;
  adminPort = 0;
  key = '';
  private serving: ServerProcess | undefined;
  private saidBefore = '';
  private readonly stopped = new AbortController();

  constructor(
    t: Teardown,
    readonly folder: string,
    private readonly options: SubjectOptions,
  ) {
    mkdirSync(folder, { recursive: true });
    this.model = join(folder, 'model');
    this.keys = options.keys ?? `file:${join(folder, 'keys.json')}`;
    this.logFile = join(folder, 'log');
    symlinkSync(MODEL, this.model);
    t.teardown(() => this.end());
  }

  async open(): Promise<void> {
    const { port, adminPort } = await freePorts();
    Object.assign(this, { port, adminPort });
    const { record, key } = issue({ kind: 'live', ratePerS: null, dailyMax: null }, Date.now());
    const stores = await openStores(this.keys);
    await stores.keys.insert(record);
    stores.close();
    this.key = key;
    await this.start();
  }

  async start(): Promise<void> {
    const { options, port, adminPort } = this;
    this.serving = runServer({
      nodeOptions: options.nodeOptions ?? [],
      env: {
        ACUITY_PORT: String(port),
        ACUITY_ADMIN_PORT: String(adminPort),
        ACUITY_KEYS: this.keys,
        ACUITY_MODEL: this.model,
        ...options.env,
      },
    });
    const endsMs = Date.now() + READY_MS;
    while (!(await this.isReady())) {
      if (Date.now() > endsMs || this.serving.child.exitCode !== null)
        throw new Error(`the server does not start: ${this.serving.output()}`);
      await pause(AGAIN_MS);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.serving?.child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.serving?.exited;
    this.saidBefore += this.serving?.output() ?? '';
    this.serving = undefined;
  }

  /** Writes its output so far to its log. */
  writeLog(): void {
    writeFileSync(this.logFile, this.saidBefore + (this.serving?.output() ?? ''));
  }

  /** Sends `body` repeatedly, over this many connections, until the returned function is called. */
  calling({ body, key = this.key, callers = 1, pauseMs = 20 }: Calls): () => void {
    const stop = new AbortController();
    const isOver = (): boolean => stop.signal.aborted || this.stopped.signal.aborted;
    const call = async (connection: Connection): Promise<void> => {
      while (!isOver()) {
        await sendOn(connection, { headers: { 'X-API-Key': key }, body });
        await pause(pauseMs);
      }
    };
    for (let caller = 0; caller < callers; caller++) void this.keepCalling(call, isOver);
    return () => stop.abort();
  }

  /** A server that has gone comes back. */
  private async keepCalling(
    call: (connection: Connection) => Promise<void>,
    isOver: () => boolean,
  ): Promise<void> {
    while (!isOver()) {
      const connection = await Connection.open(this.port).catch(() => undefined);
      if (connection !== undefined) await call(connection).catch(() => undefined);
      connection?.destroy();
      await pause(AGAIN_MS);
    }
  }

  async end(): Promise<void> {
    this.stopped.abort();
    if (this.serving !== undefined) await this.kill();
  }

  private isReady(): Promise<boolean> {
    return fetch(`http://127.0.0.1:${this.adminPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

export interface Calls {
  readonly body: string;
  readonly key?: string;
  readonly callers?: number;
  readonly pauseMs?: number;
}
