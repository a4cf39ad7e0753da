/** Settings of the garbage collector. */
import { setFlagsFromString } from 'node:v8';
import type { ResourceLimits } from 'node:worker_threads';

/**
 * For threads that keep almost nothing between requests. By default V8 lets the young generation of each busy thread
 * grow to four times this size and shrink again, which makes the memory of the process fluctuate and nothing faster.
 * With half of this, workers collect so often that throughput falls.
 */
export const YOUNG_THREAD_LIMITS: ResourceLimits = Object.freeze({ maxYoungGenerationSizeMb: 12 });

/**
 * Makes every thread collect its young objects without helper threads. Few of them are alive, so helpers save almost
 * nothing; under load each helper waits for a core first, and the collecting thread waits for the helper.
 */
export function collectWithoutHelpers(): void {
  setFlagsFromString('--no-parallel-scavenge');
}

/**
 * Ends the growth of every thread's young generation: the main thread's has 8 MiB once the modules are loaded, and would
 * double. Memory outside the heap, as the engine's columns have it, is freed only when it is full.
 */
export function keepYoungGenerations(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
