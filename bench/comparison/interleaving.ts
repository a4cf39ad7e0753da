import type { Load, Measurement } from '#acuity/load/measurement.js';
import { runOpenLoop } from '#acuity/load/openLoop.js';
import { closedLoopWithAutocannon } from '#bench/load/autocannon.js';
import { openLoopPaced } from '#bench/load/paced.js';
import { closedLoopWithWrk } from '#bench/load/wrk.js';
import { ACUITY, ACUITY_BUSY, type Peer } from '#bench/peers/catalogue.js';
import type { BenchKey } from '#bench/server/key.js';
import type { ServerProcess } from '#bench/server/process.js';
import { wrongAnswers, type Question } from './answers.js';
import { mayRefuse, RATE_SHARES, type Mode } from './mode.js';
import type { ComparisonOptions } from './options.js';
import { formOf, type BenchPayload } from './payload.js';
import { SATURATING_CONNECTIONS, type Cell, type Step } from './plan.js';
import type { Comparison, Result } from './result.js';
import { Sampler, type Samples } from './sampler.js';
import { seriesOf, throughputOf, type SeriesKey } from './series.js';

/** A running peer. */
export interface Contender {
  readonly peer: Peer;
  readonly server: ServerProcess;
}

/** After this, V8 has compiled the hot code; in a server's first second it dominates p99. */
const WARM_UP_SECONDS = 2;
/** Shorter, because forms come when the server is warm. */
const FORM_WARM_UP_SECONDS = 1;
/** A server that keeps up never makes a caller wait this long. */
const LATE_SECONDS = 5;
/** The cost of a refusal is valid only if nearly all answers are refusals. */
const REFUSED_SHARE_MIN = 0.95;
/** The check before the measurements: enough requests in flight to form batches. */
const CHECK = { connections: 32, rounds: 8 };

interface InterleavingInput {
  readonly options: ComparisonOptions;
  readonly steps: readonly Step[];
  readonly last: readonly Step[];
  readonly contenders: readonly Contender[];
  readonly key: BenchKey;
  readonly questions: ReadonlyMap<BenchPayload, readonly Question[]>;
  readonly say: (line: string) => void;
}

/** The measurements of a comparison: repetition by repetition, cell by cell, peer by peer. */
export class Interleaving {
  private readonly results: Result[] = [];
  private readonly faults: string[] = [];

  constructor(private readonly input: InterleavingInput) {}

  async run(golden: readonly Question[]): Promise<Comparison> {
    const { contenders, options, steps, last } = this.input;
    const sound: Contender[] = [];
    for (const contender of contenders) if (await this.isRight(contender, golden)) sound.push(contender);
    await this.warmUp(sound);
    for (let repetition = 1; repetition <= options.repetitions; repetition++) {
      await this.measureAll(sound, steps, repetition);
    }
    await this.measureAll(sound, last, options.repetitions + 1);
    return { results: this.results, faults: this.faults };
  }

  private async measureAll(
    sound: readonly Contender[],
    steps: readonly Step[],
    repetition: number,
  ): Promise<void> {
    for (const step of steps) {
      for (const contender of sound) {
        if (step.peers.includes(contender.peer)) await this.measure(contender, step, repetition);
      }
    }
  }

  /** A peer with other scores does another job: it is not measured. */
  private async isRight({ peer, server }: Contender, golden: readonly Question[]): Promise<boolean> {
    if (!peer.scores) return true;
    const questions = [...golden, ...[...this.input.questions.values()].flat()];
    const wrong = await wrongAnswers({ port: server.port, key: this.input.key.key }, questions, CHECK);
    this.faults.push(...wrong.map((kind) => `${peer.name} is not measured: ${kind}`));
    this.input.say(
      wrong.length === 0 ? `${peer.name} gives the expected scores` : `${peer.name} gives WRONG scores`,
    );
    return wrong.length === 0;
  }

  private async warmUp(sound: readonly Contender[]): Promise<void> {
    const { steps, options, say } = this.input;
    for (const contender of sound) {
      const asked = steps.filter(({ peers }) => peers.includes(contender.peer)).map(({ payload }) => payload);
      for (const payload of new Set(asked)) {
        say(`warming up ${contender.peer.name}, ${payload}`);
        const seconds = formOf(payload) === undefined ? WARM_UP_SECONDS : FORM_WARM_UP_SECONDS;
        const connections = options.connections[0] ?? 1;
        await this.saturate(
          this.load(contender, { payload, connections }, Math.min(seconds, 2 * options.seconds)),
        );
      }
    }
  }

