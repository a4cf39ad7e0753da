/** The priority of threads. */
import { setPriority } from 'node:os';

/** The lowest priority. */
export const NICENESS_MAX = 19;

/** Lowers the priority of the calling thread. Linux only: elsewhere it would apply to the whole process. */
export function giveWay(niceness: number): void {
  if (niceness === 0 || process.platform !== 'linux') return;
  try {
    setPriority(0, niceness);
  } catch {
    return; // not permitted: the worker runs at normal priority
  }
}
