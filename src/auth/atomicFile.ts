import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ifPresent } from './fileError.js';
import { randomBase62 } from './key.js';

const OWNER_ONLY = 0o600;
const NONCE_LENGTH = 12;
const LEFTOVER = /^\.\d+-[0-9A-Za-z]+\.tmp$/;

/**
 * Writes `text` to `path`, readable by its owner only. A crash at any moment leaves the old file or the new
 * one, whole and on the disk, and perhaps a leftover for `removeLeftovers`.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}-${randomBase62(NONCE_LENGTH)}.tmp`;
  try {
    await writeDurably(temporary, text, await ownerOf(path));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Removes what crashed writers of `path` left. No writer may be at work. */
export async function removeLeftovers(path: string): Promise<void> {
  const folder = dirname(path);
  const prefix = basename(path);
  const names = (await ifPresent(readdir(folder))) ?? [];
  const leftovers = names.filter(
    (name) => name.startsWith(prefix) && LEFTOVER.test(name.slice(prefix.length)),
  );
  await Promise.all(leftovers.map((name) => rm(join(folder, name), { force: true })));
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

async function writeDurably(path: string, text: string, owner: Owner | undefined): Promise<void> {
  const file = await open(path, 'wx', OWNER_ONLY);
  try {
    // A key issued by root must not lock the server's own user out of the store.
    if (owner !== undefined && owner.uid !== process.geteuid?.()) await file.chown(owner.uid, owner.gid);
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function ownerOf(path: string): Promise<Owner | undefined> {
  return ifPresent(stat(path));
}

/** The rename itself survives a power cut only when the folder is on the disk. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
