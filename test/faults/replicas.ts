import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { issue, revoked, type KeyOrder } from '#acuity/auth/lifecycle.js';
import { openStores } from '#acuity/auth/location.js';
import { JSON_TYPE } from '#acuity/contract/mediaTypes.js';
import { quantileOf } from '#acuity/tune/load/statistics.js';
import { requestBody } from '#fixtures/bodies.js';
import { startProxy, WITHOUT_HAPROXY } from '#fixtures/proxies.js';
import { changeManifest, copyModel } from '#fixtures/model.js';
import { REDIS, startStore, usedOf } from '#fixtures/redis.js';
import { temporaryFolder, type Teardown } from '#fixtures/repository.js';
import type { Exit } from '#fixtures/scripts.js';
import { freePorts, startServer, type Ports, type RunningServer } from '#fixtures/server.js';
import { Trial, type Form, type Part } from './part.js';

/** Three replicas behind HAProxy with a real Redis, under load while they are changed and broken. */

const REPLICAS = 3;
const SECONDS: Readonly<Record<Form, number>> = { short: 2, long: 10 };
const RATE = 40;
const QUOTA = 400;
const BODY = JSON.stringify(requestBody(0));
/** Longer than two looks of the load balancer. */
const STOP_DELAY_MS = 2000;
const ANSWER_MS = 20_000;

export const replicas: Part = {
  name: 'replicas',
  about: `${REPLICAS} replicas with Redis and HAProxy, changed and broken under load`,
  beyond: 'processes that end, HAProxy’s view of them, and Redis itself',
  async run(scope, { form, say }) {
    const absent = REDIS.skip || WITHOUT_HAPROXY;
    if (absent !== false) return [new Trial('replicas').with({ skipped: absent })];
    const fleet = await startFleet(scope);
    const seconds = SECONDS[form];
    return [...(await phases(fleet, seconds, say)), ...(await promises(fleet, seconds, say))];
  },
};

