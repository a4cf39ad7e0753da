import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { pick, seededRandom, type Random } from '#acuity/base/random.js';
import { Connection } from '#acuity/load/connection.js';
import { quantileOf } from '#acuity/load/statistics.js';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { leftBehind, metricsOf } from '#fixtures/atRest.js';
import { valueOf } from '#fixtures/promtool.js';
import { startServer, type RunningServer } from '#fixtures/server.js';
import { loopsOf } from '#fixtures/stops.js';
import { knownAnswers, requestTo, wrongAnswer, type KnownAnswer } from './knownAnswers.js';
import { Count, type Part, type Trial } from './part.js';
import { isAbove, slopeOf, slopeText, type Sample } from './slope.js';

/** Callers who come and go for minutes; what grows meanwhile. */

const CALLERS = 24;
const LOOPS = 2;
const BODIES = 60;
/** Requests after which a caller comes back on another connection. */
const STAY = 200;
/** Callers that break off instead. */
const LEFT = 0.2;
/** Between two requests of a caller: the service is busy, not full. */
const THINK_MS = 12;
const SAMPLE_MS = 1_000;
const KEYS_MS = 5_000;
const SHORT_MINUTES = 0.15;
/** The start, in which heaps find their size, is left out. */
const WARM_SHARE = 0.2;
const MIB = 1024 * 1024;
/** Memory growth counts if the whole interval is above this. */
const GROWTH_MIB = 1;
const GROWTH_FILES = 0.5;
const GROWTH_MS = 1;

interface Reading {
  readonly minutes: number;
  readonly rssMib: number;
  readonly files: number;
  readonly lagMs: number;
  readonly p99Ms: number;
}

export const soak: Part = {
  name: 'soak',
  about: `${CALLERS} callers who come and go for some minutes: what grows`,
  beyond: 'memory, descriptors and lag over real time',
  async run(scope, { form, minutes, seed, say }) {
    const server = await startServer(scope, { env: { ACUITY_LOG_LEVEL: 'fatal', ...loopsOf(LOOPS) } });
    const known = await knownAnswers(server, BODIES, seed);
    const endMs = performance.now() + 60_000 * (form === 'short' ? SHORT_MINUTES : minutes);
    const run = new SoakRun(server, known, endMs);
    const callers = Array.from({ length: CALLERS }, (_, caller) =>
      run.call(seededRandom(seed * 1_000 + caller)),
    );
    await Promise.all([...callers, run.changeKeys(), run.watch(say)]);
    return run.trials(await leftBehind(server));
  },
};

class SoakRun {
  private readonly answers = new Count();
  private readonly readings: Reading[] = [];
  /** Of the answers since the last reading. */
  private latenciesMs: number[] = [];
  private requests = 0;
  private readonly startMs = performance.now();

  constructor(
    private readonly server: RunningServer,
    private readonly known: readonly KnownAnswer[],
    private readonly endMs: number,
  ) {}

  async call(random: Random): Promise<void> {
    while (this.isOn) {
      const connection = await Connection.open(this.server.port);
      for (let sent = 0; sent < STAY * random() && this.isOn; sent++) {
        await this.ask(connection, pick(random, this.known));
        await pause(2 * THINK_MS * random());
      }
      if (random() < LEFT) this.breakOff(connection, pick(random, this.known));
      connection.close();
    }
  }

  private get isOn(): boolean {
    return performance.now() < this.endMs;
  }

  private async ask(connection: Connection, known: KnownAnswer): Promise<void> {
    const id = `soak-${this.requests++}`;
    const startMs = performance.now();
    const reply = await connection.send(requestTo(this.server, known.body, id));
    this.latenciesMs.push(performance.now() - startMs);
    this.answers.add(reply.status === 200 ? wrongAnswer(reply, id, known) : `${reply.status} ${reply.body}`);
  }

  private breakOff(connection: Connection, { body }: KnownAnswer): void {
    const bytes = requestTo(this.server, body, 'gone');
    connection.send(bytes.subarray(0, bytes.length / 2)).catch(() => undefined);
  }

  async changeKeys(): Promise<void> {
    while (this.isOn) {
      const { record } = issue({ kind: 'demo' }, Date.now());
      await this.server.keyStore.insert(record);
      await pause(Math.min(KEYS_MS, Math.max(0, this.endMs - performance.now())));
      await this.server.keyStore.amend(record.id, (found) => revoked(found, Date.now()));
    }
  }

  async watch(say: (line: string) => void): Promise<void> {
    while (this.isOn) {
      await pause(SAMPLE_MS);
      const reading = await this.read();
      this.readings.push(reading);
      if (this.readings.length % 60 === 0)
        say(`${reading.rssMib.toFixed(0)} MiB, ${this.answers.tried} answers`);
    }
  }

  private async read(): Promise<Reading> {
    const { pid, adminPort } = this.server;
    const sorted = Float64Array.from(this.latenciesMs).toSorted();
    this.latenciesMs = [];
    const lags = (await metricsOf(adminPort)).filter(({ name }) => name === 'acuity_event_loop_lag_seconds');
    return {
      minutes: (performance.now() - this.startMs) / 60_000,
      rssMib: rssOf(pid) / MIB,
      files: readdirSync(`/proc/${pid}/fd`).length,
      lagMs: 1000 * Math.max(...lags.map(({ value }) => value)),
      p99Ms: sorted.length === 0 ? 0 : quantileOf(sorted, 0.99),
    };
  }

  async trials(left: string | undefined): Promise<Trial[]> {
    const rest = new Count();
    rest.add(left);
    const rate = this.answers.tried / ((performance.now() - this.startMs) / 1000);
    const lost = valueOf(await metricsOf(this.server.adminPort), 'acuity_worker_restarts_total');
    rest.add(lost === 0 ? undefined : `${lost} workers lost`);
    return [
      this.answers.trial('each answer is the one to its request', `${rate.toFixed(0)} answers a second`),
      this.growth('memory does not grow', ({ rssMib }) => rssMib, { unit: 'MiB', most: GROWTH_MIB }),
      this.growth('open files don’t grow', ({ files }) => files, { unit: 'files', most: GROWTH_FILES }),
      this.growth('lag does not grow', ({ lagMs }) => lagMs, { unit: 'ms', most: GROWTH_MS }),
      this.growth('p99 does not grow', ({ p99Ms }) => p99Ms, { unit: 'ms', most: GROWTH_MS }),
      rest.trial('nothing is left behind, and no worker was lost'),
    ];
  }

  /** Too short a time gives no result. */
  private growth(
    what: string,
    valueIn: (reading: Reading) => number,
    { unit, most }: { readonly unit: string; readonly most: number },
  ): Trial {
    const used = this.readings.slice(Math.ceil(WARM_SHARE * this.readings.length));
    if (used.length < 30) return { what, tried: 0, held: 0, figure: '', skipped: 'too short a time' };
    const samples: Sample[] = used.map((reading) => ({ minutes: reading.minutes, value: valueIn(reading) }));
    const slope = slopeOf(samples);
    const median = quantileOf(Float64Array.from(samples, ({ value }) => value).toSorted(), 0.5);
    const count = new Count();
    count.add(isAbove(slope, most) ? slopeText(slope, unit) : undefined);
    return count.trial(what, `${slopeText(slope, unit)}, median ${median.toFixed(1)} ${unit}`);
  }
}

function rssOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return 1024 * Number(kib);
}
