import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { messageOf } from '#acuity/base/errors.js';
import { pick, seededRandom, type Random } from '#acuity/base/random.js';
import { Connection, requestBytes } from '#acuity/tune/load/connection.js';
import { quantileOf, spreadOf } from '#acuity/tune/load/statistics.js';
import { BAD_AGES } from '#fixtures/ages.js';
import { changeManifest, copyModel, turnLink } from '#fixtures/model.js';
import { temporaryFolder, type Teardown } from '#fixtures/repository.js';
import { startServer, type RunningServer } from '#fixtures/server.js';
import { FAULTY, loopsOf } from '#fixtures/stops.js';
import { knownAnswers, wrongAnswer, type KnownAnswer } from './knownAnswers.js';
import { leftBehind, metricsOf, valueOf } from '#fixtures/promtool.js';
import { Trial, type Form, type Part } from './part.js';

/**
 * `mixup`: whether a caller ever gets another one's answer, while everything changes that can change. `soak`: what grows
 * while callers come and go for minutes.
 */

const CONNECTIONS = 64;
const LOOPS = 2;
const BODIES: Readonly<Record<Form, number>> = { short: 60, long: 300 };
const ANSWERS: Readonly<Record<Form, number>> = { short: 4_000, long: 500_000 };
/** Share of requests whose caller does not wait for the answer. */
const LEFT = 0.02;
/** Share of those that break off within the body. */
const CUT = 0.5;
/** Share of requests that kill a worker or fail its run: each costs a worker's start, which is slow. */
const FATAL: Readonly<Record<Form, number>> = { short: 0.002, long: 0.0001 };
/** Keys in force at once. */
const KEYS = 4;
/** Share of requests with a revoked key. */
const REVOKED = 0.02;
const SWITCH_MS = 3_000;
const KEYS_MS = 700;
/** Connections on which a new key is tried: each event loop has some of them. */
const PROBES = 8;
const SAY_MS = 30_000;

/** Callers of a soak, and their longest pause between two requests: the service is busy, not full. */
const SOAKERS = 24;
const THINK_MS = 24;
const SAMPLE_MS = 1_000;
/** The start, in which heaps find their size, is left out. */
const WARM_SHARE = 0.2;
const MIB = 1024 * 1024;

export const mixup: Part = {
  name: 'mixup',
  about: `distinct bodies over ${CONNECTIONS} connections, while models, keys, workers and callers come and go`,
  beyond: 'threads, shared memory and ONNX Runtime: whose scores are whose',
  async run(scope, { form, seed, say }) {
    const { server, turn } = await startSwitchable(scope);
    const known = await knownAnswers(server, BODIES[form], seed);
    const run = new Crowd(server, known, { fatal: FATAL[form], thinkMs: 0 });
    const isOver = (): boolean => run.answers.tried >= ANSWERS[form];
    await run.call(CONNECTIONS, seed, isOver, [
      [SWITCH_MS, async () => turn()],
      [KEYS_MS, () => run.changeKeys()],
      [SAY_MS, async () => say(`${run.answers.tried} answers`)],
    ]);
    return run.trials(await leftBehind(server));
  },
};

export const soak: Part = {
  name: 'soak',
  about: `${SOAKERS} callers who come and go for some minutes: what grows`,
  beyond: 'memory, descriptors and lag over real time',
  async run(scope, { form, minutes, seed, say }) {
    const server = await startServer(scope, { env: { ACUITY_LOG_LEVEL: 'fatal', ...loopsOf(LOOPS) } });
    const run = new Crowd(server, await knownAnswers(server, BODIES.short, seed), {
      fatal: 0,
      thinkMs: THINK_MS,
    });
    const endMs = performance.now() + 60_000 * (form === 'short' ? 0.15 : minutes);
    const readings: Reading[] = [];
    await run.call(SOAKERS, seed, () => performance.now() > endMs, [
      [KEYS_MS, () => run.changeKeys()],
      [SAMPLE_MS, async () => void readings.push(await run.read())],
      [SAY_MS, async () => say(`${run.answers.tried} answers`)],
    ]);
    return [
      ...(await run.trials(await leftBehind(server))),
      ...GROWTHS.map((growth) => growthOf(readings, growth)),
    ];
  },
};

type Reading = Awaited<ReturnType<Crowd['read']>>;

/** What must not grow by more than `most` a minute, from the first half of the time to the second. */
const GROWTHS = [
  { what: 'memory', unit: 'MiB', most: 1 },
  { what: 'files', unit: 'files', most: 0.5 },
  { what: 'lag', unit: 'ms', most: 1 },
  { what: 'p99', unit: 'ms', most: 1 },
] as const;

