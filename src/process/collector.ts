import { setFlagsFromString } from 'node:v8';
import type { ResourceLimits } from 'node:worker_threads';

/**
 * For threads that keep next to nothing from one request to the next. Left to itself V8 lets the young generation
 * of each busy one grow to its default, four times as much, and then to and fro, which shows in the memory of the
 * process and makes none faster. Half of this makes workers collect so often that throughput falls.
 */
export const YOUNG_THREAD_LIMITS: ResourceLimits = Object.freeze({ maxYoungGenerationSizeMb: 12 });

/**
 * Has every thread of the process collect its young objects by itself. There is little alive among them, so helpers
 * save next to nothing; but under load each of them waits for a core first, and the collecting thread waits for it.
 */
export function collectWithoutHelpers(): void {
  setFlagsFromString('--no-parallel-scavenge');
}
