/** Descriptors that a child process would inherit. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const FILES = '/proc/self/fd';
const O_CLOEXEC = 0o2000000;

/** Looked for once, while few are open. */
const GIVEN = (existsSync(FILES) ? readdirSync(FILES) : []).map(Number).filter(isInheritable);

/**
 * Descriptors that this process was started with, beside the standard ones and the lowest, which libuv hides: a child
 * would inherit them too. Empty where the system does not tell.
 */
export function inheritable(): number[] {
  return GIVEN.filter(isInheritable);
}

function isInheritable(file: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'latin1')) ?? [];
    return file > 2 && (parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false;
  }
}