/** Too short a time gives no result. */
function growthOf(readings: readonly Reading[], { what, unit, most }: (typeof GROWTHS)[number]): Trial {
  const trial = new Trial(`no growth: ${what}`);
  const used = readings.slice(Math.ceil(WARM_SHARE * readings.length));
  if (used.length < 30) return trial.with({ skipped: 'too short a time' });
  const medianOf = (part: readonly Reading[]): number =>
    spreadOf(part.map((reading) => reading[what])).median;
  const [before, after] = [used.slice(0, used.length / 2), used.slice(used.length / 2)].map(medianOf);
  const minutes = ((used.at(-1)?.minutes ?? NaN) - (used[0]?.minutes ?? NaN)) / 2;
  const perMinute = ((after ?? NaN) - (before ?? NaN)) / minutes;
  const figure = `${perMinute < 0 ? '' : '+'}${perMinute.toFixed(2)} ${unit} a minute, median ${medianOf(used).toFixed(1)} ${unit}`;
  return trial.with({ figure }).add(perMinute <= most ? undefined : figure);
}

/** Repeats `act`, one call after the other, until told to stop. */
async function every(ms: number, stop: AbortSignal, act: () => Promise<unknown>): Promise<void> {
  while (!stop.aborted) {
    await pause(ms, undefined, { signal: stop }).catch(() => undefined);
    if (!stop.aborted) await act();
  }
}

/** A server whose model switches to a second one with the same scores, and back. */
async function startSwitchable(scope: Teardown): Promise<{ server: RunningServer; turn(): void }> {
  const folder = temporaryFolder(scope);
  const models = ['first', 'second'].map((name) => copyModel(join(folder, name)));
  const [first = '', second = ''] = models;
  changeManifest(second, (manifest) => ({ ...manifest, version: 'second' }));
  const link = join(folder, 'served');
  symlinkSync(first, link);
  // Workers that restart again and again on a busy machine are slow, but do not hang.
  const env = { ACUITY_MODEL: link, ACUITY_LOG_LEVEL: 'fatal', ACUITY_HANG_MS: '120000', ...loopsOf(LOOPS) };
  const server = await startServer(scope, { nodeOptions: FAULTY, env });
  let turns = 0;
  const turn = (): void => {
    turnLink(link, models[++turns % 2] ?? first);
    server.signal('SIGHUP');
  };
  return { server, turn };
}

interface HeldKey {
  readonly id: string;
  readonly key: string;
  /** From now on it may be refused. */
  isRevoked: boolean;
}

const FATAL_BODIES = [BAD_AGES.exits, BAD_AGES.throws].map((age) => `{"current_session":{"age":${age}}}`);

class Crowd {
  /** Scores, and whether they belong to the request that got them. */
  readonly answers = new Trial('scores are those of the request that gets them');
  /** Other answers, and whether they had a cause. */
  private readonly refusals = new Trial('every other answer has its cause');
  private readonly statuses = new Map<number, number>();
  private readonly keys: HeldKey[];
  private readonly startMs = performance.now();
  /** Of the answers since the last reading. */
  private timesMs: number[] = [];
  private left = 0;
  private revocations = 0;
  private requests = 0;

  constructor(
    private readonly server: RunningServer,
    private readonly known: readonly KnownAnswer[],
    private readonly odds: { readonly fatal: number; readonly thinkMs: number },
  ) {
    this.keys = server.keys.map(({ id, key }) => ({ id, key, isRevoked: false }));
  }

  /** So many callers, until it is over; meanwhile each of `churn` again and again, after so many milliseconds. */
  async call(
    callers: number,
    seed: number,
    isOver: () => boolean,
    churn: readonly (readonly [ms: number, act: () => Promise<unknown>])[],
  ): Promise<void> {
    const stop = new AbortController();
    const churning = churn.map(([ms, act]) => every(ms, stop.signal, act));
    const calling = Array.from({ length: callers }, (_, caller) =>
      this.callOne(seededRandom(seed * 1_000 + caller), isOver),
    );
    try {
      await Promise.all(calling);
    } catch (error) {
      const said = this.server.output().slice(-2_000);
      throw new Error(`${messageOf(error)}; the server said: ${said}`, { cause: error });
    } finally {
      stop.abort();
      await Promise.allSettled(churning);
    }
  }

  private async callOne(random: Random, isOver: () => boolean): Promise<void> {
    let connection = await Connection.open(this.server.port);
    while (!isOver()) {
      if (this.odds.thinkMs > 0) await pause(this.odds.thinkMs * random());
      if (random() < LEFT) {
        await this.leave(random, connection);
        connection = await Connection.open(this.server.port);
      } else await this.ask(random, connection, `caller-${this.requests++}`);
    }
    connection.close();
  }

