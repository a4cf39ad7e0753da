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
import { RecordStore, type Change } from './recordStore.js';
import { KeyStoreError, storeError, type KeyRecord, type KeyStoreWatcher, type StoredKeys } from './store.js';

const VERSION = 1;
/** The folder watch reports changes sooner; the poll finds what it misses, and sets it up again when needed. */
const POLL_MS = 250;
/** One change causes several events, and the folder may hold other files: all events of this time cause one look. */
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
  /** Longest wait for another writer. */
  readonly lockWaitMs?: number;
  /** For a server, which must not wait for the disk. */
  readonly files?: Files;
}

/** All keys in one JSON file, meant for up to 10,000 of them. */
export class FileKeyStore extends RecordStore {
  readonly #path: string;
  readonly #lockWaitMs: number;
  readonly #files: Files;
  #listed: string | undefined;

  constructor(path: string, { lockWaitMs = LOCK_WAIT_MS, files = directFiles }: FileKeyStoreOptions = {}) {
    super();
    this.#path = path;
    this.#lockWaitMs = lockWaitMs;
    this.#files = files;
  }

  async read(): Promise<StoredKeys> {
    const { signature, text } = await lookAt(this.#files, this.#path, undefined);
    this.#listed = signature;
    return { records: text === undefined ? [] : keysIn(this.#path, text), unreadable: [] };
  }

  override async insertFirst(record: KeyRecord): Promise<boolean> {
    // Check without the lock first, so that a store on a read-only disk works.
    if ((await storedAt(this.#files, this.#path)) !== undefined) return false;
    return super.insertFirst(record);
  }

  watch(watcher: KeyStoreWatcher): () => void {
    const watch = new FileWatch(this.#path, this.#files, watcher, this.#listed);
    return () => watch.stop();
  }

  protected async update(change: Change): Promise<boolean> {
    try {
      const path = await target(this.#files, this.#path);
      await makeFolder(dirname(path));
      return await withFileLock(`${path}.lock`, this.#lockWaitMs, () => rewrite(this.#files, path, change));
    } catch (error) {
      throw storeError(`write ${this.#path}`, error);
    }
  }
}

/** Reads the file again each time it changes. */
class FileWatch {
  readonly #path: string;
  readonly #files: Files;
  readonly #watcher: KeyStoreWatcher;
  readonly #observer: Observer;
  readonly #folder: FolderWatch;
  #signature: string | undefined;
  #isStopped = false;

  /** `signature`: of the file that the watcher's records were read from. */
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
    // A server started before its first key waits for it; a server that had keys keeps them.
    if (signature === this.#signature || (text === undefined && this.#signature === undefined))
      return this.#watcher.onSeen();
    if (text === undefined) throw new KeyStoreError(`${this.#path} is gone`);
    // A file that can't be opened is tried again; a file that can't be parsed is reported once.
    this.#signature = signature;
    this.#watcher.onChange({ records: keysIn(this.#path, text), unreadable: [] });
    this.#watcher.onSeen();
  }
}

/**
 * Notices changes in one folder. Where watching fails, for instance without a free file descriptor, the poll remains.
 */
class FolderWatch {
  readonly #onChange: () => void;
  #watcher: FSWatcher | undefined;
  #watched: string | undefined;
  #gathering: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches `folder` unless it already does; `id` tells it from another folder of the same name. */
  watch(folder: string, id: string): void {
    const wanted = `${id} ${folder}`;
    if (wanted === this.#watched) return;
    this.stop();
    this.#watched = wanted;
    try {
      this.#watcher = watch(folder, { persistent: false }, () => this.#gather());
      this.#watcher.on('error', () => this.stop()); // the next look sets it up again
    } catch {
      return; // tried again when the folder changes; with the poll working, this is not worth a report
    }
    this.#gather(); // for changes made before the watch started
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

/**
 * Makes the folder and its parents. (`mkdir` with `recursive` reports every obstacle as ENOENT, a read-only disk
 * too.)
 */
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

async function rewrite(files: Files, path: string, change: Change): Promise<boolean> {
  const keys = change(await storedAt(files, path));
  if (keys === undefined) return false;
  await files.removeLeftovers(path);
  await files.replaceFile(path, `${JSON.stringify({ version: VERSION, keys }, null, 1)}\n`);
  return true;
}

/** Resolves a link to its file: replacing the link itself would leave the file unchanged. */
async function target(files: Files, path: string): Promise<string> {
  return (await ifPresent(files.realPath(path))) ?? path;
}

async function storedAt(files: Files, path: string): Promise<StoredKeys | undefined> {
  const { text } = await lookAt(files, path, undefined);
  return text === undefined ? undefined : { records: keysIn(path, text), unreadable: [] };
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
    // Leave out the engine's message: it quotes the file.
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
