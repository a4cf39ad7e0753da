import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBundle, type Bundle } from '#acuity/model/bundle.js';
import { closedLoopWithAutocannon } from '#bench/load/autocannon.js';
import type { Load, Measurement } from '#acuity/load/measurement.js';
import { runOpenLoop } from '#acuity/load/openLoop.js';
import { closedLoopWithWrk } from '#bench/load/wrk.js';
import { MODEL_FOLDER } from '#bench/paths.js';
import { bodiesOf, type PayloadName } from '#acuity/load/payloads.js';
import type { Peer } from '#bench/peers/catalogue.js';
import { issueKey, type BenchKey } from '#bench/server/key.js';
import { startServer, type ServerProcess } from '#bench/server/process.js';
import { goldenQuestions, questionsOf, wrongAnswers, type Question } from './answers.js';
import type { ComparisonOptions, Mode } from './options.js';
import { Sampler, type Samples } from './sampler.js';

/** What is measured of every peer in turn. */
export interface Cell {
  readonly mode: Mode;
  readonly payload: PayloadName;
  readonly connections: number;
}

/** One measurement of one peer. */
export interface Result extends Cell, Measurement {
  readonly peer: string;
  readonly repetition: number;
  readonly cpuMicrosPerRequest: number;
  /** In the course of the measurement; the last value is its end. */
  readonly rssBytes: readonly number[];
  readonly answersChecked: number;
}

export interface Comparison {
  readonly results: readonly Result[];
  /** Each in one line; where there is one, the figures are not to be used. */
  readonly faults: readonly string[];
}

/** A running peer. */
interface Contender {
  readonly peer: Peer;
  readonly server: ServerProcess;
}

/** Behind it V8 has compiled what is hot: in a server's first second p99 tells of that. */
const WARM_UP_SECONDS = 2;
/** The check before anything is measured: enough in flight that batches form. */
const CHECK = { connections: 32, rounds: 8 };

/** Starts the peers, holds their answers against the model's, then measures them in turn. */
export async function compare(options: ComparisonOptions, say: (line: string) => void): Promise<Comparison> {
  const folder = await mkdtemp(join(tmpdir(), 'acuity-bench-'));
  const contenders: Contender[] = [];
  try {
    const key = await issueKey(folder);
    const bundle = await loadBundle(MODEL_FOLDER);
    for (const peer of options.peers) {
      say(`starting ${peer.name}: ${peer.what}`);
      contenders.push({ peer, server: await startServer(peer.command(key), folder) });
    }
    return await new Interleaving(
      options,
      contenders,
      key,
      await questionsByPayload(bundle, options),
      say,
    ).run(goldenQuestions(bundle));
  } finally {
    await Promise.all(contenders.map(({ server }) => server.stop()));
    await rm(folder, { recursive: true });
  }
}

async function questionsByPayload(
  bundle: Bundle,
  { payloads }: ComparisonOptions,
): Promise<ReadonlyMap<PayloadName, readonly Question[]>> {
  const questions = new Map<PayloadName, readonly Question[]>();
  for (const payload of payloads) questions.set(payload, await questionsOf(bundle, bodiesOf(payload)));
  return questions;
}

/** The measurements of a comparison: repetition by repetition, cell by cell, peer by peer. */
class Interleaving {
  private readonly results: Result[] = [];
  private readonly faults: string[] = [];

  constructor(
    private readonly options: ComparisonOptions,
    private readonly contenders: readonly Contender[],
    private readonly key: BenchKey,
    private readonly questions: ReadonlyMap<PayloadName, readonly Question[]>,
    private readonly say: (line: string) => void,
  ) {}

  async run(golden: readonly Question[]): Promise<Comparison> {
    const sound: Contender[] = [];
    for (const contender of this.contenders) if (await this.isRight(contender, golden)) sound.push(contender);
    const cells = this.cells();
    await this.warmUp(sound);
    for (let repetition = 1; repetition <= this.options.repetitions; repetition++) {
      for (const cell of cells) {
        for (const contender of sound) await this.measure(contender, cell, repetition);
      }
    }
    return { results: this.results, faults: this.faults };
  }

