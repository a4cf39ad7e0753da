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
  const isGone = process.platform === 'linux' ? goneOnLinux() : goneElsewhere();
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    onOrphaned();
  }, PERIOD_MS).unref();
}

/** Checks the parent and, if that is a shell, its parent too, as far as they can be read. */
function goneOnLinux() {
  const parent = processOf(process.ppid);
  if (parent === undefined) return goneElsewhere(); // no /proc here
  const above = SHELLS.test(parent.name) ? processOf(parent.ppid) : undefined;
  return () => isGone(parent) || (above !== undefined && isGone(above));
}

function goneElsewhere() {
  const parent = process.ppid;
  return () => process.ppid !== parent;
}

/** Another process may have the same number by now; it started later. */
function isGone({ pid, started }) {
  try {
    const now = processOf(pid);
    return now === undefined || now.started !== started || now.state === 'Z' || now.state === 'X';
  } catch {
    return false; // it can't be read now, for instance without a free file descriptor
  }
}

/**
 * From the line "PID (NAME) STATE PPID …"; a name may hold anything, parentheses too. Undefined where there is no such
 * process.
 */
function processOf(pid) {
  const text = statOf(pid);
  if (text === undefined) return undefined;
  const nameEnd = text.lastIndexOf(')');
  const [state, ppid, ...more] = text.slice(nameEnd + 2).split(' ');
  return {
    pid,
    name: text.slice(text.indexOf('(') + 1, nameEnd),
    state,
    ppid: Number(ppid),
    started: more[17], // field 22 of proc(5): ticks since the machine started
  };
}

function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined;
    throw error;
  }
}
