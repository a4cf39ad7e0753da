import { symlinkSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { messageOf } from '#acuity/base/errors.js';
import { pick, seededRandom, type Random } from '#acuity/base/random.js';
import { Connection } from '#acuity/load/connection.js';
import { BAD_AGES } from '#fixtures/ages.js';
import { changeManifest, copyModel, turnLink } from '#fixtures/model.js';
import { startServer, type RunningServer, type Teardown } from '#fixtures/server.js';
import { FAULTY, loopsOf } from '#fixtures/stops.js';
import { knownAnswers, requestTo, wrongAnswer, type KnownAnswer } from './knownAnswers.js';
import { leftBehind, metricsOf } from '#fixtures/atRest.js';
import { Count, type Form, type Part, type Trial } from './part.js';
import { valueOf } from '#fixtures/promtool.js';

/** Whether a caller ever gets another one's answer, while everything changes that can change. */

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

export const mixup: Part = {
  name: 'mixup',
  about: `distinct bodies over ${CONNECTIONS} connections, while models, keys, workers and callers come and go`,
  beyond: 'threads, shared memory and ONNX Runtime: whose scores are whose',
  async run(scope, { form, seed, say }) {
    const { server, turn } = await startSwitchable(scope);
    const run = new MixupRun(server, await knownAnswers(server, BODIES[form], seed), form);
    const stopChurn = new AbortController();
    const churn = [
      every(SWITCH_MS, stopChurn.signal, async () => {
        turn();
        run.switches++;
      }),
      every(KEYS_MS, stopChurn.signal, () => run.changeKeys()),
      every(SAY_MS, stopChurn.signal, async () => say(`${run.answers.tried} answers`)),
    ];
    const callers = Array.from({ length: CONNECTIONS }, (_, caller) =>
      run.call(seededRandom(seed * 1_000 + caller), caller),
    );
    try {
      await Promise.all(callers);
    } catch (error) {
      throw new Error(`${messageOf(error)}; the server said: ${server.output().slice(-2_000)}`, {
        cause: error,
      });
    } finally {
      stopChurn.abort();
      await Promise.allSettled(churn);
    }
    return run.trials(await leftBehind(server));
  },
};

/** Repeats `act`, one call after the other, until told to stop. */
async function every(ms: number, stop: AbortSignal, act: () => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    await pause(ms, undefined, { signal: stop }).catch(() => undefined);
    if (!stop.aborted) await act();
  }
}

/** A server whose model switches to a second one with the same scores, and back. */
async function startSwitchable(scope: Teardown): Promise<{ server: RunningServer; turn(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'acuity-torture-'));
  const models = ['first', 'second'].map((name) => copyModel(join(folder, name)));
  const [first = '', second = ''] = models;
  changeManifest(second, (manifest) => ({ ...manifest, version: 'second' }));
  const link = join(folder, 'served');
  symlinkSync(first, link);
  // Workers that restart again and again on a busy machine are slow, but do not hang.
  const env = { ACUITY_MODEL: link, ACUITY_LOG_LEVEL: 'fatal', ACUITY_HANG_MS: '120000', ...loopsOf(LOOPS) };
  const server = await startServer(scope, { nodeOptions: FAULTY, env });
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
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

const FATAL_BODIES = [BAD_AGES.exits, BAD_AGES.throws].map((age) =>
  Buffer.from(JSON.stringify({ current_session: { age } })),
);

class MixupRun {
  /** Scores, and whether they belong to the request that got them. */
  readonly answers = new Count();
  /** Other answers, and whether they had a cause. */
  private readonly refusals = new Count();
  private readonly statuses = new Map<number, number>();
  private readonly keys: HeldKey[];
  private left = 0;
  private revocations = 0;
  switches = 0;
  private requests = 0;

  constructor(
    private readonly server: RunningServer,
    private readonly known: readonly KnownAnswer[],
    private readonly form: Form,
  ) {
    this.keys = server.keys.map(({ id, key }) => ({ id, key, isRevoked: false }));
  }

  /** One caller; ends when all together have had enough answers. */
  async call(random: Random, caller: number): Promise<void> {
    let connection = await Connection.open(this.server.port);
    while (this.answers.tried < ANSWERS[this.form]) {
      if (random() < LEFT) {
        await this.leave(random, connection);
        connection = await Connection.open(this.server.port);
      } else await this.ask(random, connection, `caller-${caller}-${this.requests++}`);
    }
    connection.close();
  }

  private async ask(random: Random, connection: Connection, id: string): Promise<void> {
    const { port } = this.server;
    const held = this.pickKey(random);
    const isFatal = random() < FATAL[this.form];
    const known = pick(random, this.known);
    const body = isFatal ? pick(random, FATAL_BODIES) : known.body;
    const reply = await connection.send(requestTo({ port, key: held.key }, body, id));
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
    const bytes = requestTo({ port, key: this.pickKey(random).key }, pick(random, this.known).body, 'gone');
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
    const body = this.known[0]?.body ?? Buffer.from('{}');
    for (let accepted = 0; accepted < PROBES; accepted++) {
      const connection = await Connection.open(port);
      const { status } = await connection.send(requestTo({ port, key }, body, 'probe'));
      connection.close();
      if (status !== 403) continue;
      accepted = -1;
      await pause(KEYS_MS);
    }
  }

  async trials(left: string | undefined): Promise<Trial[]> {
    const lost = valueOf(await metricsOf(this.server.adminPort), 'acuity_worker_restarts_total');
    const statuses = [...this.statuses].toSorted(([one], [other]) => one - other);
    const figure =
      `${statuses.map(([status, count]) => `${count} × ${status}`).join(', ')}; ` +
      `${this.switches} switches of the model asked for, ${this.revocations} keys revoked, ` +
      `${lost} workers lost, ${this.left} callers gone`;
    const rest = new Count();
    rest.add(left);
    return [
      this.answers.trial('scores are those of the request that gets them', figure),
      this.refusals.trial('every other answer has its cause'),
      rest.trial('nothing is left behind'),
    ];
  }
}
