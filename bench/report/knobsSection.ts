import { bodiesOf } from '#acuity/load/payloads.js';
import { press, withService, type BenchContext, type Pressed } from './context.js';
import type { ReportSection } from './section.js';

interface Setting {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

const SETTINGS: readonly Setting[] = [
  { name: 'as is', env: {} },
  ...['1', '8', '128'].map((rows) => ({ name: `batch ${rows}`, env: { ACUITY_BATCH_MAX: rows } })),
  { name: '2 workers', env: { ACUITY_WORKERS: '2' } },
  { name: '2 loops', env: { ACUITY_HTTP_THREADS: '2', ACUITY_WORKERS: '2' } },
  { name: 'intra-op 2', env: { ACUITY_INTRA_OP_THREADS: '2' } },
];

/** What each knob does here, one turned at a time. */
export async function knobsSection(context: BenchContext): Promise<ReportSection> {
  const rows: (Pressed & { readonly name: string })[] = [];
  for (const { name, env } of SETTINGS) {
    const pressure = { what: name, bodies: bodiesOf('history'), connections: 64, seconds: context.seconds };
    const pressed = await withService(context, env, async (server) => {
      await press(context, server, { ...pressure, seconds: context.seconds / 2 });
      return press(context, server, pressure);
    });
    rows.push({ name, ...pressed });
    context.say(`${name}: ${Math.round(pressed.requests / pressed.seconds)} requests/s`);
  }
  return {
    name: 'knobs',
    heading: 'What each knob does',
    note: 'One setting turned at a time, the rest as is: one event loop, one worker, batches of 32; history, 64 connections. One short run each: acuity tune decides for a machine.',
    charts: [
      {
        name: 'knobs',
        title: 'Throughput by setting, history',
        kind: 'bars',
        x: '',
        y: 'requests per second',
        series: [
          { name: 'history', points: rows.map(({ name, requests, seconds }) => [name, requests / seconds]) },
        ],
      },
    ],
    tables: [
      [
        ['setting', 'requests/s', 'p99 ms', 'CPU µs/request'],
        ...rows.map(({ name, requests, seconds, p99Micros, cpuMicrosPerRequest }) => [
          name,
          (requests / seconds).toFixed(0),
          (p99Micros / 1000).toFixed(2),
          cpuMicrosPerRequest.toFixed(1),
        ]),
      ],
    ],
    data: rows,
  };
}
