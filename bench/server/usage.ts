import { readFileSync } from 'node:fs';

/**
 * Linux counts processor time in ticks of a hundredth of a second, independent of the kernel's own clock (proc(5)).
 */
const MICROS_PER_TICK = 10_000;
/** Fields of /proc/<pid>/stat after the command's name, which may contain spaces. */
const UTIME = 11;
const STIME = 12;

/** Processor time, user and system, of all threads of a process, in microseconds. */
export function cpuMicrosOf(pid: number): number {
  return cpuMicrosIn(`/proc/${pid}/stat`);
}

/** The same for the process's first thread. */
export function mainThreadCpuMicrosOf(pid: number): number {
  return cpuMicrosIn(`/proc/${pid}/task/${pid}/stat`);
}

function cpuMicrosIn(path: string): number {
  const stat = readFileSync(path, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[UTIME]) + Number(fields[STIME])) * MICROS_PER_TICK;
}

export function rssBytesOf(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? NaN) * 1024;
}