/** Load from the first phase to the last: only what a killed process was answering may fail. */
async function phases(fleet: Fleet, seconds: number, say: (line: string) => void): Promise<Trial[]> {
  const load = await fleet.caller({ kind: 'live', ratePerS: null });
  const trials: Trial[] = [];
  const phase = async (what: string, act: () => Promise<unknown>, failuresMax = 0): Promise<void> => {
    say(what);
    const done = (async () => {
      await act();
      await pause(seconds * 1000);
    })();
    const answers = await load.ask(RATE, done);
    const asked = answers.length;
    const failures = answers.filter(({ status }) => status !== 200).map(({ status }) => status);
    const statuses = `${failures.length} of ${asked} failed, ${failuresMax} may: ${failures.join(' ')}`;
    const failure = asked > 0 && failures.length <= failuresMax ? undefined : statuses;
    const p99Ms = quantileOf(Float64Array.from(answers, ({ ms }) => ms).toSorted(), 0.99);
    const figure = `${asked} requests, ${failures.length} failed, p99 ${p99Ms.toFixed(0)} ms`;
    trials.push(new Trial(what).with({ figure }).add(failure));
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
  return trials;
}

/** What docs/FLEET.md promises, over all replicas and through the load balancer. */
async function promises(fleet: Fleet, seconds: number, say: (line: string) => void): Promise<Trial[]> {
  say('promises');
  const near = (what: string, got: number, allowed: number): Trial => {
    const percent = 100 * (got / allowed - 1);
    const figure = `${got} of ${Math.round(allowed)}: ${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`;
    return new Trial(what).with({ figure }).add(Math.abs(percent) <= 5 ? undefined : figure);
  };
  const greedy = await fleet.caller({ kind: 'live', ratePerS: RATE });
  const taken = countOf(await greedy.ask(3 * RATE, pause(seconds * 1000)), 200);
  const rate = near(`a rate of ${RATE}/s`, taken, RATE * (2 + seconds));

  const spender = await fleet.caller({ kind: 'live', ratePerS: null, dailyMax: QUOTA });
  const spent = await spender.ask(80, pause((2 * QUOTA * 1000) / 80));
  const answered = countOf(spent, 200);
  const quota = near(`${QUOTA} predictions a day`, answered, QUOTA);
  await pause(1000);
  const counted = await usedOf(fleet.stores, spender.id);
  const usage = `${counted} counted, ${answered} answered with 200, ${countOf(spent, 429)} with 429`;

  const late = await fleet.caller({ kind: 'live', ratePerS: null });
  const before = countOf(await late.ask(30, pause(1000)), 200);
  await fleet.stores.keys.amend(late.id, (record) => revoked(record, Date.now()));
  await pause(1000);
  const after = await late.ask(30, pause(2000));
  const [scored, refused] = [countOf(after, 200), countOf(after, 403)];
  const refusals = `${scored} answers, ${refused} refused`;
  const isRefused = before > 0 && scored === 0 && refused > 0;
  return [
    rate,
    quota,
    new Trial('keys usage').with({ figure: usage }).add(counted === answered ? undefined : usage),
    new Trial('a revoked key, from one second on')
      .with({ figure: refusals })
      .add(isRefused ? undefined : refusals),
  ];
}

type Fleet = Awaited<ReturnType<typeof startFleet>>;

async function startFleet(t: Teardown) {
  const nextModel = copyModel(join(temporaryFolder(t), 'next'));
  changeManifest(nextModel, (manifest) => ({ ...manifest, version: `${manifest.version}-next` }));
  const store = await startStore(t, { isKept: true });
  const stores = await openStores(store.url);
  t.teardown(() => stores.close());
  const replicas: Replica[] = [];
  for (let at = 0; at < REPLICAS; at++) replicas.push(new Replica(t, await freePorts(), store.url));
  for (const replica of replicas) await replica.start();
  const { port } = await startProxy(t, replicas.map(({ ports }) => ports)); // prettier-ignore
  /** A caller through the load balancer, with a key of its own. */
  const caller = async (order: KeyOrder): Promise<Caller> => {
    const { record, key } = issue(order, Date.now());
    await stores.keys.insert(record);
    await stores.spread();
    return new Caller(port, record.id, key);
  };
  return { caller, store, stores, replicas, nextModel };
}

/** One of the three: its own ports, and the process that serves on them. */
class Replica {
  private serving: RunningServer | undefined;

  constructor(
    private readonly scope: Teardown,
    readonly ports: Ports,
    private readonly keys: string,
  ) {}

  /** Starts the process; resolves when it listens. */
  async start(model?: string): Promise<void> {
    const env = {
      ...this.ports.env,
      ACUITY_KEYS: this.keys,
      ACUITY_STOP_DELAY_MS: String(STOP_DELAY_MS),
      ...(model !== undefined && { ACUITY_MODEL: model }),
    };
    this.serving = await startServer(this.scope, { env });
  }

  async end(signal: NodeJS.Signals): Promise<Exit | undefined> {
    this.serving?.signal(signal);
    return this.serving?.exited;
  }

  async isLocal(): Promise<boolean> {
    return (await this.serving?.metric('acuity_limits_local')) === 1;
  }
}

/** An answer, of status 0 where none came; `ms` after its request was due. */
interface Answer {
  readonly status: number;
  readonly ms: number;
}

function countOf(answers: readonly Answer[], status: number): number {
  return answers.filter((answer) => answer.status === status).length;
}

/** Sends at a given rate, whether answers come or not. */
class Caller {
  private readonly request: RequestInit;

  constructor(
    private readonly port: number,
    readonly id: string,
    key: string,
  ) {
    this.request = { method: 'POST', headers: { 'Content-Type': JSON_TYPE, 'X-API-Key': key }, body: BODY };
  }

  /** Sends `rate` times a second until `end`; resolves when all are answered. */
  async ask(rate: number, end: Promise<unknown>): Promise<Answer[]> {
    const startMs = performance.now();
    const asked: Promise<Answer>[] = [];
    const over = end.then(() => true);
    do {
      const due = ((performance.now() - startMs) * rate) / 1000;
      while (asked.length < due) asked.push(this.one(startMs + (asked.length * 1000) / rate));
    } while (!(await Promise.race([over, pause(5, false)])));
    return Promise.all(asked);
  }

  private async one(dueMs: number): Promise<Answer> {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const status = await fetch(`http://127.0.0.1:${this.port}/predict`, { ...this.request, signal })
      .then((response) => response.arrayBuffer().then(() => response.status))
      .catch(() => 0);
    return { status, ms: performance.now() - dueMs };
  }
}