  private async measure(contender: Contender, step: Step, repetition: number): Promise<void> {
    const { peer, server } = contender;
    const { mode, payload, connections } = step;
    // A request alone must stay alone, so it is not sampled; its answers were checked before.
    const asked = peer.scores && mode !== 'alone' ? (this.input.questions.get(payload) ?? []) : [];
    const load = this.load(contender, step, step.seconds);
    const [cpuBefore, mainBefore] = [server.cpuMicros(), server.mainThreadCpuMicros()];
    const sampler = new Sampler(server, this.input.key.key, { questions: asked, mayRefuse: mayRefuse(mode) });
    let measurement: Measurement;
    let samples: Samples;
    try {
      measurement = await this.generate(mode, load, this.rateOf(step, repetition));
    } finally {
      samples = await sampler.finish();
    }
    const answers = measurement.requests + samples.answers;
    const { rssBytes, answers: answersChecked } = samples;
    this.results.push({
      peer: peer.name,
      mode,
      payload,
      connections,
      repetition,
      ...measurement,
      cpuMicrosPerRequest: (server.cpuMicros() - cpuBefore) / answers,
      mainCpuMicrosPerRequest: (server.mainThreadCpuMicros() - mainBefore) / answers,
      rssBytes,
      answersChecked,
    });
    this.report(peer, step, repetition, measurement, samples);
  }

  private report(
    peer: Peer,
    cell: Cell,
    repetition: number,
    measurement: Measurement,
    samples: Samples,
  ): void {
    const { mode, payload, connections } = cell;
    const { options, say } = this.input;
    const where = `${peer.name}, ${payload}, ${mode}, ${connections} connection(s)`;
    const { requests, seconds, p50Micros, p99Micros, errors, refused = 0 } = measurement;
    const rate = Math.round(requests / seconds);
    const latency = `p50 ${Math.round(p50Micros)} µs, p99 ${Math.round(p99Micros)} µs`;
    const turn = repetition > options.repetitions ? 'last' : `${repetition}/${options.repetitions}`;
    say(`${turn} ${where}: ${rate} requests/s, ${latency}${refused > 0 ? `, ${refused} refused` : ''}`);
    const place = `repetition ${repetition}: ${where}`;
    const failed = mayRefuse(mode) ? errors - refused : errors;
    if (failed > 0) this.faults.push(`${place}: ${failed} requests without a 200`);
    if (peer === ACUITY_BUSY && mode === 'refusal' && refused < REFUSED_SHARE_MIN * requests) {
      this.faults.push(`${place}: only ${refused} of ${requests} were refused`);
    }
    if (requests === 0) this.faults.push(`${place}: no request was answered`);
    if (samples.wrong.length > 0) {
      this.faults.push(
        `${place}: ${samples.wrong.length} of ${samples.answers} answers wrong: ${samples.wrong[0]}`,
      );
    }
  }

  private load(
    { server }: Contender,
    { payload, connections }: Pick<Cell, 'payload' | 'connections'>,
    seconds: number,
  ): Load {
    const { questions, key } = this.input;
    const bodies = (questions.get(payload) ?? []).map(({ body }) => body);
    return { target: { port: server.port, key: key.key }, bodies, connections, seconds };
  }

  /** Requests per second if they are sent evenly spaced. */
  private rateOf({ mode, payload, connections }: Cell, repetition: number): number | undefined {
    if (mode === 'rate') return this.input.options.rate;
    if (mode === 'matched')
      return this.throughputBefore(
        { peer: ACUITY_BUSY.name, mode: 'refusal', payload, connections },
        repetition,
      );
    const share = RATE_SHARES[mode];
    if (share === undefined) return undefined;
    const saturation = { mode: 'saturation', connections: SATURATING_CONNECTIONS } as const;
    return Math.max(
      1,
      share * this.throughputBefore({ ...saturation, peer: ACUITY.name, payload }, repetition),
    );
  }

  /** The throughput measured earlier in the same repetition. */
  private throughputBefore(key: SeriesKey, repetition: number): number {
    const before = seriesOf(this.results, key).find((result) => result.repetition === repetition);
    if (before === undefined) throw new Error(`${key.peer} is measured first, ${key.mode}`);
    return throughputOf(before);
  }

  private generate(mode: Mode, load: Load, rate: number | undefined): Promise<Measurement> {
    if (rate === undefined) return this.saturate(load);
    return mode === 'rate'
      ? runOpenLoop({ ...load, rate })
      : openLoopPaced({ ...load, rate, lateSeconds: mayRefuse(mode) ? 0 : LATE_SECONDS });
  }

  private saturate(load: Load): Promise<Measurement> {
    return this.input.options.load === 'wrk' ? closedLoopWithWrk(load) : closedLoopWithAutocannon(load);
  }
}
