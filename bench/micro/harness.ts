import { interleaved } from '#bench/spread.js';

/** One thing that is timed. */
export interface MicroCase {
  readonly name: string;
  /** How much one run handles: rows of a batch, keys, requests; the figures are per unit. */
  readonly units: number;
  run(): unknown;
  /** @throws if the result of a run is wrong */
  check(result: unknown): void;
}

/** Cases that are compared with each other. */
export interface Suite {
  readonly name: string;
  open(): Promise<OpenSuite>;
}

export interface OpenSuite {
  readonly cases: readonly MicroCase[];
  close?(): Promise<void>;
}

export interface MicroResult {
  readonly name: string;
  /** Microseconds of one unit by round, by the clock and by the processor time of all threads. */
  readonly wall: readonly number[];
  readonly cpu: readonly number[];
}

export interface Effort {
  readonly rounds: number;
  /** Aimed at for one round of one case. */
  readonly roundMs: number;
}

/** Times the cases of a suite in turn, round by round; each result is checked before and after. */
export async function measure(suite: Suite, { rounds, roundMs }: Effort): Promise<MicroResult[]> {
  const { cases, close } = await suite.open();
  try {
    const timed: Timed[] = [];
    for (const micro of cases) {
      micro.check(await micro.run());
      timed.push({ micro, runs: await runsFor(micro, roundMs) });
    }
    const found = await interleaved(timed, rounds, ({ micro, runs }) => time(micro, runs));
    for (const { micro } of timed) micro.check(await micro.run());
    return [...found].map(([{ micro, runs }, times]) => ({
      name: micro.name,
      wall: times.map(({ wallMicros }) => wallMicros / (runs * micro.units)),
      cpu: times.map(({ cpuMicros }) => cpuMicros / (runs * micro.units)),
    }));
  } finally {
    await close?.();
  }
}

interface Timed {
  readonly micro: MicroCase;
  readonly runs: number;
}

/** Doubles the runs until they fill a round; the compiler warms up meanwhile. */
async function runsFor(micro: MicroCase, roundMs: number): Promise<number> {
  let runs = 1;
  while ((await time(micro, runs)).wallMicros < roundMs * 1000) runs *= 2;
  return runs;
}

async function time(micro: MicroCase, runs: number): Promise<{ wallMicros: number; cpuMicros: number }> {
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  for (let run = 0; run < runs; run++) {
    const result = micro.run();
    // Awaiting a non-promise would cost more than some of the cases.
    if (result instanceof Promise) await result;
  }
  const wallMicros = (performance.now() - startMs) * 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wallMicros, cpuMicros: user + system };
}

/** Walks through `items` again and again, so that no case sees one input only. */
export function turning<Item>(items: readonly Item[]): () => Item {
  let turn = -1;
  return () => {
    turn = (turn + 1) % items.length;
    const item = items[turn];
    if (item === undefined) throw new RangeError('no items');
    return item;
  };
}
