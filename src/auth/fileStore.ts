import { mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { removeLeftovers, replaceFile } from './atomicFile.js';
import { ifPresent, storeError } from './fileError.js';
import { withFileLock } from './fileLock.js';
import {
  KeyStoreError,
  type Amendment,
  type KeyRecord,
  type KeyStore,
  type KeyStoreWatcher,
} from './store.js';
import { asError } from '../base/errors.js';

const VERSION = 1;
const POLL_MS = 250;
const LOCK_WAIT_MS = 10_000;
const OWNER_ONLY_FOLDER = 0o700;

const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' });
const Limit = Type.Union([Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }), Type.Null()]);

const KeyFile = Compile(
  Type.Object({
    version: Type.Literal(VERSION),
    keys: Type.Array(
      Type.Object({
        id: Type.String({ minLength: 1 }),
        kind: Type.Union([Type.Literal('demo'), Type.Literal('live')]),
        digest: Type.String({ pattern: '^[\\w-]{43}$' }),
        label: Type.String(),
        createdAt: Time,
        expiresAt: Type.Union([Time, Type.Null()]),
        revokedAt: Type.Union([Time, Type.Null()]),
        ratePerS: Limit,
        dailyMax: Limit,
      }),
    ),
  }),
);

export interface FileKeyStoreOptions {
  /** The longest wait for another writer. */
  readonly lockWaitMs?: number;
}

/** `undefined`: there is no store yet. */
type Stored = readonly KeyRecord[] | undefined;

/** All keys in one JSON file, meant for up to 10,000 of them. */
export class FileKeyStore implements KeyStore {
  readonly #path: string;
  readonly #lockWaitMs: number;
  #listed: string | undefined;

  constructor(path: string, { lockWaitMs = LOCK_WAIT_MS }: FileKeyStoreOptions = {}) {
    this.#path = path;
    this.#lockWaitMs = lockWaitMs;
  }

  async list(): Promise<readonly KeyRecord[]> {
    // Before the reading, so that `watch` misses nothing that is written in between.
    this.#listed = await signatureOf(this.#path);
    return (await readKeys(this.#path)) ?? [];
  }

  async insert(record: KeyRecord): Promise<void> {
    await this.#write((stored = []) => [...stored, record]);
  }

  insertFirst(record: KeyRecord): Promise<boolean> {
    return this.#write((stored) => (stored === undefined ? [record] : undefined));
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
    const poll = new FilePoll(this.#path, watcher, this.#listed);
    const timer = setInterval(() => void poll.look(), POLL_MS).unref();
    return () => {
      clearInterval(timer);
      poll.stop();
    };
  }

  /** Writes what `change` makes of the stored keys; nothing where it returns `undefined` or throws. */
  async #write(change: (stored: Stored) => Stored): Promise<boolean> {
    try {
      const path = await target(this.#path);
      await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER });
      return await withFileLock(`${path}.lock`, this.#lockWaitMs, () => rewrite(path, change));
    } catch (error) {
      throw storeError(`write ${this.#path}`, error);
    }
  }
}

/** Reads the file again whenever it has become another one. */
class FilePoll {
  readonly #path: string;
  readonly #watcher: KeyStoreWatcher;
  #signature: string | undefined;
  #problem: string | undefined;
  #isLooking = false;
  #isStopped = false;

  /** `signature`: that of the file whose records the watcher has. */
  constructor(path: string, watcher: KeyStoreWatcher, signature: string | undefined) {
    this.#path = path;
    this.#watcher = watcher;
    this.#signature = signature;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async look(): Promise<void> {
    if (this.#isLooking) return; // A slow disk: one look at a time.
    this.#isLooking = true;
    try {
      await this.#readIfChanged();
      this.#problem = undefined;
    } catch (error) {
      this.#tell(asError(error));
    } finally {
      this.#isLooking = false;
    }
  }

  async #readIfChanged(): Promise<void> {
    // Before the reading: a write in between is then seen at the next look.
    const signature = await signatureOf(this.#path);
    if (signature === this.#signature) return;
    const text = await textOf(this.#path);
    // A server that was started before its first key waits for it; one that had keys keeps them.
    if (text === undefined && this.#signature === undefined) return;
    if (text === undefined) throw new KeyStoreError(`${this.#path} is gone`);
    // A file that couldn't be opened is tried again; one that makes no sense is told once.
    this.#signature = signature;
    const records = keysIn(this.#path, text);
    if (!this.#isStopped) this.#watcher.onChange(records);
  }

  /** Once, not four times a second. */
  #tell(error: Error): void {
    if (error.message === this.#problem || this.#isStopped) return;
    this.#problem = error.message;
    this.#watcher.onProblem(error);
  }
}

function amended(stored: readonly KeyRecord[], { record, successor }: Amendment): KeyRecord[] {
  const records = stored.map((other) => (other.id === record.id ? record : other));
  return successor === undefined ? records : [...records, successor];
}

async function rewrite(path: string, change: (stored: Stored) => Stored): Promise<boolean> {
  const keys = change(await readKeys(path));
  if (keys === undefined) return false;
  const text = `${JSON.stringify({ version: VERSION, keys }, null, 1)}\n`;
  keysIn(path, text); // Never write what could not be read again.
  await removeLeftovers(path);
  await replaceFile(path, text);
  return true;
}

/** Where `path` is a link, the file that it leads to: replacing the link would part it from the file. */
async function target(path: string): Promise<string> {
  return (await ifPresent(realpath(path))) ?? path;
}

async function readKeys(path: string): Promise<Stored> {
  const text = await textOf(path);
  return text === undefined ? undefined : keysIn(path, text);
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await ifPresent(readFile(path, 'utf8'));
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

/** Another file, or another content, has another signature. */
async function signatureOf(path: string): Promise<string | undefined> {
  try {
    const status = await ifPresent(stat(path, { bigint: true }));
    return status && `${status.ino}:${status.size}:${status.mtimeNs}:${status.ctimeNs}`;
  } catch (error) {
    throw storeError(`read ${path}`, error);
  }
}
