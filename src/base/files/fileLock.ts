/** A lock between processes, by a link beside a file. */
import { readlink, symlink, unlink } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../errors.js';
import { errorCode } from './fileError.js';

/** Tells this process from an earlier one with the same id: process ids restart with each container. */
const STARTED_MS = Math.round(performance.timeOrigin);
const NONCE_BYTES = 8;
const PAUSE_MS = 5;
const PAUSE_SPREAD_MS = 20;

/** A lock that another process holds. */
export class FileLockError extends OperatorError {}

/**
 * Runs `work` while no other process and no other call in this one holds the lock at `path`. Rejects with
 * `FileLockError` if the lock is not free within `waitMs`.
 *
 * The lock is a symbolic link that leads nowhere and names its holder: it is created in one step, or not at all if it
 * exists. (With O_EXCL, the file would be without a name for a moment.)
 */
export async function withFileLock<T>(path: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const release = await acquireFileLock(path, waitMs);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** For a lock that outlives a call. @returns the function that releases it */
export async function acquireFileLock(path: string, waitMs: number): Promise<() => Promise<void>> {
  await acquire(path, performance.now() + waitMs);
  return () => unlink(path);
}

async function acquire(path: string, deadlineMs: number): Promise<void> {
  const holder = `${hostname()}:${process.pid}:${STARTED_MS}:${randomBytes(NONCE_BYTES).toString('hex')}`;
  while (!(await isCreated(path, holder))) {
    const other = await holderOf(path);
    if (other !== undefined && isDead(other)) await removeStale(path, other, deadlineMs);
    else await pause(path, other, deadlineMs);
  }
}

/**
 * When several processes find the same dead holder, a slow one must not remove the lock that a quick one has made
 * since. So removal has its own lock, under which the holder is checked again; a holder that dies there is removed in
 * the same way, one level up.
 */
async function removeStale(path: string, holder: string, deadlineMs: number): Promise<void> {
  await withFileLock(`${path}.stale`, deadlineMs - performance.now(), async () => {
    if ((await holderOf(path)) === holder) await unlink(path);
  });
}

async function pause(path: string, holder: string | undefined, deadlineMs: number): Promise<void> {
  if (performance.now() > deadlineMs) {
    const [host = '', pid = '?'] = holder?.split(':') ?? [];
    throw new FileLockError(
      `${path} is held by process ${pid} on ${host || 'an unknown host'}: wait until it ends, or delete the lock if no such process is at work`,
    );
  }
  await sleep(PAUSE_MS + Math.random() * PAUSE_SPREAD_MS);
}

async function isCreated(path: string, holder: string): Promise<boolean> {
  try {
    await symlink(holder, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** `undefined` if the lock is gone by now, or is not one of ours. */
async function holderOf(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'EINVAL') return undefined;
    throw error;
  }
}

/** Always false for a process on another host, which can't be checked. */
function isDead(holder: string): boolean {
  const [host, pid, startedMs] = holder.split(':');
  if (host !== hostname()) return false;
  if (Number(pid) === process.pid) return Number(startedMs) !== STARTED_MS;
  return !isAlive(Number(pid));
}

/** Whether a process exists on this host, under any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}
