import { setFlagsFromString } from 'node:v8';

/**
 * Has every thread of the process collect its young objects by itself. There is little alive among them, so helpers
 * save next to nothing; but under load each of them waits for a core first, and the collecting thread waits for it.
 */
export function collectWithoutHelpers(): void {
  setFlagsFromString('--no-parallel-scavenge');
}