  private async ask(random: Random, connection: Connection, id: string): Promise<void> {
    const { port } = this.server;
    const held = this.pickKey(random);
    const isFatal = random() < this.odds.fatal;
    const known = pick(random, this.known);
    const body = isFatal ? pick(random, FATAL_BODIES) : known.body;
    const startMs = performance.now();
    const reply = await connection.send(requestBytes({ port, key: held.key }, body, id));
    this.timesMs.push(performance.now() - startMs);
    this.statuses.set(reply.status, (this.statuses.get(reply.status) ?? 0) + 1);
    if (reply.status === 200 && !isFatal) this.answers.add(wrongAnswer(reply, id, known));
    else this.refusals.add(this.wrongRefusal(reply.status, held, isFatal));
  }

  private wrongRefusal(status: number, held: HeldKey, isFatal: boolean): string | undefined {
    const hasCause = (status === 403 && held.isRevoked) || (status === 500 && isFatal) || status === 503;
    return hasCause ? undefined : `${status} without a cause`;
  }

  /** Sends a request, or half of one, and disconnects. */
  private async leave(random: Random, connection: Connection): Promise<void> {
    const { port } = this.server;
    const bytes = requestBytes({ port, key: this.pickKey(random).key }, pick(random, this.known).body);
    const part = random() < CUT ? bytes.subarray(0, Math.floor(bytes.length * random())) : bytes;
    connection.send(part).catch(() => undefined);
    await pause(3 * random());
    connection.close();
    this.left++;
  }

  /** Usually a valid one; sometimes one revoked recently. */
  private pickKey(random: Random): HeldKey {
    const isOld = random() < REVOKED;
    const keys = this.keys.filter(({ isRevoked }) => isRevoked === isOld);
    return pick(random, keys.length === 0 ? this.keys.slice(0, 1) : keys.slice(-KEYS));
  }

  /** Issues a key; if there are enough, revokes the oldest but the first. */
  async changeKeys(): Promise<void> {
    const { record, key } = issue({ kind: 'live', ratePerS: null, dailyMax: null }, Date.now());
    await this.server.keyStore.insert(record);
    await pause(KEYS_MS);
    await this.counts(key);
    this.keys.push({ id: record.id, key, isRevoked: false });
    const held = this.keys.filter(({ isRevoked }) => !isRevoked);
    const oldest = held.length > KEYS ? held[1] : undefined;
    if (oldest === undefined) return;
    oldest.isRevoked = true;
    await this.server.keyStore.amend(oldest.id, (found) => revoked(found, Date.now()));
    this.revocations++;
  }

  /** Waits until a key is valid on every event loop; on a busy machine that takes longer than the allowed second. */
  private async counts(key: string): Promise<void> {
    const { port } = this.server;
    const request = requestBytes({ port, key }, this.known[0]?.body ?? '{}');
    for (let accepted = 0; accepted < PROBES; accepted++) {
      const connection = await Connection.open(port);
      const { status } = await connection.send(request);
      connection.close();
      if (status !== 403) continue;
      accepted = -1;
      await pause(KEYS_MS);
    }
  }

  async read() {
    const { pid, adminPort } = this.server;
    const sorted = Float64Array.from(this.timesMs).toSorted();
    this.timesMs = [];
    const series = await metricsOf(adminPort);
    const lags = series.filter(({ name }) => name === 'acuity_event_loop_lag_seconds');
    return {
      minutes: (performance.now() - this.startMs) / 60_000,
      memory: valueOf(series, 'process_resident_memory_bytes') / MIB,
      files: readdirSync(`/proc/${pid}/fd`).length,
      lag: 1000 * Math.max(...lags.map(({ value }) => value)),
      p99: sorted.length === 0 ? 0 : quantileOf(sorted, 0.99),
    };
  }

  async trials(left: string | undefined): Promise<Trial[]> {
    const series = await metricsOf(this.server.adminPort);
    const lost = valueOf(series, 'acuity_worker_restarts_total');
    const statuses = [...this.statuses].toSorted(([one], [other]) => one - other);
    const rate = this.answers.tried / ((performance.now() - this.startMs) / 1000);
    const figure =
      `${statuses.map(([status, count]) => `${count} × ${status}`).join(', ')}; ${rate.toFixed(0)} a second; ` +
      `${this.revocations} keys revoked, ${lost} workers lost, ${this.left} callers gone`;
    const isLost = this.odds.fatal === 0 && lost !== 0;
    return [
      this.answers.with({ figure }),
      this.refusals,
      new Trial('nothing is left behind').add(isLost ? `${lost} workers lost` : left),
    ];
  }
}
