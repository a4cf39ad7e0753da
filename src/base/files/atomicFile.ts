/**
 * Writes files whole or not at all. Synchronous: a command has nothing else to do meanwhile, and the server writes on a
 * thread made for files (fileThreads.ts).
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isAlive } from './fileLock.js';
import { ifPresentSync } from './fileError.js';

/** Process ids mean nothing on another host that writes to the same disk. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
/** Tells this process from an earlier one with the same id: process ids restart with each container. */
const OWN = randomBytes(6).toString('hex');
const PARTIAL = /\.([0-9a-f]{8})-(\d+)-([0-9a-f]{12})(-\d+)?\.partial$/;

/** Opens only a file that does not exist, so that no link is followed and no mode is kept. */
const NEW_FILE = 'wx';
const OWNER_ONLY = 0o600;

let names = 0;

/**
 * A unique name for a new file beside `path`, to be renamed to `path` once complete, or for a folder that is never
 * complete: neither a running nor a killed process uses the same.
 */
export function partialName(path: string): string {
  return `${path}.${HOST}-${process.pid}-${OWN}-${names++}.partial`;
}

/**
 * Writes `texts` to `path`, readable only by its owner: `ownerOf`. A crash at any moment leaves either the old or
 * the new file, complete and on the disk, and perhaps a leftover for `removeLeftovers`.
 */
export function replaceFile(path: string, texts: Iterable<string>): void {
  replace(path, texts, ownerOf(path));
  syncFolder(dirname(path));
}

/** The same for a file that becomes this process's own: another owner's can't be kept by all. */
export function replaceByOwn(path: string, texts: Iterable<string>): void {
  replace(path, texts, undefined);
}

function replace(path: string, texts: Iterable<string>, owner: Owner | undefined): void {
  const file = new PartialFile(path);
  try {
    file.open(owner);
    for (const text of texts) file.write(text);
    file.finish();
    renameSync(file.path, path);
  } catch (error) {
    file.remove();
    throw error;
  }
}

/** A file that is written under a temporary name beside that of the finished one, there from the first bytes on. */
export class PartialFile {
  readonly path: string;
  private file: number | undefined;

  constructor(finished: string) {
    this.path = partialName(finished);
  }

  get isThere(): boolean {
    return existsSync(this.path);
  }

  write(bytes: string | Uint8Array): void {
    writeFileSync(this.file ?? this.open(), bytes);
  }

  /** Makes it, without a byte: of `owner`, else of this process. */
  open(owner?: Owner): number {
    this.file = openSync(this.path, NEW_FILE, OWNER_ONLY);
    // A key issued by root must not lock the server's user out of the store.
    if (owner !== undefined && owner.uid !== process.geteuid?.()) fchownSync(this.file, owner.uid, owner.gid);
    return this.file;
  }

  /** Flushes it to the disk. */
  finish(): void {
    if (this.file !== undefined) fsyncSync(this.file);
    this.close();
  }

  remove(): void {
    this.close();
    rmSync(this.path, { force: true });
  }

  private close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }
}

/** Removes what crashed writers of `path` left, as far as this process may. Call only while no writer is active. */
export function removeLeftovers(path: string): void {
  const prefix = basename(path);
  removeThose(dirname(path), (name) => {
    const rest = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    return PARTIAL.exec(rest)?.index === 0;
  });
}

/** Removes what processes of this host and this user left in `folder` when they ended. */
export function removeDeadPartials(folder: string): void {
  removeThose(folder, (name) => {
    const [, host, pid, own] = PARTIAL.exec(name) ?? [];
    if (host !== HOST || own === OWN || (Number(pid) !== process.pid && isAlive(Number(pid)))) return false;
    const owner = lstatSync(join(folder, name), { throwIfNoEntry: false })?.uid;
    return owner === (process.geteuid?.() ?? 0);
  });
}

function removeThose(folder: string, areThey: (name: string) => boolean): void {
  try {
    for (const name of readdirSync(folder).filter(areThey))
      rmSync(join(folder, name), { recursive: true, force: true });
  } catch {
    return; // for instance on a read-only disk, or another user's: leftovers do no harm
  }
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The file's; where root writes a new one, or its own, the folder's: the server that reads it may not be root. */
function ownerOf(path: string): Owner | undefined {
  const owner = ifPresentSync(() => statSync(path));
  const isRoots = process.geteuid?.() === 0 && (owner?.uid ?? 0) === 0;
  return isRoots ? statSync(dirname(path)) : owner;
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
