import { pairwise, spreadOf } from '#acuity/load/statistics.js';
import { bodiesOf } from '#acuity/load/payloads.js';
import { spreadText } from '#bench/comparison/goals.js';
import type { ServerProcess } from '#bench/server/process.js';
import { barOf } from './chart.js';
import { AS_IS, press, withService, type BenchContext, type Pressed, type Setting } from './context.js';
import type { ReportSection } from './section.js';

const SETTINGS: readonly Setting[] = [
  AS_IS,
  ...['1', '128'].map((rows) => ({ name: `batch ${rows}`, env: { ACUITY_BATCH_MAX: rows } })),
  { name: '2 workers', env: { ACUITY_WORKERS: '2' } },
  { name: '2 loops', env: { ACUITY_HTTP_THREADS: '2', ACUITY_WORKERS: '2' } },
  { name: 'intra-op 2', env: { ACUITY_INTRA_OP_THREADS: '2' } },
];

/** What each knob does here, one turned at a time, in turn under load. */
export async function knobsSection(context: BenchContext): Promise<ReportSection> {
  const { repetitions, say } = context;
  const rows = SETTINGS.map((setting) => ({ ...setting, runs: [] as Pressed[] }));
  for (let pass = 1; pass <= repetitions; pass++) {
    for (const row of rows) {
      const pressed = await pressAnew(context, row);
      row.runs.push(pressed);
      say(`${row.name}: ${Math.round(perSecondOf(pressed))} requests/s`);
    }
  }
  const [asIs] = rows;
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
          { name: 'history', points: rows.map(({ name, runs }) => barOf(name, runs.map(perSecondOf))) },
        ],
      },
    ],
    tables: [
      [
        ['setting', 'requests/s', '× as is', 'p99 ms', 'CPU µs/request'],
        ...rows.map(({ name, runs }) => [
          name,
          spreadText(spreadOf(runs.map(perSecondOf)), 0),
          spreadText(spreadOf(overAsIs(runs, asIs?.runs ?? [])), 2),
          (middle(runs, ({ p99Micros }) => p99Micros) / 1000).toFixed(2),
          middle(runs, ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest).toFixed(1),
        ]),
      ],
    ],
    data: rows,
  };
}

/**
 * A server of its own for each measurement: two starts of the same server differ by more than two measurements of
 * one, and knobs by little more than that.
 */
function pressAnew(context: BenchContext, setting: Setting): Promise<Pressed> {
  const { seconds } = context;
  const pressure = { what: setting.name, bodies: bodiesOf('history'), connections: 64 };
  const use = async (server: ServerProcess): Promise<Pressed> => {
    await press(context, server, { ...pressure, seconds: seconds / 2 });
    return press(context, server, { ...pressure, seconds });
  };
  return withService(context, use, setting);
}

function perSecondOf({ requests, seconds }: Pressed): number {
  return requests / seconds;
}

function middle(runs: readonly Pressed[], valueOf: (run: Pressed) => number): number {
  return spreadOf(runs.map(valueOf)).median;
}

function overAsIs(runs: readonly Pressed[], asIs: readonly Pressed[]): number[] {
  return pairwise(runs.map(perSecondOf), asIs.map(perSecondOf), (value, other) => value / other);
}