  private cells(): Cell[] {
    const { modes, payloads, connections } = this.options;
    return modes.flatMap((mode) =>
      payloads.flatMap((payload) =>
        (mode === 'alone' ? [1] : connections).map((count) => ({ mode, payload, connections: count })),
      ),
    );
  }

  /** A peer that gives other scores does another job: it is not measured. */
  private async isRight({ peer, server }: Contender, golden: readonly Question[]): Promise<boolean> {
    if (!peer.scores) return true;
    const questions = [...golden, ...[...this.questions.values()].flat()];
    const wrong = await wrongAnswers({ port: server.port, key: this.key.key }, questions, CHECK);
    this.faults.push(...wrong.map((kind) => `${peer.name} is not measured: ${kind}`));
    this.say(
      wrong.length === 0 ? `${peer.name} gives the expected scores` : `${peer.name} gives WRONG scores`,
    );
    return wrong.length === 0;
  }

  private async warmUp(contenders: readonly Contender[]): Promise<void> {
    const seconds = Math.min(WARM_UP_SECONDS, 2 * this.options.seconds);
    for (const payload of this.options.payloads) {
      for (const contender of contenders) {
        this.say(`warming up ${contender.peer.name}, ${payload}`);
        await this.generate(
          'saturation',
          this.load(contender, payload, this.options.connections[0] ?? 1, seconds),
        );
      }
    }
  }

  private async measure(contender: Contender, cell: Cell, repetition: number): Promise<void> {
    const { peer, server } = contender;
    const { mode, payload, connections } = cell;
    // A request alone must be alone: its answers were checked before.
    const asked = peer.scores && mode !== 'alone' ? (this.questions.get(payload) ?? []) : [];
    const load = this.load(contender, payload, connections, this.options.seconds);
    const cpuBefore = server.cpuMicros();
    const sampler = new Sampler(server, this.key.key, asked);
    let measurement: Measurement;
    let samples: Samples;
    try {
      measurement = await this.generate(mode, load);
    } finally {
      samples = await sampler.finish();
    }
    const { requests } = measurement;
    const cpuMicrosPerRequest = (server.cpuMicros() - cpuBefore) / (requests + samples.answers);
    const { rssBytes, answers: answersChecked } = samples;
    this.results.push({
      peer: peer.name,
      ...cell,
      repetition,
      ...measurement,
      cpuMicrosPerRequest,
      rssBytes,
      answersChecked,
    });
    this.report(peer, cell, repetition, measurement, samples);
  }

  private report(
    peer: Peer,
    cell: Cell,
    repetition: number,
    measurement: Measurement,
    samples: Samples,
  ): void {
    const { mode, payload, connections } = cell;
    const where = `${peer.name}, ${payload}, ${mode}, ${connections} connection(s)`;
    const { requests, seconds, p50Micros, p99Micros, errors } = measurement;
    const rate = Math.round(requests / seconds);
    const latency = `p50 ${Math.round(p50Micros)} µs, p99 ${Math.round(p99Micros)} µs`;
    this.say(`${repetition}/${this.options.repetitions} ${where}: ${rate} requests/s, ${latency}`);
    const place = `repetition ${repetition}: ${where}`;
    if (errors > 0) this.faults.push(`${place}: ${errors} requests without a 200`);
    if (requests === 0) this.faults.push(`${place}: no request was answered`);
    if (samples.wrong.length > 0) {
      this.faults.push(
        `${place}: ${samples.wrong.length} of ${samples.answers} answers wrong: ${samples.wrong[0]}`,
      );
    }
  }

  private load({ server }: Contender, payload: PayloadName, connections: number, seconds: number): Load {
    const bodies = (this.questions.get(payload) ?? []).map(({ body }) => body);
    return { target: { port: server.port, key: this.key.key }, bodies, connections, seconds };
  }

  private generate(mode: Mode, load: Load): Promise<Measurement> {
    if (mode === 'rate') return runOpenLoop({ ...load, rate: this.options.rate });
    return this.options.load === 'wrk' ? closedLoopWithWrk(load) : closedLoopWithAutocannon(load);
  }
}
