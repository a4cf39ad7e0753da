import { pairwise, spreadOf, type Spread } from '#acuity/base/statistics.js';
import { bodiesOf } from '#acuity/load/payloads.js';
import { spreadText } from '#bench/comparison/goals.js';
import { press, withServices, type BenchContext, type Pressed, type Setting } from './context.js';
import type { ReportSection } from './section.js';

const SETTINGS: readonly Setting[] = [
  { name: 'as is', env: {} },
  ...['1', '8', '128'].map((rows) => ({ name: `batch ${rows}`, env: { ACUITY_BATCH_MAX: rows } })),
  { name: '2 workers', env: { ACUITY_WORKERS: '2' } },
  { name: '2 loops', env: { ACUITY_HTTP_THREADS: '2', ACUITY_WORKERS: '2' } },
  { name: 'intra-op 2', env: { ACUITY_INTRA_OP_THREADS: '2' } },
];

/** What each knob does here, one turned at a time: a server for each, all running, in turn under load. */
export async function knobsSection(context: BenchContext): Promise<ReportSection> {
  const { seconds, repetitions, say } = context;
  const rows = SETTINGS.map(({ name }) => ({ name, runs: [] as Pressed[] }));
  await withServices(context, SETTINGS, async (servers) => {
    for (let pass = 0; pass <= repetitions; pass++) {
      for (const [index, { name, runs }] of rows.entries()) {
        const server = servers[index];
        if (server === undefined) continue;
        const isWarmUp = pass === 0;
        const pressed = await press(context, server, {
          what: name,
          bodies: bodiesOf('history'),
          connections: 64,
          seconds: isWarmUp ? seconds / 2 : seconds,
        });
        if (isWarmUp) continue;
        runs.push(pressed);
        say(`${name}: ${Math.round(perSecondOf(pressed))} requests/s`);
      }
    }
  });
  const [asIs, ...turned] = rows;
  return {
    name: 'knobs',
    heading: 'What each knob does',
    note: 'One setting turned at a time, the rest as is: one event loop, one worker, batches of 32; history, 64 connections. Median (least–most) of interleaved repetitions; acuity tune decides for a machine.',
    charts: [
      {
        name: 'knobs',
        title: 'Throughput by setting, history',
        kind: 'bars',
        x: '',
        y: 'requests per second',
        series: [
          { name: 'history', points: rows.map(({ name, runs }) => [name, middle(runs, perSecondOf)]) },
        ],
      },
    ],
    tables: [
      [
        ['setting', 'requests/s', '× as is', 'p99 ms', 'CPU µs/request'],
        ...rows.map(({ name, runs }) => [
          name,
          spreadText(spreadOf(runs.map(perSecondOf)), 0),
          spreadText(overAsIs(runs, asIs?.runs ?? []), 2),
          (middle(runs, ({ p99Micros }) => p99Micros) / 1000).toFixed(2),
          middle(runs, ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest).toFixed(1),
        ]),
      ],
    ],
    figures: turned.map(({ name, runs }) => ({
      name: `history: throughput with ${name} over as is`,
      spread: overAsIs(runs, asIs?.runs ?? []),
    })),
    data: rows,
  };
}

function perSecondOf({ requests, seconds }: Pressed): number {
  return requests / seconds;
}

function middle(runs: readonly Pressed[], valueOf: (run: Pressed) => number): number {
  return spreadOf(runs.map(valueOf)).median;
}

function overAsIs(runs: readonly Pressed[], asIs: readonly Pressed[]): Spread {
  return pairwise(runs.map(perSecondOf), asIs.map(perSecondOf), (value, other) => value / other);
}
