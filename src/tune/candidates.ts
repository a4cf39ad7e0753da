/** The settings that `acuity tune` tries. */
import { VARIABLES } from '../config/variables.js';

/** The settings that `acuity tune` varies. */
export interface Candidate {
  readonly httpThreads: number;
  readonly workers: number;
  readonly intraOpThreads: number;
  readonly interOpThreads: number;
  readonly spinning: boolean;
  readonly batchMax: number;
}

/** Tried with each number of loops, workers and threads: one of them changed at a time. */
const ALONE = { interOpThreads: 1, spinning: false, batchMax: 32 } as const;
const BATCHES = [32, 8, 128] as const;
/** More threads for each core only compete with each other. */
const THREADS_PER_CORE_MAX = 2;

/** The service's settings if none is configured. */
export function defaultsFor(cores: number): Candidate {
  return { httpThreads: 1, workers: Math.max(1, cores - 1), intraOpThreads: 1, ...ALONE };
}

/** All candidates worth trying on this many cores: the defaults first, without duplicates. */
export function candidatesFor(cores: number): Candidate[] {
  const all = new Map<string, Candidate>();
  const add = (candidate: Candidate): void => void all.set(nameOf(candidate), candidate);
  add(defaultsFor(cores));
  for (const httpThreads of powersUpTo(Math.min(cores, 64))) {
    for (const workers of new Set([httpThreads, cores - httpThreads, cores, 2 * httpThreads])) {
      for (const intraOpThreads of powersUpTo(Math.min(cores, 4))) {
        const threads = httpThreads + workers * intraOpThreads;
        if (workers < httpThreads || threads > THREADS_PER_CORE_MAX * cores) continue;
        const candidate = { httpThreads, workers, intraOpThreads, ...ALONE };
        for (const batchMax of BATCHES) add({ ...candidate, batchMax });
        if (cores > 1) add({ ...candidate, interOpThreads: 2 });
        if (intraOpThreads > 1) add({ ...candidate, spinning: true });
      }
    }
  }
  return [...all.values()];
}

function powersUpTo(most: number): number[] {
  return Array.from({ length: Math.floor(Math.log2(most)) + 1 }, (_, power) => 2 ** power);
}

/** `count` of the candidates, evenly spaced, including the first. */
export function thinned<T>(candidates: readonly T[], count: number): T[] {
  if (count >= candidates.length) return [...candidates];
  return candidates.filter(
    (_, index) =>
      Math.floor((index * count) / candidates.length) !==
      Math.floor(((index - 1) * count) / candidates.length),
  );
}

export function environmentOf(candidate: Candidate): Record<string, string> {
  const fields = Object.keys(candidate) as (keyof Candidate)[];
  return Object.fromEntries(fields.map((field) => [VARIABLES[field].env, String(candidate[field])]));
}

/** "1 loop, 2 workers × 1 thread, batch 32"; the same for equal candidates. */
export function nameOf(candidate: Candidate): string {
  const { httpThreads, workers, intraOpThreads, interOpThreads, spinning, batchMax } = candidate;
  const many = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
  const special = `${interOpThreads > 1 ? `, ${interOpThreads} inter-op` : ''}${spinning ? ', spinning' : ''}`;
  return `${many(httpThreads, 'loop')}, ${many(workers, 'worker')} × ${many(intraOpThreads, 'thread')}${special}, batch ${batchMax}`;
}
