/** The cores and file descriptors that this process may use. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { posix } from 'node:path';

/** Returns the content of a file, or undefined if it can't be read. */
export type ReadText = (path: string) => string | undefined;

const CGROUPS = '/sys/fs/cgroup';

/**
 * How many cores this process may use: the processors it is scheduled on, capped by the CPU quota of its
 * control group (a container's limit). A quota of 2.5 cores counts as 2: a third busy thread would be throttled.
 */
export function usableCores(processors = availableParallelism(), read: ReadText = readText): number {
  return Math.max(1, Math.min(processors, Math.floor(cpuQuota(read))));
}

/** The tightest CPU quota on this process, in cores; Infinity if there is none. */
export function cpuQuota(read: ReadText): number {
  const groups = parseGroups(read('/proc/self/cgroup') ?? '');
  const unified = groups.unified.map((dir) => quotaV2(read(`${CGROUPS}${dir}/cpu.max`)));
  const legacy = groups.cpu.flatMap((dir) =>
    ['cpu', 'cpu,cpuacct'].map((mount) => quotaV1(read, `${CGROUPS}/${mount}${dir}`)),
  );
  return Math.min(Infinity, ...unified, ...legacy);
}

/** `cpu.max` is "QUOTA PERIOD" in microseconds, or "max PERIOD". */
function quotaV2(text: string | undefined): number {
  const [quota, period] = (text ?? '').trim().split(/\s+/);
  return ratio(Number(quota), Number(period));
}

/** Version 1 keeps quota and period in two files; a quota of -1 means no quota. */
function quotaV1(read: ReadText, dir: string): number {
  return ratio(Number(read(`${dir}/cpu.cfs_quota_us`)), Number(read(`${dir}/cpu.cfs_period_us`)));
}

function ratio(quotaUs: number, periodUs: number): number {
  return quotaUs > 0 && periodUs > 0 ? quotaUs / periodUs : Infinity;
}

/**
 * `/proc/self/cgroup` has a line "ID:CONTROLLERS:PATH" for each hierarchy; the unified one (version 2) is
 * "0::PATH". The limits of every ancestor apply too. Inside a container the path may be the host's; then only
 * the root exists.
 */
function parseGroups(text: string): { unified: string[]; cpu: string[] } {
  const unified = new Set<string>(['']);
  const cpu = new Set<string>(['']);
  for (const line of text.split('\n')) {
    const [, id, controllers, path] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    if (id === '0' && controllers === '') withAncestors(path, unified);
    if (controllers?.split(',').includes('cpu')) withAncestors(path, cpu);
  }
  return { unified: [...unified], cpu: [...cpu] };
}

function withAncestors(path: string, into: Set<string>): void {
  for (let dir = posix.normalize(path); dir !== '/' && dir !== '.'; dir = posix.dirname(dir)) into.add(dir);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // not Linux, or no such control group: no known limit
  }
}

/** Used where the system does not report its limit. On macOS Node raises the soft limit well above this. */
const UNKNOWN = 10_240;

/**
 * How many file descriptors this process may open. Node raises its own limit to the hard limit when it
 * starts, so the shell's soft limit does not apply.
 */
export function descriptorsMax(read: ReadText = readText): number {
  const limit = /^Max open files +(\d+|unlimited)/m.exec(read('/proc/self/limits') ?? '')?.[1];
  if (limit === undefined) return UNKNOWN;
  return limit === 'unlimited' ? Infinity : Number(limit);
}
