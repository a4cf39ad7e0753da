/** Warnings about settings of threads. */
import type { Config } from './options.js';

/** More threads for each core only wait for each other. */
const THREADS_PER_CORE_MAX = 2;

/** Settings of threads that can't help on so many cores, a sentence each; `areChains`: as the model's manifest says. */
export function uselessThreads(
  { workers, httpThreads, intraOpThreads, interOpThreads }: Config,
  cores: number,
  areChains: boolean,
): string[] {
  const here = `${cores} core${cores === 1 ? '' : 's'}`;
  const threads = workers * intraOpThreads + httpThreads;
  return [
    ...(threads > THREADS_PER_CORE_MAX * cores
      ? [
          `ACUITY_WORKERS=${workers} × ACUITY_INTRA_OP_THREADS=${intraOpThreads} + ACUITY_HTTP_THREADS=${httpThreads} are ${threads} threads: more than twice the ${here} that this process may use, so they wait for each other`,
        ]
      : []),
    ...(interOpThreads > 1 && areChains
      ? [
          `ACUITY_INTER_OP_THREADS=${interOpThreads} has no effect on ${here}: the graphs of this model are chains, in which no operator can run beside another`,
        ]
      : []),
    ...(httpThreads > cores
      ? [`ACUITY_HTTP_THREADS=${httpThreads} are more event loops than the ${here} that this process may use`]
      : []),
  ];
}
