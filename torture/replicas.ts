import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { issue, revoked, type KeyOrder } from '#acuity/auth/lifecycle.js';
import { dayOf } from '#acuity/auth/limits.js';
import { openStores } from '#acuity/auth/location.js';
import type { KeyStores } from '#acuity/auth/store.js';
import { Connection, requestBytes } from '#acuity/load/connection.js';
import { quantileOf } from '#acuity/load/statistics.js';
import { requestBody } from '#fixtures/bodies.js';
import { startProxy, WITHOUT_HAPROXY } from '#fixtures/proxies.js';
import { changeManifest, copyModel } from '#fixtures/model.js';
import { REDIS, startStore, type RunningStore } from '#fixtures/redis.js';
import { freePorts, runServer, type Ports, type ServerProcess, type Teardown } from '#fixtures/server.js';
import { skippedTrial, triedOnce, type Form, type Part, type Trial } from './part.js';

/** Three replicas behind HAProxy with a real Redis, under load while they are changed and broken. */

const REPLICAS = 3;
const SECONDS: Readonly<Record<Form, number>> = { short: 2, long: 10 };
const RATE = 40;
const QUOTA = 400;
const BODY = JSON.stringify(requestBody(0));
const READY_MS = 60_000;
/** Longer than two looks of the load balancer. */
const STOP_DELAY_MS = 2000;
const ANSWER_MS = 20_000;

export const replicas: Part = {
  name: 'replicas',
  about: `${REPLICAS} replicas with Redis and HAProxy, changed and broken under load`,
  beyond: 'processes that end, HAProxy’s view of them, and Redis itself',
  async run(scope, { form, say }) {
    const absent = REDIS.skip || WITHOUT_HAPROXY;
    if (absent !== false) return [skippedTrial('replicas', absent)];
    const fleet = await Fleet.start(scope);
    const seconds = SECONDS[form];
    return [...(await phases(fleet, seconds, say)), ...(await promises(fleet, seconds, say))];
  },
};

/** Load from the first phase to the last: only what a killed process was answering may fail. */
async function phases(fleet: Fleet, seconds: number, say: (line: string) => void): Promise<Trial[]> {
  const { key } = await fleet.issue({ kind: 'live', ratePerS: null });
  const load = new Caller(fleet.port, key);
  const trials: Trial[] = [];
  const phase = async (what: string, act: () => Promise<unknown>, failuresMax = 0): Promise<void> => {
    say(what);
    load.begin();
    const done = (async () => {
      await act();
      await pause(seconds * 1000);
    })();
    await load.ask(BODY, RATE, done);
    const failed = load.asked - load.count(200);
    const statuses = `${failed} of ${load.asked} failed, ${failuresMax} may: ${JSON.stringify(Object.fromEntries(load.answers))}`;
    const failure = load.asked > 0 && failed <= failuresMax ? undefined : statuses;
    const p99Ms = quantileOf(Float64Array.from(load.timesMs).toSorted(), 0.99);
    trials.push(
      triedOnce(what, failure, `${load.asked} requests, ${failed} failed, p99 ${p99Ms.toFixed(0)} ms`),
    );
  };
  const locals = async (isLocal: boolean): Promise<void> => {
    await pause(seconds * 500);
    for (const replica of fleet.replicas)
      if ((await replica.isLocal()) !== isLocal) throw new Error(`limits are local: not ${isLocal}`);
  };
  const [victim] = fleet.replicas;
  await phase('three replicas', () => Promise.resolve());
  // Requests in flight, and those that reached its sockets before its end was noticed.
  await phase(
    'one is killed and replaced',
    async () => {
      await victim?.end('SIGKILL');
      await pause(1000);
      await victim?.start();
    },
    REPLICAS,
  );
  await phase('all are rolled to another model', async () => {
    for (const replica of fleet.replicas) {
      const { code } = (await replica.end('SIGTERM')) ?? {};
      if (code !== 0) throw new Error(`a replica that was stopped ended with ${code}`);
      await replica.start(fleet.nextModel);
      await pause(1500); // until the load balancer has seen it
    }
  });
  await phase('Redis is killed', async () => {
    await fleet.store.kill();
    await locals(true);
  });
  await phase('Redis is back', async () => {
    await fleet.store.start();
    await locals(false);
  });
  load.close();
  return trials;
}

