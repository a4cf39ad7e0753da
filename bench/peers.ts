import { parseArgs } from 'node:util';
import { textTable } from '#acuity/base/table.js';
import { PAYLOADS } from '#acuity/tune/load/payloads.js';
import { machine, oneOf, say, text, wholeNumber } from './cli.js';
import { ohaUnavailable } from './load/oha.js';
import { goalTable } from './peers/goals.js';
import { ACUITY, PEERS, serviceIn } from './peers/catalogue.js';
import { compare, isIn, type Comparison, type Order, type Result } from './peers/comparison.js';
import { BY_SOCKET, bySocket, type Peer } from './server.js';
import { differenceWords, interleaved, ratioOf, spread, spreadText, whyNoVerdict } from './spread.js';

export const USAGE = `npm run bench -- peers [options]

  --payloads A,B     of ${PAYLOADS.join(', ')} (default both)
  --connections N    at saturation (default 64)
  --seconds N        of one measurement (default 3)
  --repetitions N    rounds of the interleaving (default 5)
  --socket           each by a Unix socket too, and what a request costs there over the loopback
  --beside DIR       the service of another working copy that is built, saturated, in place of the peers

The service beside ${PEERS.filter((peer) => peer !== ACUITY).map(({ name }) => name).join(', ')}: saturated, one request at a time, and at 60 % of its
saturation; each takes turns. One repetition, or a machine that is busy before it begins, gets figures and no
verdict. Ends with 1 if an answer was wrong.`; // prettier-ignore

/** The service beside its peers: progress on standard error, the report on output. @throws UsageError */
export async function runPeers(args: readonly string[]): Promise<void> {
  const { beside, socket, ...options } = parse(args);
  const withSockets = (peers: readonly Peer[]): Peer[] =>
    socket ? peers.flatMap((peer) => [peer, bySocket(peer)]) : [...peers];
  const { repetitions, seconds } = options;
  const open = whyNoVerdict(repetitions);
  if (beside === undefined) {
    const missing = ohaUnavailable();
    if (missing !== undefined) say(`the fixed rate is left out: ${missing}`);
    for (const { name, unavailable } of PEERS)
      if (unavailable !== undefined) say(`${name} is left out: ${unavailable}`);
  }
  const comparison = await (beside === undefined
    ? compare({ ...options, peers: withSockets(PEERS.filter(isAble)) }, say)
    : repeated(options, beside));
  const head = `${machine()}; ${repetitions} repetitions of ${seconds} s, interleaved; median (least–most)`;
  process.stdout.write(
    `${[head, ...sectionsOf(comparison, beside?.name, open), faultsOf(comparison)].join('\n\n')}\n`,
  );
  if (comparison.faults.length > 0) process.exitCode = 1;
}

/** Each repetition starts new servers: two starts of a server differ by more than two measurements of it. */
async function repeated(options: Omit<Order, 'peers'>, base: Peer): Promise<Comparison> {
  const once = { ...options, peers: [base, ACUITY], repetitions: 1, isSaturatedOnly: true };
  const rounds = await interleaved([once], options.repetitions, (order) => compare(order, say));
  const all = [...rounds.values()].flat();
  return {
    cells: all[0]?.cells ?? [],
    results: all.flatMap(({ results }) => results),
    faults: all.flatMap(({ faults }) => faults),
  };
}

function isAble({ unavailable }: Peer): boolean {
  return unavailable === undefined;
}

/** `open`: why nothing is decided. */
function sectionsOf(
  { results, cells }: Comparison,
  base: string | undefined,
  open: string | undefined,
): string[] {
  const reason = open === undefined ? [] : [open];
  const tables = cells.map(
    (cell) => `${cell.payload}, ${cell.title}\n\n${cellTable(results.filter(isIn(cell)), base)}`,
  );
  if (base === undefined) {
    const goals = textTable(goalTable(results, open === undefined));
    return [...tables, ...socketTable(results), `Goals\n\n${goals}`, ...reason];
  }
  const lines = cells.map((cell) => {
    const inCell = results.filter(isIn(cell));
    const ratio = ratioOf(named(inCell, ACUITY.name), named(inCell, base), cpuOf);
    if (ratio === undefined) return [cell.payload, '–'];
    const words = open === undefined ? `: ${differenceWords(ratio)}` : '';
    return [cell.payload, `${spreadText(ratio, 3)}${words}`];
  });
  return [
    ...tables,
    textTable([['processor time of this working copy over the other’s', ''], ...lines]),
    ...reason,
  ];
}

const cpuOf = ({ cpuMicrosPerRequest }: Result): number => cpuMicrosPerRequest;
const throughputOf = ({ requests, seconds }: Result): number => requests / seconds;

/** Processor time a request by the socket over that by the loopback, for each peer that was measured by both. */
function socketTable(results: readonly Result[]): string[] {
  const rows = [
    ...new Set(results.map(({ peer, payload, mode }) => JSON.stringify([peer, payload, mode]))),
  ].flatMap((cell) => {
    const [peer, payload, mode] = JSON.parse(cell) as [string, string, string];
    const inCell = results.filter((one) => one.payload === payload && one.mode === mode);
    const ratio = ratioOf(named(inCell, `${peer}${BY_SOCKET}`), named(inCell, peer), cpuOf);
    return ratio === undefined ? [] : [[peer, payload, mode, spreadText(ratio, 2)]];
  });
  return rows.length === 0
    ? []
    : [textTable([['processor time by socket over loopback', '', '', ''], ...rows])];
}

function named(results: readonly Result[], peer: string): Result[] {
  return results.filter((result) => result.peer === peer);
}

function cellTable(results: readonly Result[], base: string | undefined): string {
  const [slow, least] = base === undefined ? ['fastify', 'floor'] : [base, base];
  const header = [
    '',
    'requests/s',
    `× ${slow}`,
    'p50 µs',
    'p99 µs',
    'CPU µs/request',
    `CPU × ${least}`,
    'RSS MiB',
  ];
  const rows = [...new Set(results.map(({ peer }) => peer))].map((peer) => {
    const own = named(results, peer);
    const of = (value: (result: Result) => number, digits: number): string => spread(own.map(value), digits);
    const over = (other: string, value: (result: Result) => number): string => {
      const ratio = ratioOf(own, named(results, other), value);
      return ratio === undefined ? '–' : spreadText(ratio, 2);
    };
    return [
      peer,
      of(throughputOf, 0),
      over(slow, throughputOf),
      of(({ p50Micros }) => p50Micros, 0),
      of(({ p99Micros }) => p99Micros, 0),
      of(cpuOf, 1),
      over(least, cpuOf),
      of(({ rssBytes }) => rssBytes / 2 ** 20, 0),
    ];
  });
  return textTable([header, ...rows]);
}

function faultsOf({ faults }: Comparison): string {
  return faults.length === 0
    ? 'Every answer had status 200, and every answer that was looked at had the expected scores.'
    : `NOT TO BE USED:\n${faults.map((fault) => `  ${fault}`).join('\n')}`;
}

function parse(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      payloads: text(PAYLOADS.join(',')),
      connections: text('64'),
      seconds: text('3'),
      repetitions: text('5'),
      socket: { type: 'boolean', default: false },
      beside: { type: 'string' },
    },
  });
  return {
    payloads: values.payloads.split(',').map(oneOf(PAYLOADS, 'payload')),
    connections: wholeNumber(values.connections),
    seconds: wholeNumber(values.seconds),
    repetitions: wholeNumber(values.repetitions),
    socket: values.socket,
    beside: values.beside === undefined ? undefined : serviceIn(values.beside),
  };
}
