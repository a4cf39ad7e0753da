import { readFileSync } from 'node:fs';

/** Used where the system does not report its limit. On macOS Node raises the soft limit well above this. */
const UNKNOWN = 10_240;

/**
 * How many file descriptors this process may open. Node raises its own limit to the hard limit when it
 * starts, so the shell's soft limit does not apply.
 */
export function descriptorsMax(readText: () => string = readLimits): number {
  const limit = /^Max open files +(\d+|unlimited)/m.exec(readText())?.[1];
  if (limit === undefined) return UNKNOWN;
  return limit === 'unlimited' ? Infinity : Number(limit);
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return ''; // not Linux
  }
}
