import { Observer } from '../base/observer.js';
import type { Repeat } from '../base/repeat.js';
import { randomBase62 } from './key.js';
import { faultInRecord, isKeyRecord } from './keyRecord.js';
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
import type { StoreTransport } from './storeTransport.js';

/** Changes are pushed; the poll finds those announced while the listener was disconnected. */
const POLL_MS = 500;
const ATTEMPTS_MAX = 100;
const NAME_LENGTH = 12;
const WRITTEN = [KEYS.meta, KEYS.keys, KEYS.digests, KEYS.changed, KEYS.tokens];

interface StoredKey {
  readonly order: number;
  readonly record: KeyRecord;
}

/** Opens a connection that listens to the channel of changes. */
type Listen = (onMessage: () => void) => StoreTransport;

/** A version of a store. */
interface Place {
  readonly name: string;
  readonly version: string;
  /** Random, written with each version: after a lost write, the same version number has another token. */
  readonly token: string;
}

/** The result of a look at the store. */
interface Look {
  readonly place: Place;
  /** Whether the store continues the known version; else all of it has to be read. */
  readonly isContinued: boolean;
  readonly changed: readonly string[];
}

type LookReply = readonly [string, string, string, number, ...string[]];

const NOWHERE: Place = { name: '', version: '0', token: '' };

/** Keys in Redis or Valkey, shared by all replicas; each reader keeps a copy of all keys. */
export class RedisKeyStore implements KeyStore {
  readonly #connection: StoreTransport;
  readonly #listen: Listen;
  readonly #repeat: Repeat | undefined;
  #copy = new Map<string, StoredKey>();
  /** The version that the copy was made from. */
  #place = NOWHERE;

  constructor(connection: StoreTransport, listen: Listen, repeat?: Repeat) {
    this.#connection = connection;
    this.#listen = listen;
    this.#repeat = repeat;
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
    const observer = new Observer({ look, onProblem }, POLL_MS, this.#repeat);
    const listener = this.#listen(() => void observer.look());
    // The ping finds a lost listener and reconnects it. `#look` reports its errors.
    const listening = new Observer(
      { look: async () => void (await listener.send(['PING'])), onProblem: () => undefined },
      POLL_MS,
      this.#repeat,
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
    order: Omit<WriteOrder, 'add' | 'store' | 'token' | 'channel'> & { add: readonly KeyRecord[] },
  ): Promise<number> {
    const add = order.add.map((record) => ({
      id: record.id,
      digest: record.digest,
      text: checkedText(record),
    }));
    const whole: WriteOrder = { ...order, add, ...named(), channel: CHANNEL };
    const written = Number(await this.#connection.run(WRITE, WRITTEN, [JSON.stringify(whole)]));
    if (written === KEY_TWICE) throw new KeyStoreError('the key store would hold a key twice');
    return written;
  }

  /** Brings the copy up to date. Resolves to whether it changed. */
  async #refresh(): Promise<boolean> {
    const { place, isContinued, changed } = await this.#look(this.#place);
    // A server started before its first key waits for it; a server that had keys keeps them.
    if (place.name === '' && this.#place.name !== '')
      throw new KeyStoreError('the key store is empty: it has lost its keys');
    if (isContinued && place.version === this.#place.version) return false;
    if (isContinued) this.#add(changed);
    else this.#copy = await this.#readAll(place);
    this.#place = place;
    return true;
  }

  async #look({ name, version, token }: Place): Promise<Look> {
    const keys = [KEYS.meta, KEYS.keys, KEYS.changed, KEYS.tokens];
    const reply = await this.#connection.run(LOOK, keys, [name, version, token]);
    const [toName, toVersion, toToken, continued, ...changed] = reply as LookReply;
    return {
      place: { name: toName, version: toVersion, token: toToken },
      isContinued: continued === 1,
      changed,
    };
  }

  async #readAll(place: Place): Promise<Map<string, StoredKey>> {
    const texts: string[] = [];
    for await (const [, text] of this.#connection.hash(KEYS.keys)) texts.push(text);
    // A mix of two states, for instance if the store was emptied meanwhile, would refuse valid keys.
    if (!(await this.#look(place)).isContinued)
      throw new KeyStoreError('the key store became another one while it was read: it is read again');
    return new Map(texts.map(storedKey).map((key) => [key.record.id, key]));
  }

  #add(texts: readonly string[]): void {
    for (const key of texts.map(storedKey)) this.#copy.set(key.record.id, key);
  }

  /** Oldest first. */
  #records(): readonly KeyRecord[] {
    return [...this.#copy.values()].toSorted((a, b) => a.order - b.order).map(({ record }) => record);
  }
}

/** What each write adds: a name if the store has none yet, and a token. */
function named(): Pick<WriteOrder, 'store' | 'token'> {
  return { store: randomBase62(NAME_LENGTH), token: randomBase62(NAME_LENGTH) };
}

/** Never write what can't be read back. */
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
    return undefined; // no key: the schema check reports it
  }
}
