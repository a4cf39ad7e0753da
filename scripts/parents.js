/** Notices that the process that started this one has died. */
import { readFileSync } from 'node:fs';

const PERIOD_MS = 250;
/** npm runs a script through one of these, which only waits, and may outlive npm. */
const SHELLS = /^(a|ba|da|k|mk|z)?sh$|^busybox$/;

/**
 * Calls `onOrphaned` once when npm above this process has ended by any signal: npm passes some on, but they may
 * reach only the shell in between. Does nothing if `npm start` did not start this process.
 * @param {() => void} onOrphaned
 */
export function whenNpmDies(onOrphaned, env = process.env) {
  if (env['npm_lifecycle_event'] !== 'start') return;
  const parent = process.ppid;
  const above = aboveShell(parent);
  const timer = setInterval(() => {
    // A process whose parent ends gets another one at once.
    if (process.ppid === parent && (aboveShell(parent) ?? above) === above) return;
    clearInterval(timer);
    onOrphaned();
  }, PERIOD_MS).unref();
}

/**
 * The parent of a process that is a shell; undefined of any other, and where it can't be read: without /proc, or without a
 * free file descriptor. The line is "PID (NAME) STATE PPID …".
 */
function aboveShell(pid) {
  try {
    const [, name, ppid] = /^\d+ \((.*)\) \w (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
    return SHELLS.test(name) ? ppid : undefined;
  } catch {
    return undefined;
  }
}
