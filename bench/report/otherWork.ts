import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Beyond this share of its cores the machine is said to be busy. */
const BUSY_SHARE = 0.1;
const LOOK_MS = 2_000;

/** What the cores of this machine do while this process waits. @returns their busy share, 0 to 1 */
export async function otherWork(lookMs = LOOK_MS): Promise<number> {
  const before = spent();
  await sleep(lookMs);
  const after = spent();
  const all = after.all - before.all;
  return all > 0 ? 1 - (after.idle - before.idle) / all : 0;
}

/** A sentence where the machine had other work before or after the run; undefined where it had not. */
export function otherWorkSentence(before: number, after: number): string | undefined {
  if (Math.max(before, after) < BUSY_SHARE) return undefined;
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  return `The machine had other work: ${percent(before)} of its cores were busy before the run, ${percent(after)} after it. Trust the ratios, not the figures.`;
}

/** Milliseconds of all cores since the machine started. */
function spent(): { readonly idle: number; readonly all: number } {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { idle, all };
}
