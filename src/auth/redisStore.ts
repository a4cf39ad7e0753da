import { Observer } from '../base/observer.js';
import { randomBase62 } from './key.js';
import { faultInRecord, isKeyRecord } from './keyRecord.js';
import type { RedisConnection } from './redisConnection.js';
import {
  CHANNEL,
  KEY_TWICE,
  KEYS,
  LOOK,
  REPLACED_MEANWHILE,
  WRITE,
  type WriteOrder,
} from './redisScripts.js';
import {
  KeyStoreError,
  type Amendment,
  type KeyRecord,
  type KeyStore,
  type KeyStoreWatcher,
} from './store.js';

/** A change is pushed; this finds what was said while nobody listened. */
const POLL_MS = 500;
const ATTEMPTS_MAX = 100;
const STORE_NAME_LENGTH = 12;
const WRITTEN = [KEYS.meta, KEYS.keys, KEYS.digests, KEYS.changed];

interface StoredKey {
  readonly order: number;
  readonly record: KeyRecord;
}

/** Makes a connection that listens to the channel of changes. */
type Listen = (onMessage: () => void) => RedisConnection;

/** Keys in Redis or Valkey, shared by all replicas; its readers keep a copy of all of them. */
export class RedisKeyStore implements KeyStore {
  readonly #connection: RedisConnection;
  readonly #listen: Listen;
  readonly #copy = new Map<string, StoredKey>();
  /** Name and version of the store that the copy is of. */
  #name = '';
  #version = '0';

  constructor(connection: RedisConnection, listen: Listen) {
    this.#connection = connection;
    this.#listen = listen;
  }

  async list(): Promise<readonly KeyRecord[]> {
    await this.#refresh();
    return this.#records();
  }

  async insert(record: KeyRecord): Promise<void> {
    await this.#write({ add: [record] });
  }

  async insertFirst(record: KeyRecord): Promise<boolean> {
    return (await this.#write({ add: [record], isFirst: true })) > 0;
  }

  async insertMissing(records: readonly KeyRecord[]): Promise<number> {
    return this.#write({ add: records, isMissingOnly: true });
  }

  async amend(id: string, change: (record: KeyRecord) => Amendment): Promise<Amendment> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const was = await this.#connection.send(['HGET', KEYS.keys, id]);
      if (typeof was !== 'string') throw new KeyStoreError(`there is no key ${JSON.stringify(id)}`);
      const { order, record } = storedKey(was);
      const amendment = change(record);
      const now = `${order} ${checkedText(amendment.record)}`;
      const add = amendment.successor === undefined ? [] : [amendment.successor];
      if ((await this.#write({ add, replace: { id, was, now } })) !== REPLACED_MEANWHILE) return amendment;
    }
    throw new KeyStoreError(
      `the key ${JSON.stringify(id)} is being changed by others all the time: try again`,
    );
  }

  watch(watcher: KeyStoreWatcher): () => void {
    let isStopped = false;
    const look = async (): Promise<void> => {
      const isOther = await this.#refresh();
      if (isStopped) return;
      if (isOther) watcher.onChange(this.#records());
      watcher.onSeen();
    };
    const onProblem = (error: Error): void => {
      if (!isStopped) watcher.onProblem(error);
    };
    const observer = new Observer({ look, onProblem }, POLL_MS);
    const listener = this.#listen(() => void observer.look());
    // The ping finds a listener whose connection is lost, and makes it anew. What it meets, the look tells.
    const listening = new Observer(
      { look: async () => void (await listener.send(['PING'])), onProblem: () => undefined },
      POLL_MS,
    );
    void listening.look().then(() => observer.look());
    return () => {
      isStopped = true;
      observer.stop();
      listening.stop();
      listener.close();
    };
  }

  async #write(
    order: Omit<WriteOrder, 'add' | 'store' | 'channel'> & { add: readonly KeyRecord[] },
  ): Promise<number> {
    const add = order.add.map((record) => ({
      id: record.id,
      digest: record.digest,
      text: checkedText(record),
    }));
    const whole: WriteOrder = { ...order, add, store: randomBase62(STORE_NAME_LENGTH), channel: CHANNEL };
    const written = Number(await this.#connection.run(WRITE, WRITTEN, [JSON.stringify(whole)]));
    if (written === KEY_TWICE) throw new KeyStoreError('the key store would hold a key twice');
    return written;
  }

  /** Brings the copy up to date. Resolves to whether it has become another. */
  async #refresh(): Promise<boolean> {
    const known = [this.#name, this.#version];
    const reply = await this.#connection.run(LOOK, [KEYS.meta, KEYS.keys, KEYS.changed], known);
    const [name, version, hasChanges, ...changed] = reply as readonly [string, string, number, ...string[]];
    // A server that was started before its first key waits for it; one that had keys keeps them.
    if (name === '' && this.#name !== '')
      throw new KeyStoreError('the key store is empty: it has lost its keys');
    if (name === this.#name && version === this.#version) return false;
    if (hasChanges === 1) this.#add(changed);
    else await this.#readAll();
    this.#name = name;
    this.#version = version;
    return true;
  }

  async #readAll(): Promise<void> {
    const texts: string[] = [];
    for await (const [, text] of this.#connection.hash(KEYS.keys)) texts.push(text);
    const stored = texts.map(storedKey);
    this.#copy.clear();
    for (const key of stored) this.#copy.set(key.record.id, key);
  }

  #add(texts: readonly string[]): void {
    for (const key of texts.map(storedKey)) this.#copy.set(key.record.id, key);
  }

  /** The oldest first. */
  #records(): readonly KeyRecord[] {
    return [...this.#copy.values()].toSorted((a, b) => a.order - b.order).map(({ record }) => record);
  }
}

/** Never write what could not be read again. */
function checkedText(record: KeyRecord): string {
  const fault = faultInRecord(record);
  if (fault !== undefined) throw new KeyStoreError(`this is no record of a key: ${fault}`);
  return JSON.stringify(record);
}

function storedKey(text: string): StoredKey {
  const [order = '', json = ''] = /^(\d+) (.*)$/s.exec(text)?.slice(1) ?? [];
  const record = parsed(json);
  if (!isKeyRecord(record)) throw new KeyStoreError(`${KEYS.keys} in the key store holds what is no key`);
  return { order: Number(order), record };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // no key, as the schema will say
  }
}
