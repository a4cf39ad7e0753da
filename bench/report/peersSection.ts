import { spreadOf } from '#acuity/load/statistics.js';
import { PAYLOADS } from '#acuity/load/payloads.js';
import { goalLines, goalTable, ratioOf, spreadText } from '#bench/comparison/goals.js';
import type { ComparisonOptions } from '#bench/comparison/options.js';
import { compare } from '#bench/comparison/run.js';
import type { Result } from '#bench/comparison/result.js';
import { seriesOf, throughputOf } from '#bench/comparison/series.js';
import { hasWrk } from '#bench/load/wrk.js';
import { acuity, FASTIFY, FLOOR, RUST, type Peer } from '#bench/peers/catalogue.js';
import { barOf, type Chart } from './chart.js';
import type { BenchContext } from './context.js';
import type { ReportSection } from './section.js';

const CONNECTIONS = 64;
const MODE = 'saturation';

/** The service beside what else could be written. */
export async function peersSection(context: BenchContext): Promise<ReportSection> {
  const native = RUST.unavailable === undefined ? [RUST] : [];
  const results = await interleaved(context, [FLOOR, FASTIFY, ...native, acuity(1)]);
  const goals = goalLines(results).filter(({ verdict }) => verdict !== 'not measured');
  return {
    name: 'peers',
    heading: 'Beside its peers',
    note: 'Median (least–most) of interleaved repetitions, 64 connections. floor answers a constant; fastify is Fastify, Ajv and ONNX Runtime in process; rust, where it is built, is hyper, sonic-rs and ONNX Runtime with batches. Trust the ratios: a slow minute of the machine slows all of them.',
    charts: [
      barsOf('throughput', 'Throughput', 'requests per second', results, throughputOf),
      barsOf('p99', '99th percentile under that load', 'ms', results, ({ p99Micros }) => p99Micros / 1000),
      barsOf(
        'cpu',
        'Processor time per request',
        'µs',
        results,
        ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest,
      ),
    ],
    tables: [...PAYLOADS.map((payload) => peerTable(payload, results, 'fastify')), goalTable(goals)],
    data: { results, goals },
  };
}

/**
 * `peers` in turn, both payloads saturated, each repetition with servers of its own: two starts of a server differ by
 * more than two measurements of it. Their faults are the report's.
 */
export async function interleaved(context: BenchContext, peers: readonly Peer[]): Promise<readonly Result[]> {
  const { seconds, repetitions, say, faults } = context;
  const options: ComparisonOptions = {
    peers,
    payloads: PAYLOADS,
    modes: [MODE],
    connections: [CONNECTIONS],
    rate: 1,
    seconds,
    repetitions: 1,
    load: Number.isInteger(seconds) && hasWrk() ? 'wrk' : 'autocannon',
    jsonFile: undefined,
    isForGoals: false,
    isShort: false,
  };
  const results: Result[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    say(`repetition ${repetition} of ${repetitions}`);
    const once = await compare(options, say);
    results.push(...once.results.map((result) => ({ ...result, repetition })));
    faults.push(...once.faults);
  }
  return results;
}

function barsOf(
  name: string,
  title: string,
  y: string,
  results: readonly Result[],
  valueOf: (result: Result) => number,
): Chart {
  const series = PAYLOADS.map((payload) => ({
    name: payload,
    points: peersOf(results).map((peer) =>
      barOf(peer, seriesOf(results, { peer, payload, mode: MODE, connections: CONNECTIONS }).map(valueOf)),
    ),
  }));
  return { name, title, kind: 'bars', x: '', y, series };
}

/** A row a peer; ratios against `against`, repetition by repetition. */
export function peerTable(
  payload: (typeof PAYLOADS)[number],
  results: readonly Result[],
  against: string,
): string[][] {
  const seriesFor = (peer: string): Result[] =>
    seriesOf(results, { peer, payload, mode: MODE, connections: CONNECTIONS });
  const rows = peersOf(results).map((peer) => {
    const series = seriesFor(peer);
    const spread = (digits: number, valueOf: (result: Result) => number): string =>
      spreadText(spreadOf(series.map(valueOf)), digits);
    const ratio = ratioOf(series, seriesFor(against), throughputOf);
    const cpuRatio = ratioOf(series, seriesFor(against), (result) => result.cpuMicrosPerRequest);
    return [
      peer,
      spread(0, throughputOf),
      ratio === undefined ? '–' : spreadText(ratio, 2),
      spread(2, ({ p99Micros }) => p99Micros / 1000),
      spread(1, (result) => result.cpuMicrosPerRequest),
      cpuRatio === undefined ? '–' : spreadText(cpuRatio, 2),
    ];
  });
  return [[payload, 'requests/s', `× ${against}`, 'p99 ms', 'CPU µs/request', `CPU × ${against}`], ...rows];
}

function peersOf(results: readonly Result[]): string[] {
  return [...new Set(results.map(({ peer }) => peer))];
}
