import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, ifPresent } from '../files/fileError.js';
import { withFileLock } from '../files/fileLock.js';
import { directFiles, type Files, type Look } from '../files/files.js';
import { Observer } from '../base/observer.js';
import { areRecords, faultIn, KeyStoreError, storeError, type KeyRecord } from './record.js';
import { KeyStore, type Change, type KeyStoreWatcher, type StoredKeys } from './store.js';

const VERSION = 1;
const POLL_MS = 250;
const LOCK_WAIT_MS = 10_000;
const OWNER_ONLY_FOLDER = 0o700;

/** All keys in one JSON file, meant for up to 10,000 of them. */
export class FileKeyStore extends KeyStore {
  readonly #path: string;
  readonly #files: Files;
  /** Of the file as it was last read. */
  #signature: string | undefined;

  /** `files`: for a server, which must not wait for the disk. */
  constructor(path: string, files: Files = directFiles) {
    super();
    this.#path = path;
    this.#files = files;
  }

  async read(): Promise<StoredKeys> {
    const { signature, text } = await this.#look(undefined);
    this.#signature = signature;
    return this.#stored(text) ?? { records: [], unreadable: [] };
  }

  override async insertFirst(record: KeyRecord): Promise<boolean> {
    // Check without the lock first, so that a store on a read-only disk works.
    if (this.#stored((await this.#look(undefined)).text) !== undefined) return false;
    return super.insertFirst(record);
  }

  watch(watcher: KeyStoreWatcher): () => void {
    let isStopped = false;
    const look = async (): Promise<void> => {
      const { signature, text } = await this.#look(this.#signature);
      if (isStopped) return;
      // A server started before its first key waits for it; a server that had keys keeps them.
      if (signature !== this.#signature) {
        if (text === undefined) throw new KeyStoreError(`${this.#path} is gone`);
        // A file that can't be opened is tried again; one that can't be parsed is reported once.
        this.#signature = signature;
        watcher.onChange({ records: this.#keysIn(text), unreadable: [] });
      }
      watcher.onSeen();
    };
    const observer = new Observer({ look, onProblem: (error) => watcher.onProblem(error) }, POLL_MS);
    void observer.look();
    return () => {
      isStopped = true;
      observer.stop();
    };
  }

  protected async update(change: Change): Promise<boolean> {
    try {
      // Resolves a link to its file: replacing the link itself would leave the file unchanged.
      const path = (await ifPresent(this.#files.realPath(this.#path))) ?? this.#path;
      await makeFolder(dirname(path));
      return await withFileLock(`${path}.lock`, LOCK_WAIT_MS, () => this.#rewrite(path, change));
    } catch (error) {
      throw storeError(`write ${this.#path}`, error);
    }
  }

  async #rewrite(path: string, change: Change): Promise<boolean> {
    const keys = change(this.#stored((await this.#look(undefined)).text));
    if (keys === undefined) return false;
    await this.#files.removeLeftovers(path);
    await this.#files.replaceFile(path, `${JSON.stringify({ version: VERSION, keys }, null, 1)}\n`);
    return true;
  }

  async #look(signature: string | undefined): Promise<Look> {
    try {
      return await this.#files.look(this.#path, signature);
    } catch (error) {
      throw storeError(`read ${this.#path}`, error);
    }
  }

  #stored(text: string | undefined): StoredKeys | undefined {
    return text === undefined ? undefined : { records: this.#keysIn(text), unreadable: [] };
  }

  #keysIn(text: string): readonly KeyRecord[] {
    const file = parsed(text);
    const fault = faultOf(file);
    if (fault === undefined && areRecords(file?.keys)) return file.keys;
    throw new KeyStoreError(`${this.#path} is not a key store of version ${VERSION}: ${fault}`);
  }
}

interface KeyFile {
  readonly version?: unknown;
  readonly keys?: unknown;
}

/** Undefined if it is no JSON: the engine's message quotes the file. */
function parsed(text: string): KeyFile | null | undefined {
  try {
    return JSON.parse(text) as KeyFile | null;
  } catch {
    return undefined;
  }
}

function faultOf(file: KeyFile | null | undefined): string | undefined {
  if (file === undefined) return 'it is not JSON';
  return file?.version === VERSION ? faultIn(file.keys) : 'it says no such version';
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
