import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { descriptorsMax } from '#acuity/config/descriptors.js';
import { Connection, type Reply } from '#acuity/load/connection.js';
import { quantileOf } from '#acuity/load/statistics.js';
import { head } from '#fixtures/connection.js';
import { leftBehind } from '#fixtures/atRest.js';
import { startServer, type RunningServer, type Teardown } from '#fixtures/server.js';
import { knownAnswers, requestTo, wrongAnswer, type KnownAnswer } from './knownAnswers.js';
import { Count, skippedTrial, type Form, type Part, type Trial } from './part.js';

/** More callers than can be served, greedy ones, slow ones. All get an answer, and the service recovers fully. */

const QUEUE_MAX = 64;
const SECONDS: Readonly<Record<Form, number>> = { short: 2, long: 20 };
const CROWD: Readonly<Record<Form, number>> = { short: 200, long: 2_000 };
const FEW = 8;
const SLOW: Readonly<Record<Form, number>> = { short: 100, long: 1_000 };
const BODIES = 40;
const MIB = 1024 * 1024;

export const overload: Part = {
  name: 'overload',
  about: 'more callers than can be served, one greedy key, connections that hardly say anything',
  beyond: 'processor time, sockets and descriptors, which virtual time has without end',
  async run(scope, options) {
    const { form, seed } = options;
    if (descriptorsMax() < 2 * CROWD[form] + 1_000)
      return [skippedTrial('overload', 'too few file descriptors')];
    const server = await startServer(scope, {
      env: { ACUITY_QUEUE_MAX: String(QUEUE_MAX), ACUITY_DEADLINE_MS: '1000', ACUITY_LOG_LEVEL: 'fatal' },
      keys: [{ kind: 'live', ratePerS: 50 }],
    });
    const known = await knownAnswers(server, BODIES, seed);
    const run = new OverloadRun(server, known, SECONDS[form]);
    const before = await run.crowd(FEW, server.key);
    const trials = [
      run.trialOf(
        `${CROWD[form]} callers who ask again at once`,
        await run.crowd(CROWD[form], server.key),
        before,
      ),
      await run.greedy(),
      await run.slow(scope, SLOW[form]),
    ];
    const after = await run.crowd(FEW, server.key);
    return [...trials, run.trialOf(`${FEW} callers afterwards`, after, before), await run.rest()];
  },
};

interface Crowd {
  readonly count: Count;
  readonly served: number;
  readonly refused: number;
  readonly refusalsMs: readonly number[];
  readonly seconds: number;
}

class OverloadRun {
  private requests = 0;

  constructor(
    private readonly server: RunningServer,
    private readonly known: readonly KnownAnswer[],
    private readonly seconds: number,
  ) {}

  /** Callers who never pause; each attempt is answered, correctly or with a refusal. */
  async crowd(callers: number, key: string, refusal = 503): Promise<Crowd> {
    const count = new Count();
    const refusalsMs: number[] = [];
    let served = 0;
    const startMs = performance.now();
    const endMs = startMs + 1000 * this.seconds;
    const call = async (caller: number): Promise<void> => {
      const connection = await Connection.open(this.server.port);
      for (let turn = caller; performance.now() < endMs; turn++) {
        const { reply, ms, failure } = await this.ask(connection, key, turn, refusal);
        count.add(failure);
        if (reply.status === 200) served++;
        else refusalsMs.push(ms);
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
    const seconds = (performance.now() - startMs) / 1000;
    return { count, served, refused: refusalsMs.length, refusalsMs, seconds };
  }

  private async ask(
    connection: Connection,
    key: string,
    turn: number,
    refusal: number,
  ): Promise<{ reply: Reply; ms: number; failure: string | undefined }> {
    const known = this.known[turn % this.known.length];
    if (known === undefined) throw new RangeError('no bodies');
    const id = `overload-${this.requests++}`;
    const startMs = performance.now();
    const reply = await connection.send(requestTo({ port: this.server.port, key }, known.body, id));
    const ms = performance.now() - startMs;
    const isRight = reply.status === refusal;
    const failure = reply.status === 200 ? wrongAnswer(reply, id, known) : isRight ? undefined : reply.body;
    return { reply, ms, failure };
  }

  trialOf(what: string, crowd: Crowd, alone: Crowd): Trial {
    const { count, served, refused, refusalsMs, seconds } = crowd;
    const goodput = served / seconds / (alone.served / alone.seconds);
    const figure =
      `${(served / seconds).toFixed(0)} served a second (${(100 * goodput).toFixed(0)} % of ${FEW} callers’), ` +
      (refused === 0
        ? 'none refused'
        : `${(refused / seconds).toFixed(0)} refused a second, p99 ${p99(refusalsMs).toFixed(0)} ms`);
    return count.trial(what, figure);
  }

  /** One key above its rate and one below it, at the same time. */
  async greedy(): Promise<Trial> {
    const greedyKey = this.server.keys[1]?.key ?? '';
    const [greedy, other] = await Promise.all([
      this.crowd(4 * FEW, greedyKey, 429),
      this.crowd(FEW, this.server.key),
    ]);
    const count = new Count();
    for (const { count: one } of [greedy, other]) {
      for (let held = 0; held < one.held; held++) count.add(undefined);
      for (const failure of one.failures) count.add(failure);
    }
    count.add(other.refused === 0 ? undefined : `${other.refused} refusals of the other key`);
    const rate = (served: number): string => (served / greedy.seconds).toFixed(0);
    const figure = `the greedy one ${rate(greedy.served)} served a second, ${rate(greedy.refused)} refused; the other ${rate(other.served)} served, none refused`;
    return count.trial('one greedy key beside another', figure);
  }

  /** Callers who occasionally send a byte, beside others who are served. */
  async slow(scope: Teardown, callers: number): Promise<Trial> {
    const start = head({ headers: { 'X-API-Key': this.server.key, 'Content-Length': String(MIB) } });
    const sockets: Socket[] = [];
    scope.teardown(() => sockets.forEach((socket) => socket.destroy()));
    for (let opened = 0; opened < callers; opened++) {
      const socket = connect(this.server.port, '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      await once(socket, 'connect');
      socket.write(opened % 2 === 0 ? start : start.slice(0, 40));
    }
    const timer = setInterval(() => sockets.forEach((socket) => socket.writable && socket.write(' ')), 500);
    const served = await this.crowd(FEW, this.server.key);
    // Waits for the library’s time-outs.
    for (let waited = 0; waited < 20 && sockets.some(({ closed }) => !closed); waited++) await pause(1_000);
    clearInterval(timer);
    for (const { closed } of sockets)
      served.count.add(closed ? undefined : 'a slow connection was not ended');
    const rate = (served.served / served.seconds).toFixed(0);
    return served.count.trial(`${callers} slow connections beside ${FEW} callers`, `${rate} served a second`);
  }

  async rest(): Promise<Trial> {
    const count = new Count();
    count.add(await leftBehind(this.server));
    return count.trial('nothing is left behind');
  }
}

function p99(values: readonly number[]): number {
  return quantileOf(Float64Array.from(values).toSorted(), 0.99);
}
