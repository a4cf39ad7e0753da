import { bodiesOf, PAYLOADS, type PayloadName } from '#acuity/load/payloads.js';
import { measure, type Suite } from '#bench/micro/harness.js';
import type { ServerProcess } from '#bench/server/process.js';
import { press, withService, type BenchContext, type Pressed } from './context.js';
import { scalingTable } from './scaling.js';
import type { ReportSection } from './section.js';

/** Which case of which micro bench a stage of a request costs. A batch of 16 is what 64 connections make. */
const STAGES: readonly {
  stage: string;
  suite: string;
  caseOf: (payload: PayloadName) => string;
  share: number;
}[] = [
  { stage: 'key and limit', suite: 'authenticate', caseOf: () => 'sent before, of 100 keys', share: 1 },
  { stage: 'read', suite: 'read', caseOf: (payload) => `${payload}: parser`, share: 1 },
  { stage: 'features', suite: 'featurise', caseOf: (payload) => payload, share: 1 },
  { stage: 'dispatch (a batch of 16)', suite: 'dispatch', caseOf: () => 'two at a time', share: 1 / 16 },
  {
    stage: 'model (a batch of 16)',
    suite: 'session',
    caseOf: (payload) => `${payload === 'baseline' ? 'base' : 'history'}: rows of a batch of 16`,
    share: 1,
  },
  { stage: 'answer', suite: 'respond', caseOf: () => 'table of hundredths', share: 1 },
  { stage: 'metrics', suite: 'metrics', caseOf: () => 'a scored request', share: 1 },
];
const CONNECTIONS = 64;

interface Loaded extends Pressed {
  readonly payload: PayloadName;
  readonly bodyBytes: number;
  /** Mean milliseconds by the service's own histogram. */
  readonly stageMs: Readonly<Record<string, number>>;
}

/** What a request costs, part by part, and in the running service. */
export async function stagesSection(context: BenchContext): Promise<ReportSection> {
  const micro = await microCosts(context);
  const loaded = await underLoad(context);
  const names = [...STAGES.map(({ stage }) => stage), 'rest (HTTP, queueing, what parts lose in company)'];
  const costs = PAYLOADS.map((payload) => {
    const parts = STAGES.map(
      ({ suite, caseOf, share }) => (micro.get(`${suite} ${caseOf(payload)}`) ?? NaN) * share,
    );
    const total = loaded.find((load) => load.payload === payload)?.cpuMicrosPerRequest ?? NaN;
    return [...parts, total - parts.reduce((sum, part) => sum + part, 0), total];
  });
  return {
    name: 'stages',
    heading: 'Where the processor time goes',
    note: 'Each part timed alone (npm run bench:micro); the last row is the running service, all threads. Parts alone have warm caches, so the rest holds what they lose in company. The second table is wall time by the service’s own /metrics: it includes waiting. The third spreads the measured costs over cores.',
    charts: [
      {
        name: 'stages',
        title: 'Processor time per request by stage',
        kind: 'bars',
        x: '',
        y: 'µs',
        series: PAYLOADS.map((payload, index) => ({
          name: payload,
          points: names.map((stage, row): [string, number] => [
            stage.replace(/ .*/, ''),
            costs[index]?.[row] ?? NaN,
          ]),
        })),
      },
    ],
    tables: [
      [
        ['CPU µs per request', ...PAYLOADS],
        ...[...names, 'total, measured under load'].map((name, row) => [
          name,
          ...costs.map((column) => (column[row] ?? NaN).toFixed(1)),
        ]),
      ],
      metricsTable(loaded),
      ...loaded.map((load) => scalingTable(load.payload, load)),
    ],
    figures: [],
    data: { micro: Object.fromEntries(micro), loaded },
  };
}

async function microCosts({ seconds, say }: BenchContext): Promise<Map<string, number>> {
  // Imported only now: ONNX Runtime reads the environment when it loads.
  const { SUITES } = await import('#bench/micro/suites.js');
  const costs = new Map<string, number>();
  for (const suite of SUITES.filter(({ name }) => STAGES.some((stage) => stage.suite === name))) {
    say(`micro bench: ${suite.name}`);
    const effort = { rounds: 3, roundMs: Math.min(30, 30 * seconds) };
    for (const { name, cpuMicros } of await measure(onlyUsed(suite), effort)) {
      costs.set(`${suite.name} ${name}`, cpuMicros.median);
    }
  }
  return costs;
}

/** The suite without the cases that no stage names. */
function onlyUsed(suite: Suite): Suite {
  const used = STAGES.filter((stage) => stage.suite === suite.name).flatMap(({ caseOf }) =>
    PAYLOADS.map(caseOf),
  );
  return {
    name: suite.name,
    async open() {
      const { cases, close } = await suite.open();
      return { cases: cases.filter(({ name }) => used.includes(name)), close };
    },
  };
}

function underLoad(context: BenchContext): Promise<Loaded[]> {
  return withService(context, async (server) => {
    const loads: Loaded[] = [];
    for (const payload of PAYLOADS) {
      const bodies = bodiesOf(payload);
      const pressure = {
        what: `stages, ${payload}`,
        bodies,
        connections: CONNECTIONS,
        seconds: context.seconds,
      };
      await press(context, server, pressure);
      const before = await stageSums(server);
      const pressed = await press(context, server, { ...pressure, seconds: context.seconds * 2 });
      const after = await stageSums(server);
      context.say(
        `stages, ${payload}: ${pressed.cpuMicrosPerRequest.toFixed(1)} µs of processor time a request`,
      );
      const bodyBytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0) / bodies.length;
      loads.push({ ...pressed, payload, bodyBytes, stageMs: meansBetween(before, after) });
    }
    return loads;
  });
}

type Sums = ReadonlyMap<string, { readonly sum: number; readonly count: number }>;

async function stageSums({ adminPort }: ServerProcess): Promise<Sums> {
  const sums = new Map<string, { sum: number; count: number }>();
  if (adminPort === undefined) return sums;
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

function metricsTable(loads: readonly Loaded[]): string[][] {
  const stages = Object.keys(loads[0]?.stageMs ?? {});
  const row = (stage: string): string[] => [
    stage,
    ...loads.map(({ stageMs }) => (stageMs[stage] ?? NaN).toFixed(3)),
  ];
  return [['mean ms by /metrics, saturated', ...loads.map(({ payload }) => payload)], ...stages.map(row)];
}
