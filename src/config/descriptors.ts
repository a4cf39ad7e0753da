import { readFileSync } from 'node:fs';

/** Where the system doesn't say; the soft limit of macOS, raised by Node as far as it goes, is well above. */
const UNKNOWN = 10_240;

/**
 * File descriptors that this process may open. Node raises its own limit to the most that it is allowed when it
 * starts, so the limit of the shell says nothing.
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
    return ''; // no Linux
  }
}
