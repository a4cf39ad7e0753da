import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';

/** The system's figures about a thread. */
export interface ThreadTimes {
  /** As in proc(5): `R` runs or waits for a processor, `S` and `D` sleep. */
  readonly state: string;
  /** Milliseconds that it ever ran. */
  readonly ranMs: number;
  /** Milliseconds that it ever waited for a processor; a wait that lasts is added when it ends. */
  readonly waitedMs: number;
}

/** The ID of a thread whose times the system does not tell. */
export const UNTOLD = -1;

const NANOSECONDS_PER_MS = 1e6;

/** Reads the times of a thread by its folder below `/proc`; undefined if that fails. */
export function threadTimes(folder: string): ThreadTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${folder}/stat`, 'latin1');
    const [ran, waited] = readFileSync(`/proc/${folder}/schedstat`, 'latin1').split(' ').map(Number);
    // The name of the thread stands in brackets, and may itself hold brackets.
    const state = stat[stat.lastIndexOf(')') + 2];
    if (state === undefined || ran === undefined || waited === undefined) return undefined;
    return { state, ranMs: ran / NANOSECONDS_PER_MS, waitedMs: waited / NANOSECONDS_PER_MS };
  } catch {
    return undefined; // not Linux, or the thread has ended, or no file descriptor is free
  }
}

export function isAsleep({ state }: ThreadTimes): boolean {
  return state === 'S' || state === 'D';
}

/** By thread, of all threads of this process but the main one; empty where the system does not tell. */
export function timesOfOthers(): ReadonlyMap<string, ThreadTimes | undefined> {
  try {
    const threads = readdirSync('/proc/self/task').filter((thread) => Number(thread) !== process.pid);
    return new Map(threads.map((thread) => [thread, threadTimes(`self/task/${thread}`)]));
  } catch {
    return new Map();
  }
}

/**
 * The milliseconds that the calling thread ever ran; NaN where the system does not tell. The file stays open: in a flood of
 * connections no descriptor is free, and then the reading counts.
 */
export function openRanMs(source = '/proc/thread-self/schedstat'): { ms(): number; close(): void } {
  const text = Buffer.alloc(80);
  let file: number | undefined;
  try {
    file = openSync(source, 'r');
  } catch {
    // not Linux, or a container that hides it
  }
  return {
    ms() {
      if (file === undefined) return NaN;
      const length = readSync(file, text, 0, text.length, 0);
      return parseInt(text.toString('latin1', 0, length), 10) / NANOSECONDS_PER_MS;
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** The folder below `/proc` of a thread of this process; undefined for `UNTOLD`. */
export function folderOf(thread: number): string | undefined {
  return thread === UNTOLD ? undefined : `self/task/${thread}`;
}

/** Whether the system tells the times of a thread: some kernels have the file and count nothing. */
export function tellsTimes(folder: string): boolean {
  return (threadTimes(folder)?.ranMs ?? 0) > 0;
}

/** The ID of the calling thread, or `UNTOLD`. */
export function ownThread(): number {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    return tellsTimes(`self/task/${thread}`) ? thread : UNTOLD;
  } catch {
    return UNTOLD;
  }
}
