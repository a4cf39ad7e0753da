import type { Load, Measurement } from '#acuity/tune/load/measurement.js';
import { bodiesOf, type PayloadName } from '#acuity/tune/load/payloads.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { closedLoopWithAutocannon } from '#bench/load/autocannon.js';
import { fixedRate, ohaUnavailable } from '#bench/load/oha.js';
import { MODEL_FOLDER } from '#bench/paths.js';
import { withPeers, type Peer, type RunningPeer } from '#bench/server.js';
import { interleaved } from '#bench/spread.js';
import { goldenQuestions, questionsOf, wrongAnswers, type Question } from './answers.js';
import { ACUITY, FLOOR } from './catalogue.js';

/** How requests arrive: every connection busy, one at a time, or at 60 % of what saturates the service. */
export type Mode = 'saturation' | 'alone' | 'share';

/** A measurement that is made for every peer in turn. */
export interface Cell {
  readonly payload: PayloadName;
  readonly mode: Mode;
  readonly connections: number;
  readonly title: string;
}

/** One measurement of one peer. */
export interface Result extends Measurement {
  readonly peer: string;
  readonly payload: PayloadName;
  readonly mode: Mode;
  /** Processor time of all threads of the server. */
  readonly cpuMicrosPerRequest: number;
  /** At its end. */
  readonly rssBytes: number;
}

export interface Comparison {
  readonly cells: readonly Cell[];
  readonly results: readonly Result[];
  /** One line each; with any, the figures are not to be used. */
  readonly faults: readonly string[];
}

export interface Order {
  readonly peers: readonly Peer[];
  readonly payloads: readonly PayloadName[];
  readonly connections: number;
  readonly seconds: number;
  readonly repetitions: number;
  readonly isSaturatedOnly?: boolean;
}

const SHARE = 0.6;
/** After this, V8 has compiled the hot code; in a server's first second it dominates p99. */
const WARM_UP_SECONDS = 2;
/** The check before the measurements: enough requests in flight to form batches. */
const CHECK = { connections: 32, rounds: 4 };

/** Starts the peers, compares their answers with the model's, then measures them in turn. */
export async function compare(order: Order, say: (line: string) => void): Promise<Comparison> {
  const cells = cellsOf(order);
  const bundle = await loadBundle(MODEL_FOLDER);
  const bodies = order.payloads.flatMap((payload) => bodiesOf(payload));
  const questions = [...goldenQuestions(bundle), ...(await questionsOf(bundle, bodies))];
  return withPeers(order.peers, async (running) => {
    const faults: string[] = [];
    const sound: RunningPeer[] = [];
    for (const one of running) {
      const wrong = await wrongOf(one, questions);
      faults.push(...wrong.map((kind) => `${one.peer.name} is not measured: ${kind}`));
      say(
        `${one.peer.name}: ${one.peer.what}; ${wrong.length === 0 ? 'answers as expected' : 'WRONG scores'}`,
      );
      if (wrong.length === 0) sound.push(one);
    }
    for (const one of sound) for (const payload of order.payloads) await warmUp(one, payload, order);
    const runs = cells.flatMap((cell) => sound.filter(({ peer }) => isFor(peer, cell)).map((one) => ({ cell, one }))); // prettier-ignore
    const saturation = new Map<PayloadName, number>();
    const results = await interleaved(runs, order.repetitions, async ({ cell, one }, repetition) => {
      const result = await measure(one, cell, order.seconds, SHARE * (saturation.get(cell.payload) ?? NaN));
      const rate = result.requests / result.seconds;
      if (one.peer === ACUITY && cell.mode === 'saturation') saturation.set(cell.payload, rate);
      const where = `${one.peer.name}, ${cell.payload}, ${cell.title}`;
      say(`${repetition}/${order.repetitions} ${where}: ${Math.round(rate)} requests/s, p99 ${Math.round(result.p99Micros)} µs`); // prettier-ignore
      if (result.errors > 0) faults.push(`${where}: ${result.errors} requests without a 200`);
      return result;
    });
    return { cells, results: [...results.values()].flat(), faults };
  });
}

export function isIn(cell: Cell): (result: Result) => boolean {
  return ({ payload, mode }) => payload === cell.payload && mode === cell.mode;
}

/** The service's saturation stands before what is sent at a share of it. */
function cellsOf({ payloads, connections, isSaturatedOnly = false }: Order): Cell[] {
  const hasRate = ohaUnavailable() === undefined;
  return payloads.flatMap((payload) => {
    const cells: Cell[] = [
      { payload, mode: 'saturation', connections, title: `saturation, ${connections} connections` },
      { payload, mode: 'alone', connections: 1, title: 'one request at a time' },
      { payload, mode: 'share', connections, title: '60 % of what saturates the service, fixed rate' },
    ];
    if (isSaturatedOnly) return cells.slice(0, 1);
    return hasRate ? cells : cells.slice(0, 2);
  });
}

/** At a share of the service's saturation others would be over theirs. */
function isFor(peer: Peer, { mode }: Cell): boolean {
  return mode !== 'share' || peer === ACUITY || peer === FLOOR;
}

/** A peer with other scores does another job: it is not measured. */
async function wrongOf({ peer, target }: RunningPeer, questions: readonly Question[]): Promise<string[]> {
  return peer.scores ? wrongAnswers(target, questions, CHECK) : [];
}

async function warmUp(
  { target }: RunningPeer,
  payload: PayloadName,
  { connections, seconds }: Order,
): Promise<void> {
  await closedLoopWithAutocannon({ target, bodies: bodiesOf(payload), connections, seconds: Math.min(WARM_UP_SECONDS, seconds) }); // prettier-ignore
}

async function measure(
  { peer, server, target }: RunningPeer,
  { payload, mode, connections }: Cell,
  seconds: number,
  rate: number,
): Promise<Result> {
  const load: Load = { target, bodies: bodiesOf(payload), connections, seconds };
  const before = server.cpuMicros();
  const measurement = await (mode === 'share'
    ? fixedRate({ ...load, rate: Math.max(1, Math.round(rate)) })
    : closedLoopWithAutocannon(load));
  const cpuMicrosPerRequest = (server.cpuMicros() - before) / measurement.requests;
  return { ...measurement, peer: peer.name, payload, mode, cpuMicrosPerRequest, rssBytes: server.rssBytes() };
}
