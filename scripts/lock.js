/** A lock between processes: a file that holds the owner's process id. */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const POLL_MS = 100;
const WAIT_MAX_MS = 900_000;

/**
 * Runs the work while holding the lock; waits for another process that holds it. A lock whose owner died counts as free.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function holding(path, work) {
  makeFolder(dirname(path));
  const giveUpAt = Date.now() + WAIT_MAX_MS;
  while (!tryTake(path)) {
    removeIfStale(path);
    if (Date.now() > giveUpAt) throw new Error(`another process holds ${path}; remove it if that is not so`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** Its parent exists. (`recursive` reports every obstacle as ENOENT, a read-only disk too.) */
function makeFolder(folder) {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

/** A link appears with its content or not at all, so no process reads a lock without an owner. */
function tryTake(path) {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Moves a dead owner's lock aside, and puts it back if another process took the lock in between. */
function removeIfStale(path) {
  const owner = ownerOf(path);
  if (owner === undefined || isAlive(owner)) return;
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
    if (ownerOf(aside) !== owner) linkSync(aside, path);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error; // another process was faster
  } finally {
    rmSync(aside, { force: true });
  }
}

function ownerOf(path) {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