/** What docs/FLEET.md promises, over all replicas and through the load balancer. */
async function promises(fleet: Fleet, seconds: number, say: (line: string) => void): Promise<Trial[]> {
  say('promises');
  const near = (what: string, got: number, allowed: number): Trial => {
    const percent = 100 * (got / allowed - 1);
    const figure = `${got} of ${Math.round(allowed)}: ${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`;
    return triedOnce(what, Math.abs(percent) <= 5 ? undefined : figure, figure);
  };
  const greedy = await fleet.issue({ kind: 'live', ratePerS: RATE });
  const caller = new Caller(fleet.port, greedy.key);
  await caller.ask(BODY, 3 * RATE, pause(seconds * 1000));
  const rate = near(`a rate of ${RATE}/s`, caller.count(200), RATE * (2 + seconds));
  caller.close();

  const limited = await fleet.issue({ kind: 'live', ratePerS: null, dailyMax: QUOTA });
  const spender = new Caller(fleet.port, limited.key);
  await spender.ask(BODY, 80, pause((2 * QUOTA * 1000) / 80));
  const quota = near(`${QUOTA} predictions a day`, spender.count(200), QUOTA);
  spender.close();
  await pause(1000);
  const counted = await fleet.counted(limited.id);
  const answered = spender.count(200);
  const usage = `${counted} counted, ${answered} answered with 200, ${spender.count(429)} with 429`;

  const gone = await fleet.issue({ kind: 'live', ratePerS: null });
  const late = new Caller(fleet.port, gone.key);
  await late.ask(BODY, 30, pause(1000));
  await fleet.stores.keys.amend(gone.id, (record) => revoked(record, Date.now()));
  await pause(1000);
  const before = late.count(200);
  late.begin();
  await late.ask(BODY, 30, pause(2000));
  late.close();
  const refusals = `${late.count(200)} answers, ${late.count(403)} refused`;
  const isRefused = before > 0 && late.count(200) === 0 && late.count(403) > 0;
  return [
    rate,
    quota,
    triedOnce('keys usage', counted === answered ? undefined : usage, usage),
    triedOnce('a revoked key, from one second on', isRefused ? undefined : refusals, refusals),
  ];
}

class Fleet {
  private constructor(
    /** Of the load balancer. */
    readonly port: number,
    readonly store: RunningStore,
    readonly stores: KeyStores,
    readonly replicas: readonly Replica[],
    readonly nextModel: string,
  ) {}

