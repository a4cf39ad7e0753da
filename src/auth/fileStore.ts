import { watch, type FSWatcher } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { errorCode, ifPresent } from '../files/fileError.js';
import { withFileLock } from '../files/fileLock.js';
import { directFiles, type Files, type Look } from '../files/files.js';
import { Observer } from '../base/observer.js';
import { KeyRecordSchema } from './keyRecord.js';
import {
  KeyStoreError,
  storeError,
  type Amendment,
  type KeyRecord,
  type KeyStore,
  type KeyStoreWatcher,
} from './store.js';

const VERSION = 1;
/** The watch of the folder is quicker; this finds what it misses, and whether it must be set up anew. */
const POLL_MS = 250;
/** A change comes as several events, and other files may lie in the folder: one look for what comes in this time. */
const GATHER_MS = 5;
const LOCK_WAIT_MS = 10_000;
const OWNER_ONLY_FOLDER = 0o700;

const KeyFile = Compile(
  Type.Object({
    version: Type.Literal(VERSION),
    keys: Type.Array(KeyRecordSchema),
  }),
);

export interface FileKeyStoreOptions {
  /** The longest wait for another writer. */
  readonly lockWaitMs?: number;
  /** Where a server must not wait for the disk. */
  readonly files?: Files;
}

/** `undefined`: there is no store yet. */
type Stored = readonly KeyRecord[] | undefined;

/** All keys in one JSON file, meant for up to 10,000 of them. */
export class FileKeyStore implements KeyStore {
  readonly #path: string;
  readonly #lockWaitMs: number;
  readonly #files: Files;
  #listed: string | undefined;

  constructor(path: string, { lockWaitMs = LOCK_WAIT_MS, files = directFiles }: FileKeyStoreOptions = {}) {
    this.#path = path;
    this.#lockWaitMs = lockWaitMs;
    this.#files = files;
  }

  async list(): Promise<readonly KeyRecord[]> {
    const { signature, text } = await lookAt(this.#files, this.#path, undefined);
    this.#listed = signature;
    return text === undefined ? [] : keysIn(this.#path, text);
  }

  async insert(record: KeyRecord): Promise<void> {
    await this.#write((stored = []) => [...stored, record]);
  }

  async insertFirst(record: KeyRecord): Promise<boolean> {
    // Without a lock first: a store on a read-only disk is a store.
    if ((await storedAt(this.#files, this.#path)) !== undefined) return false;
    return this.#write((stored) => (stored === undefined ? [record] : undefined));
  }

  async insertMissing(records: readonly KeyRecord[]): Promise<number> {
    let count = 0;
    await this.#write((stored = []) => {
      const ids = new Set(stored.map(({ id }) => id));
      const missing = records.filter(({ id }) => !ids.has(id));
      count = missing.length;
      return [...stored, ...missing];
    });
    return count;
  }

  async amend(id: string, change: (record: KeyRecord) => Amendment): Promise<Amendment> {
    let amendment: Amendment | undefined;
    await this.#write((stored = []) => {
      const current = stored.find((record) => record.id === id);
      if (current === undefined) throw new KeyStoreError(`there is no key ${JSON.stringify(id)}`);
      amendment = change(current);
      return amended(stored, amendment);
    });
    if (amendment === undefined) throw new Error('the change was not asked for');
    return amendment;
  }

  watch(watcher: KeyStoreWatcher): () => void {
    const watch = new FileWatch(this.#path, this.#files, watcher, this.#listed);
    return () => watch.stop();
  }

  /** Writes what `change` makes of the stored keys; nothing where it returns `undefined` or throws. */
  async #write(change: (stored: Stored) => Stored): Promise<boolean> {
    try {
      const path = await target(this.#files, this.#path);
      await makeFolder(dirname(path));
      return await withFileLock(`${path}.lock`, this.#lockWaitMs, () => rewrite(this.#files, path, change));
    } catch (error) {
      throw storeError(`write ${this.#path}`, error);
    }
  }
}

/** Reads the file again whenever it has become another one. */
class FileWatch {
  readonly #path: string;
  readonly #files: Files;
  readonly #watcher: KeyStoreWatcher;
  readonly #observer: Observer;
  readonly #folder: FolderWatch;
  #signature: string | undefined;
  #isStopped = false;

  /** `signature`: that of the file whose records the watcher has. */
  constructor(path: string, files: Files, watcher: KeyStoreWatcher, signature: string | undefined) {
    this.#path = path;
    this.#files = files;
    this.#watcher = watcher;
    this.#signature = signature;
    const onProblem = (error: Error): void => watcher.onProblem(error);
    this.#observer = new Observer({ look: () => this.#look(), onProblem }, POLL_MS);
    this.#folder = new FolderWatch(() => void this.#observer.look());
    void this.#observer.look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#observer.stop();
    this.#folder.stop();
  }

  async #look(): Promise<void> {
    const { signature, text, folder, folderId } = await lookAt(this.#files, this.#path, this.#signature);
    if (this.#isStopped) return;
    this.#folder.watch(folder, folderId);
    // A server that was started before its first key waits for it; one that had keys keeps them.
    if (signature === this.#signature || (text === undefined && this.#signature === undefined))
      return this.#watcher.onSeen();
    if (text === undefined) throw new KeyStoreError(`${this.#path} is gone`);
    // A file that couldn't be opened is tried again; one that makes no sense is told once.
    this.#signature = signature;
    this.#watcher.onChange(keysIn(this.#path, text));
    this.#watcher.onSeen();
  }
}

/** Hears of changes in one folder. Where it can't, as without a free file descriptor, the poll has to do. */
class FolderWatch {
  readonly #onChange: () => void;
  #watcher: FSWatcher | undefined;
  #watched: string | undefined;
  #gathering: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches `folder`, unless it does already; `id` tells it from another one of the same name. */
  watch(folder: string, id: string): void {
    const wanted = `${id} ${folder}`;
    if (wanted === this.#watched) return;
    this.stop();
    this.#watched = wanted;
    try {
      this.#watcher = watch(folder, { persistent: false }, () => this.#gather());
      this.#watcher.on('error', () => this.stop()); // the next look sets it up anew
    } catch {
      return; // tried again when the folder is another one: a poll is no failure worth telling
    }
    this.#gather(); // for what changed before the watch stood
  }

  stop(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#watched = undefined;
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
  }

  #gather(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#onChange();
    }, GATHER_MS).unref();
  }
}

function amended(stored: readonly KeyRecord[], { record, successor }: Amendment): KeyRecord[] {
  const records = stored.map((other) => (other.id === record.id ? record : other));
  return successor === undefined ? records : [...records, successor];
}

/** With those above it. (`recursive` says ENOENT for whatever is in the way, as a read-only disk.) */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: OWNER_ONLY_FOLDER });
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    if (errorCode(error) !== 'ENOENT') throw error;
    await makeFolder(dirname(folder));
    await makeFolder(folder);
  }
}

