import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { errorCode, ifPresent } from '../../base/files/fileError.js';
import { withFileLock } from '../../base/files/fileLock.js';
import { directFiles, type Files, type Look } from '../../base/files/files.js';
import { parsedJson } from '../../base/json.js';
import { areRecords, faultIn, KeyStoreError, storeError, type KeyRecord } from '../record.js';
import { KeyStore, type Change, type StoredKeys } from '../store.js';

const VERSION = 1;
// The system tells nothing of a file on a network’s disk, or of the target of a link.
const POLL_MS = 250;
// Other programs may write in place, and half a file can't be read. While changes go on, only the poll looks.
const QUIET_MS = 20;
const LOCK_WAIT_MS = 10_000;
const OWNER_ONLY_FOLDER = 0o700;

/** All keys in one JSON file, meant for up to 10,000 of them. */
export class FileKeyStore extends KeyStore {
  readonly #path: string;
  readonly #files: Files;
  /** The file's, when it was last read. */
  #signature: string | undefined;

  /** `files`: for a server, which must not wait for the disk. */
  constructor(path: string, files: Files = directFiles) {
    super(POLL_MS);
    this.#path = path;
    this.#files = files;
  }

  override async insertFirst(record: KeyRecord): Promise<boolean> {
    // Check without the lock first, so that a store on a read-only disk works.
    if ((await this.stored()) !== undefined) return false;
    return super.insertFirst(record);
  }

  async stored(): Promise<StoredKeys | undefined> {
    return this.#keysIn((await this.#look()).text);
  }

  protected async refresh(): Promise<StoredKeys | undefined> {
    const { signature, text } = await this.#look(this.#signature);
    if (signature === this.#signature) return undefined;
    // A server started before its first key waits for it; a server that had keys keeps them.
    if (text === undefined) throw new KeyStoreError(`${this.#path} is gone`);
    // A file that can't be opened is tried again; one that can't be parsed is reported once.
    this.#signature = signature;
    return this.#keysIn(text);
  }

  /** The folder is watched: a file that is replaced is another one. */
  protected override listen(look: () => Promise<void>): () => void {
    void look();
    let timer: NodeJS.Timeout | undefined;
    try {
      const told = watch(dirname(this.#path), { persistent: false }, (_, name) => {
        if (name !== null && name !== basename(this.#path)) return;
        clearTimeout(timer);
        timer = setTimeout(() => void look(), QUIET_MS).unref();
      });
      told.on('error', () => undefined);
      return () => {
        clearTimeout(timer);
        told.close();
      };
    } catch {
      return () => undefined;
    }
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
    const keys = change(await this.stored());
    if (keys === undefined) return false;
    await this.#files.removeLeftovers(path);
    await this.#files.replaceFile(path, `${JSON.stringify({ version: VERSION, keys }, null, 1)}\n`);
    return true;
  }

  async #look(signature?: string): Promise<Look> {
    try {
      return await this.#files.look(this.#path, signature);
    } catch (error) {
      throw storeError(`read ${this.#path}`, error);
    }
  }

  #keysIn(text: string | undefined): StoredKeys | undefined {
    if (text === undefined) return undefined;
    const file = parsedJson(text) as
      { readonly version?: unknown; readonly keys?: unknown } | null | undefined;
    const fault = file?.version === VERSION ? faultIn(file.keys) : 'it says no such version';
    if (fault === undefined && areRecords(file?.keys)) return { records: file.keys, unreadable: [] };
    const reason = file === undefined ? 'it is not JSON' : fault;
    throw new KeyStoreError(`${this.#path} is not a key store of version ${VERSION}: ${reason}`);
  }
}

/**
 * Makes the folder and its parents. (`mkdir` with `recursive` reports every obstacle as ENOENT, a read-only disk
 * too.) A place such as /proc answers ENOENT even if the parent is there.
 */
async function makeFolder(folder: string, hasParent = false): Promise<void> {
  try {
    await mkdir(folder, { mode: OWNER_ONLY_FOLDER });
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    if (errorCode(error) !== 'ENOENT' || hasParent) throw error;
    await makeFolder(dirname(folder));
    await makeFolder(folder, true);
  }
}
