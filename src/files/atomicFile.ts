import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchownSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ifPresentSync } from './fileError.js';

/*
 * Synchronous: a command has nothing else to do meanwhile, and the server writes on a thread made for files
 * (fileThreads.ts).
 */

const OWNER_ONLY = 0o600;
const NONCE_BYTES = 6;
const LEFTOVER = /^\.\d+-[0-9A-Za-z]+\.tmp$/;

/**
 * Writes `text` to `path`, readable only by its owner. A crash at any moment leaves either the old or the new file,
 * complete and on the disk, and perhaps a leftover for `removeLeftovers`.
 */
export function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}-${randomBytes(NONCE_BYTES).toString('hex')}.tmp`;
  try {
    writeDurably(temporary, text, ownerOf(path));
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** Removes what crashed writers of `path` left, as far as this process may. Call only while no writer is active. */
export function removeLeftovers(path: string): void {
  const folder = dirname(path);
  const prefix = basename(path);
  try {
    for (const name of readdirSync(folder)) {
      if (name.startsWith(prefix) && LEFTOVER.test(name.slice(prefix.length))) rmSync(join(folder, name));
    }
  } catch {
    return; // for instance on a read-only disk: leftovers do no harm
  }
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

function writeDurably(path: string, text: string, owner: Owner | undefined): void {
  const file = openSync(path, 'wx', OWNER_ONLY);
  try {
    // A key issued by root must not lock the server's user out of the store.
    if (owner !== undefined && owner.uid !== process.geteuid?.()) fchownSync(file, owner.uid, owner.gid);
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function ownerOf(path: string): Owner | undefined {
  return ifPresentSync(() => statSync(path));
}

/** The rename survives a power cut only once the folder is on the disk. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
