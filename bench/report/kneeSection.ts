import { bodiesOf } from '#acuity/load/payloads.js';
import { runOpenLoop } from '#acuity/load/openLoop.js';
import type { Measurement } from '#acuity/load/measurement.js';
import { runClosedLoop } from '#acuity/load/closedLoop.js';
import { withService, type BenchContext } from './context.js';
import type { ReportSection } from './section.js';

/** Shares of what the same generator reached with every connection busy. */
const SHARES = [0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 1, 1.15, 1.4] as const;
/** Enough that a late answer does not keep the next request from being sent. */
const CONNECTIONS = 256;

interface Offered extends Measurement {
  readonly rate: number;
  readonly answeredPerS: number;
  /** Cores that the server was busy on. */
  readonly serverCores: number;
}

/** Latency at fixed rates, up to and beyond what is possible. */
export async function kneeSection(context: BenchContext): Promise<ReportSection> {
  const points = await withService(context, async (server) => {
    const load = {
      target: { port: server.port, key: context.key.key },
      bodies: bodiesOf('baseline'),
      connections: CONNECTIONS,
      seconds: context.seconds,
    };
    await runClosedLoop(load);
    const { requests, seconds } = await runClosedLoop(load);
    const offered: Offered[] = [];
    for (const share of SHARES) {
      const rate = Math.max(1, Math.round((share * requests) / seconds));
      const cpuBefore = server.cpuMicros();
      const measured = await runOpenLoop({ ...load, rate });
      const serverCores = (server.cpuMicros() - cpuBefore) / (measured.seconds * 1e6);
      offered.push({ ...measured, rate, answeredPerS: measured.requests / measured.seconds, serverCores });
      context.say(`${rate} requests/s offered: p99 ${(measured.p99Micros / 1000).toFixed(1)} ms`);
    }
    return offered;
  });
  return {
    name: 'knee',
    heading: 'Latency against offered rate',
    note: 'Open loop: requests are due evenly spaced whatever the answers do, and latency counts from then, so waiting is never left out. Below the knee some 1 ms is the schedule’s own grain. Generator and server share the machine: where the server is not busy at the knee, the generator was the limit.',
    charts: [
      {
        name: 'knee',
        title: 'Latency against offered rate, baseline',
        kind: 'line',
        x: 'requests per second offered',
        y: 'ms',
        isLogY: true,
        series: [
          { name: 'p50', points: points.map(({ rate, p50Micros }) => [rate, p50Micros / 1000]) },
          { name: 'p99', points: points.map(({ rate, p99Micros }) => [rate, p99Micros / 1000]) },
        ],
      },
    ],
    tables: [
      [
        ['offered/s', 'answered/s', 'p50 ms', 'p99 ms', 'refused or lost', 'server, cores'],
        ...points.map(({ rate, answeredPerS, p50Micros, p99Micros, errors, serverCores }) => [
          String(rate),
          answeredPerS.toFixed(0),
          (p50Micros / 1000).toFixed(2),
          (p99Micros / 1000).toFixed(2),
          String(errors),
          serverCores.toFixed(2),
        ]),
      ],
    ],
    figures: [],
    data: points,
  };
}
