/** What one request costs, split by where the time is spent. */
export interface RequestCost {
  readonly cpuMicrosPerRequest: number;
  readonly loopCpuMicrosPerRequest: number;
  readonly bodyBytes: number;
}

/** How cores are best spread over event loops and workers, and what they then answer. */
export interface Spreading {
  readonly cores: number;
  readonly loops: number;
  readonly workers: number;
  readonly perSecond: number;
  /** Of bodies alone, in gigabits a second. */
  readonly gigabits: number;
}

export const CORE_COUNTS = [4, 8, 16, 32, 64] as const;
/** A core is left to the parser and to everything else for each of so many. */
const CORES_PER_SPARE = 8;
const LOOPS_MAX = 64;

/**
 * The split of `cores` with the highest throughput, on paper: cost per request stays what it was measured as, one
 * busy thread a core, and the slower of the two sides decides.
 */
export function spreading(cores: number, cost: RequestCost): Spreading {
  const { cpuMicrosPerRequest, loopCpuMicrosPerRequest, bodyBytes } = cost;
  const usable = cores - Math.ceil(cores / CORES_PER_SPARE);
  const workerMicros = Math.max(1e-3, cpuMicrosPerRequest - loopCpuMicrosPerRequest);
  let best = { loops: 1, perSecond: 0 };
  for (let loops = 1; loops <= Math.min(LOOPS_MAX, usable - 1); loops++) {
    const perSecond = Math.min(
      (loops * 1e6) / loopCpuMicrosPerRequest,
      ((usable - loops) * 1e6) / workerMicros,
    );
    if (perSecond > best.perSecond) best = { loops, perSecond };
  }
  const workers = Math.max(best.loops, usable - best.loops);
  return { cores, ...best, workers, gigabits: (best.perSecond * bodyBytes * 8) / 1e9 };
}

export function scalingTable(payload: string, cost: RequestCost): string[][] {
  const { cpuMicrosPerRequest, loopCpuMicrosPerRequest } = cost;
  const loop = loopCpuMicrosPerRequest.toFixed(1);
  const rest = (cpuMicrosPerRequest - loopCpuMicrosPerRequest).toFixed(1);
  const rows = CORE_COUNTS.map((cores) => {
    const { loops, workers, perSecond, gigabits } = spreading(cores, cost);
    return [String(cores), String(loops), String(workers), thousands(perSecond), gigabits.toFixed(1)];
  });
  return [
    [
      `${payload} on paper: loop ${loop} µs, others ${rest} µs; cores`,
      'event loops',
      'workers',
      'requests/s',
      'Gbit/s in',
    ],
    ...rows,
  ];
}

function thousands(value: number): string {
  return (Math.round(value / 1000) * 1000).toLocaleString('en');
}