async function rewrite(files: Files, path: string, change: (stored: Stored) => Stored): Promise<boolean> {
  const keys = change(await storedAt(files, path));
  if (keys === undefined) return false;
  const text = `${JSON.stringify({ version: VERSION, keys }, null, 1)}\n`;
  keysIn(path, text); // Never write what could not be read again.
  await files.removeLeftovers(path);
  await files.replaceFile(path, text);
  return true;
}

/** Where `path` is a link, the file that it leads to: replacing the link would part it from the file. */
async function target(files: Files, path: string): Promise<string> {
  return (await ifPresent(files.realPath(path))) ?? path;
}

async function storedAt(files: Files, path: string): Promise<Stored> {
  const { text } = await lookAt(files, path, undefined);
  return text === undefined ? undefined : keysIn(path, text);
}

async function lookAt(files: Files, path: string, signature: string | undefined): Promise<Look> {
  try {
    return await files.look(path, signature);
  } catch (error) {
    throw storeError(`read ${path}`, error);
  }
}

function keysIn(path: string, text: string): readonly KeyRecord[] {
  const file = parsed(path, text);
  if (!KeyFile.Check(file)) throw notAStore(path, faultOf(file));
  assertUnique(path, file.keys);
  return file.keys;
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the engine's message, which quotes the file.
    throw notAStore(path, 'it is not JSON');
  }
}

function faultOf(file: unknown): string {
  const [fault] = KeyFile.Errors(file);
  return fault === undefined ? 'it is invalid' : `${fault.instancePath || 'it'} ${fault.message}`;
}

function assertUnique(path: string, records: readonly KeyRecord[]): void {
  const ids = new Set(records.map(({ id }) => id));
  const digests = new Set(records.map(({ digest }) => digest));
  if (ids.size < records.length || digests.size < records.length)
    throw notAStore(path, 'it holds a key twice');
}

function notAStore(path: string, fault: string): KeyStoreError {
  return new KeyStoreError(`${path} is not a key store of version ${VERSION}: ${fault}`);
}
