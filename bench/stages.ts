import { parseArgs } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { markdownTable } from '#acuity/base/table.js';
import { runClosedLoop } from '#acuity/load/closedLoop.js';
import { bodiesOf, PAYLOADS, type PayloadName } from '#acuity/load/payloads.js';
import { closedLoopWithWrk, hasWrk } from './load/wrk.js';
import { machine } from './machine.js';
import { measure, type Suite } from './micro/harness.js';
import { SUITES } from './micro/suites.js';
import type { ServerProcess } from './server/process.js';
import { withService, type RunningPeer } from './server/service.js';
import { UsageError } from './usage.js';

export const USAGE = `npm run bench -- stages [options]

  --seconds N        length of the load, and of warming up, for each payload (default 2)`;

interface Stage {
  readonly name: string;
  /** A suite of `npm run bench -- micro`, and its case. */
  readonly suite: string;
  caseOf(payload: PayloadName): string;
  /** Of the case, for one request. */
  readonly share: number;
}

/** A batch of 16 is what 64 connections make. */
const STAGES: readonly Stage[] = [
  { name: 'key and limit', suite: 'authenticate', caseOf: () => 'sent before, of 100 keys', share: 1 },
  { name: 'read', suite: 'read', caseOf: (payload) => `${payload}: parser`, share: 1 },
  { name: 'features', suite: 'featurise', caseOf: (payload) => payload, share: 1 },
  { name: 'dispatch (a batch of 16)', suite: 'dispatch', caseOf: () => 'two at a time', share: 1 / 16 },
  { name: 'model (a batch of 16)', suite: 'session', caseOf: modelCase, share: 1 },
  { name: 'answer', suite: 'respond', caseOf: () => 'table of hundredths', share: 1 },
  { name: 'metrics', suite: 'metrics', caseOf: () => 'a scored request', share: 1 },
];
const CONNECTIONS = 64;
const EFFORT = { rounds: 3, roundMs: 30 };

interface Loaded {
  readonly cpuMicros: number;
  /** Mean milliseconds by the service's own histogram. */
  readonly stageMs: Readonly<Record<string, number>>;
}

/**
 * Each part timed alone, and the running service. Parts alone have warm caches, so the rest includes what they lose
 * when run together. The second table is wall time from the service's own /metrics, waits included. @throws
 * UsageError
 */
export async function runStages(args: readonly string[]): Promise<void> {
  const seconds = secondsOf(args);
  const micro = await microCosts();
  const loaded = await underLoad(seconds);
  const columns = PAYLOADS.map((payload, index) => {
    const parts = STAGES.map(
      ({ suite, caseOf, share }) => (micro.get(`${suite} ${caseOf(payload)}`) ?? NaN) * share,
    );
    const total = loaded[index]?.cpuMicros ?? NaN;
    return [...parts, total - parts.reduce((sum, part) => sum + part, 0), total];
  });
  const names = [
    ...STAGES.map(({ name }) => name),
    'rest (HTTP, queueing, what parts lose in company)',
    'total',
  ];
  const cpu = names.map((name, row) => [name, ...columns.map((column) => (column[row] ?? NaN).toFixed(1))]);
  const wall = Object.keys(loaded[0]?.stageMs ?? {}).map((stage) => [
    stage,
    ...loaded.map(({ stageMs }) => (stageMs[stage] ?? NaN).toFixed(3)),
  ]);
  const tables = [
    `${machine()}; ${CONNECTIONS} connections`,
    markdownTable([['CPU µs per request', ...PAYLOADS], ...cpu], { alignsRight: true }),
    markdownTable([['mean ms by /metrics, saturated', ...PAYLOADS], ...wall], { alignsRight: true }),
  ];
  process.stdout.write(`${tables.join('\n\n')}\n`);
}

function modelCase(payload: PayloadName): string {
  return `${payload === 'baseline' ? 'base' : 'history'}: rows of a batch of 16`;
}

function secondsOf(args: readonly string[]): number {
  let text: string;
  try {
    text = parseArgs({ args: [...args], options: { seconds: { type: 'string', default: '2' } } }).values
      .seconds;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError('--seconds wants whole numbers from 1 on');
  return Number(text);
}

/** Processor microseconds of a case, by "suite case". */
async function microCosts(): Promise<Map<string, number>> {
  const costs = new Map<string, number>();
  for (const suite of SUITES.filter(({ name }) => STAGES.some((stage) => stage.suite === name))) {
    for (const { name, cpuMicros } of await measure(onlyUsed(suite), EFFORT)) {
      costs.set(`${suite.name} ${name}`, cpuMicros.median);
    }
  }
  return costs;
}

/** The suite with only those cases that a stage names. */
function onlyUsed(suite: Suite): Suite {
  const stages = STAGES.filter((stage) => stage.suite === suite.name);
  const used = stages.flatMap(({ caseOf }) => PAYLOADS.map(caseOf));
  return {
    name: suite.name,
    async open() {
      const { cases, close } = await suite.open();
      return { cases: cases.filter(({ name }) => used.includes(name)), close };
    },
  };
}

function underLoad(seconds: number): Promise<Loaded[]> {
  return withService({}, async (service) => {
    const loaded: Loaded[] = [];
    for (const payload of PAYLOADS) loaded.push(await loadWith(service, payload, seconds));
    return loaded;
  });
}

async function loadWith(
  { server, target }: RunningPeer,
  payload: PayloadName,
  seconds: number,
): Promise<Loaded> {
  const load = { target, bodies: bodiesOf(payload), connections: CONNECTIONS };
  const run = hasWrk() ? closedLoopWithWrk : runClosedLoop;
  await run({ ...load, seconds });
  const [before, cpuBefore] = [await stageSums(server), server.cpuMicros()];
  const { requests, errors } = await run({ ...load, seconds });
  if (errors > 0) throw new Error(`${errors} requests without a 200`);
  const cpuMicros = (server.cpuMicros() - cpuBefore) / requests;
  return { cpuMicros, stageMs: meansBetween(before, await stageSums(server)) };
}

type Sums = ReadonlyMap<string, { readonly sum: number; readonly count: number }>;

async function stageSums({ adminPort }: ServerProcess): Promise<Sums> {
  const sums = new Map<string, { sum: number; count: number }>();
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  for (const [, kind, labels = '', value] of text.matchAll(
    /^acuity_stage_seconds_(sum|count)\{([^}]*)\} (\S+)$/gm,
  )) {
    const stage = /stage="(\w+)"/.exec(labels)?.[1];
    if (stage === undefined) continue;
    const entry = sums.get(stage) ?? { sum: 0, count: 0 };
    entry[kind === 'sum' ? 'sum' : 'count'] += Number(value);
    sums.set(stage, entry);
  }
  return sums;
}

function meansBetween(before: Sums, after: Sums): Record<string, number> {
  return Object.fromEntries(
    [...after].map(([stage, { sum, count }]) => {
      const { sum: sumBefore = 0, count: countBefore = 0 } = before.get(stage) ?? {};
      return [stage, ((sum - sumBefore) / (count - countBefore)) * 1000];
    }),
  );
}