  static async start(t: Teardown): Promise<Fleet> {
    const folder = mkdtempSync(join(tmpdir(), 'acuity-fleet-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const nextModel = copyModel(join(folder, 'next'));
    changeManifest(nextModel, (manifest) => ({ ...manifest, version: `${manifest.version}-next` }));
    const store = await startStore(t, { isKept: true });
    const stores = await openStores(store.url);
    t.teardown(() => stores.close());
    const replicas: Replica[] = [];
    for (let at = 0; at < REPLICAS; at++) replicas.push(new Replica(t, await freePorts(), store.url));
    for (const replica of replicas) await replica.start();
    const { port } = await startProxy(
      t,
      replicas.map(({ ports }) => ports),
    );
    return new Fleet(port, store, stores, replicas, nextModel);
  }

  async issue(order: KeyOrder): Promise<{ readonly id: string; readonly key: string }> {
    const { record, key } = issue(order, Date.now());
    await this.stores.keys.insert(record);
    await this.stores.spread();
    return { id: record.id, key };
  }

  /** As `acuity keys usage` has it. */
  async counted(id: string): Promise<number> {
    const today = dayOf(Date.now());
    const days = await this.stores.usage(today - 1, today);
    return days.reduce((sum, { used }) => sum + (used[id] ?? 0), 0);
  }
}

/** One of the three: its own ports, and the process that serves on them. */
class Replica {
  private serving: ServerProcess | undefined;

  constructor(
    t: Teardown,
    readonly ports: Ports,
    private readonly keys: string,
  ) {
    t.teardown(() => this.end('SIGKILL'));
  }

  /** Starts the process; resolves when it accepts requests. */
  async start(model?: string): Promise<void> {
    const serving = runServer({
      env: {
        ...this.ports.env,
        ACUITY_KEYS: this.keys,
        ACUITY_WORKERS: '1',
        ACUITY_STOP_DELAY_MS: String(STOP_DELAY_MS),
        // Three replicas share the machine with their load: waits show in p99, and are no failure.
        ACUITY_DEADLINE_MS: '10000',
        ...(model !== undefined && { ACUITY_MODEL: model }),
      },
    });
    this.serving = serving;
    for (const endsMs = Date.now() + READY_MS; !(await this.isReady()); await pause(50))
      if (serving.child.exitCode !== null || Date.now() > endsMs)
        throw new Error(`a replica is not ready: ${serving.output().slice(-2000)}`);
  }

  async end(signal: NodeJS.Signals): Promise<{ readonly code: number | null } | undefined> {
    this.serving?.child.kill(signal);
    return this.serving?.exited;
  }

  async isLocal(): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${this.ports.adminPort}/metrics`);
    return /^acuity_limits_local 1$/m.test(await response.text());
  }

  private async isReady(): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${this.ports.adminPort}/readyz`).catch(() => undefined);
    await response?.body?.cancel();
    return response?.ok === true;
  }
}

/** Sends at a given rate, whether answers come or not, and counts them by status; 0: the connection ended. */
class Caller {
  answers = new Map<number, number>();
  timesMs: number[] = [];
  asked = 0;
  private readonly idle: Connection[] = [];

  constructor(
    private readonly port: number,
    private readonly key: string,
  ) {}

  count(status: number): number {
    return this.answers.get(status) ?? 0;
  }

  /** Counts from here on. */
  begin(): void {
    this.answers = new Map();
    this.timesMs = [];
    this.asked = 0;
  }

  /** Sends `body` `rate` times a second until `end`; resolves when all are answered. */
  async ask(body: string, rate: number, end: Promise<unknown>): Promise<void> {
    const request = requestBytes({ port: this.port, key: this.key }, body);
    const startMs = performance.now();
    const asked: Promise<void>[] = [];
    const over = end.then(() => true);
    do {
      const due = ((performance.now() - startMs) * rate) / 1000;
      while (asked.length < due) asked.push(this.one(request, startMs + (asked.length * 1000) / rate));
    } while (!(await Promise.race([over, pause(5, false)])));
    await Promise.all(asked);
  }

  close(): void {
    for (const connection of this.idle) connection.close();
  }

  /** Its time counts from when it was due. */
  private async one(request: Buffer, dueMs: number): Promise<void> {
    this.asked++;
    let connection = this.idle.pop();
    while (connection?.isOpen === false) connection = this.idle.pop(); // the load balancer has closed it
    let status = 0;
    const timer = setTimeout(() => connection?.close(), ANSWER_MS);
    try {
      connection ??= await Connection.open(this.port);
      const reply = await connection.send(request);
      ({ status } = reply);
      if (/\r\nconnection: *close/i.test(reply.head)) connection.close();
      else this.idle.push(connection);
    } catch {
      connection?.close();
    }
    clearTimeout(timer);
    this.timesMs.push(performance.now() - dueMs);
    this.answers.set(status, this.count(status) + 1);
  }
}
