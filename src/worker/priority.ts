import { setPriority } from 'node:os';

/** Of the calling thread: on Linux alone a thread has a priority of its own, elsewhere the whole process would get it. */
export function giveWay(niceness: number): void {
  if (niceness === 0 || process.platform !== 'linux') return;
  try {
    setPriority(0, niceness);
  } catch {
    return; // forbidden here: the worker runs as the others do
  }
}
