import { pairwise, quantileOf, spreadOf } from '#acuity/load/statistics.js';
import { bodiesOf } from '#acuity/load/payloads.js';
import { keyCost } from '#bench/micro/authenticate.js';
import { bodiesOfBytes, bodiesWithDecimals, bodiesWithPast, bodiesWithSamples } from './bodies.js';
import { press, withService, type BenchContext, type Pressed } from './context.js';
import type { Figure, ReportSection } from './section.js';

const KIB = 1024;
const KEY_COUNTS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000] as const;

interface Curve {
  readonly name: string;
  readonly title: string;
  readonly x: string;
  readonly isLog: boolean;
  readonly values: readonly number[];
  bodiesAt(value: number): readonly string[];
  connectionsAt(value: number): number;
}

const CURVES: readonly Curve[] = [
  {
    name: 'samples',
    title: 'Samples in each series',
    x: 'samples',
    isLog: true,
    values: [10, 100, 1_000, 7_200],
    bodiesAt: bodiesWithSamples,
    connectionsAt: () => 32,
  },
  {
    name: 'sessions',
    title: 'Past sessions',
    x: 'past sessions',
    isLog: false,
    values: [0, 2, 5],
    bodiesAt: bodiesWithPast,
    connectionsAt: () => 64,
  },
  {
    name: 'decimals',
    title: 'Decimals of a sample, full history',
    x: 'decimals',
    isLog: false,
    values: [1, 3, 14],
    bodiesAt: bodiesWithDecimals,
    connectionsAt: () => 64,
  },
  {
    name: 'connections',
    title: 'Connections',
    x: 'connections',
    isLog: true,
    values: [1, 16, 64, 256, 1_000],
    bodiesAt: () => bodiesOf('baseline'),
    connectionsAt: (value) => value,
  },
  {
    name: 'bytes',
    title: 'Body size',
    x: 'bytes',
    isLog: true,
    values: [16 * KIB, 256 * KIB, 4096 * KIB],
    bodiesAt: bodiesOfBytes,
    // So few that bodies of 4 MiB stay within what the service buffers.
    connectionsAt: () => 8,
  },
];

/** How cost grows with what callers send, and with how many keys there are. */
export async function curvesSection(context: BenchContext): Promise<ReportSection> {
  const measured = await withService(context, (server) =>
    measureInTurn(context, (pressure) => press(context, server, pressure)),
  );
  keyCost(100, context.seconds * 100); // compiles what all of them run
  const keys = KEY_COUNTS.map((count) => {
    context.say(`keys: ${count}`);
    return { count, ...keyCost(count, context.seconds * 100) };
  });

  return {
    name: 'curves',
    heading: 'What it costs to send more',
    note: 'Processor time of the server per request, both axes from zero or logarithmic as labelled. Straight lines in samples, sessions and bytes are what is wanted, flat ones in connections and keys. Samples of more than 15 digits, as averages have that nobody rounded, are decoded one by one.',
    charts: [
      ...CURVES.map(({ name, title, x, isLog }) => ({
        name: `cost-${name}`,
        title,
        kind: 'line' as const,
        x,
        y: 'CPU µs per request',
        isLogX: isLog,
        isLogY: name === 'samples' || name === 'bytes',
        series: [{ name: 'CPU', points: pointsOf(measured.get(name) ?? []) }],
      })),
      {
        name: 'cost-keys',
        title: 'Keys in the index',
        kind: 'line',
        x: 'keys',
        y: 'µs per check',
        isLogX: true,
        series: [
          { name: 'known key', points: keys.map(({ count, knownMicros }) => [count, knownMicros]) },
          { name: 'unknown key', points: keys.map(({ count, unknownMicros }) => [count, unknownMicros]) },
        ],
      },
    ],
    tables: [
      ...CURVES.map(({ name, x }) => curveTable(x, measured.get(name) ?? [])),
      [
        ['keys', 'known key, µs', 'unknown key, µs'],
        ...keys.map(({ count, knownMicros, unknownMicros }) => [
          count.toLocaleString('en'),
          knownMicros.toFixed(2),
          unknownMicros.toFixed(2),
        ]),
      ],
    ],
    figures: CURVES.flatMap(({ name, x }) => growthOf(x, measured.get(name) ?? [])),
    data: {
      curves: Object.fromEntries([...measured].map(([name, points]) => [name, points.map(withoutBodies)])),
      keys,
    },
  };
}

interface Point {
  readonly value: number;
  readonly bodies: readonly string[];
  readonly runs: readonly Pressed[];
}

/** Pass by pass over all points, so that a slow minute does not bend one curve. */
async function measureInTurn(
  { seconds, repetitions, say }: BenchContext,
  pressOn: (pressure: Parameters<typeof press>[2]) => Promise<Pressed>,
): Promise<ReadonlyMap<string, readonly Point[]>> {
  const runs = new Map<string, (Point & { runs: Pressed[] })[]>(
    CURVES.map(({ name, values, bodiesAt }) => [
      name,
      values.map((value) => ({ value, bodies: bodiesAt(value), runs: [] })),
    ]),
  );
  await pressOn({ what: 'warming up', bodies: bodiesOf('history'), connections: 64, seconds });
  // So many ratios of one kind tell their scatter in fewer passes than the other sections have repetitions.
  for (let pass = 1; pass <= Math.max(1, repetitions - 1); pass++) {
    for (const curve of CURVES) {
      for (const point of runs.get(curve.name) ?? []) {
        const { value, bodies } = point;
        const what = `${curve.name} ${value}`;
        const pressed = await pressOn({
          what,
          bodies,
          connections: curve.connectionsAt(value),
          seconds,
        });
        point.runs.push(pressed);
        say(`${what}: ${pressed.cpuMicrosPerRequest.toFixed(1)} µs of processor time a request`);
      }
    }
  }
  return runs;
}

/** Each point over the first of its curve, pass by pass. */
function growthOf(x: string, [first, ...rest]: readonly Point[]): Figure[] {
  const cpu = ({ runs }: Point): number[] => runs.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest);
  if (first === undefined) return [];
  return rest.map((point) => ({
    name: `CPU per request, ${point.value.toLocaleString('en')} ${x} over ${first.value.toLocaleString('en')}`,
    measure: 'CPU',
    ratios: pairwise(cpu(point), cpu(first), (value, other) => value / other),
  }));
}

function withoutBodies({ value, runs }: Point): Omit<Point, 'bodies'> {
  return { value, runs };
}

function pointsOf(points: readonly Point[]): [number, number][] {
  return points.map(({ value, runs }) => [value, cpuOf(runs).median]);
}

function curveTable(x: string, points: readonly Point[]): string[][] {
  return [
    [x, 'CPU µs/request', 'requests/s', 'p99 ms'],
    ...points.map(({ value, runs }) => {
      const { median, min, max } = cpuOf(runs);
      return [
        value.toLocaleString('en'),
        `${median.toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)})`,
        middle(runs.map(({ requests, seconds }) => requests / seconds)).toFixed(0),
        (middle(runs.map(({ p99Micros }) => p99Micros)) / 1000).toFixed(2),
      ];
    }),
  ];
}

function cpuOf(runs: readonly Pressed[]): ReturnType<typeof spreadOf> {
  return spreadOf(runs.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest));
}

function middle(values: readonly number[]): number {
  return quantileOf(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}
