/** The keys of a shared store. */
import { parsedJson } from '../../base/json.js';
import { Observer } from '../../base/observer.js';
import { randomBase62 } from '../key.js';
import { areRecords, EmptyStoreError, KeyStoreError, type KeyRecord } from '../record.js';
import { CHANNEL, fieldsOf, KEYS, piecesAt, type StoreTransport } from './redisNames.js';
import { KeyStore, type Change, type StoredKeys } from '../store.js';

/** Changes are pushed; the poll finds those announced while the listener was disconnected. */
const POLL_MS = 1000;
/** All keys are read after this time even if the token is the known one: nothing stays hidden for longer. */
const WHOLE_MS = 60_000;
const ATTEMPTS_MAX = 100;
const TOKEN_LENGTH = 12;

/** Opens a connection that listens to the channel of changes. */
type Listen = (onMessage: () => void) => StoreTransport;

/** The content of a store at a moment; the token is '' if there was none. */
interface Snapshot extends StoredKeys {
  readonly token: string;
}

/** Keys in Redis or Valkey, shared by all replicas; each reader keeps a copy of all keys. */
export class RedisKeyStore extends KeyStore {
  readonly #connection: StoreTransport;
  readonly #listen: Listen;
  #token: string | undefined;
  #readMs = 0;

  constructor(connection: StoreTransport, listen: Listen) {
    super(POLL_MS);
    this.#connection = connection;
    this.#listen = listen;
  }

  /** The token of the keys last read. */
  get token(): string {
    return this.#token ?? '';
  }

  /** One new key in a store that has lost all others would lock out everyone else. */
  override async insert(record: KeyRecord): Promise<void> {
    const [found, replicas] = await this.#connection.readAll([
      ['HSCAN', KEYS.records, '0', 'COUNT', '1'],
      ['HGETALL', KEYS.replicas],
    ]);
    const [cursor, fields] = found as readonly [string, readonly string[]];
    const withKeys = [...fieldsOf(replicas).values()].filter((field) => !field.endsWith(' ')).length;
    if (cursor === '0' && fields.length === 0 && withKeys > 0)
      throw new KeyStoreError(
        `the key store came back empty, and ${withKeys} replicas go on with the keys they have: import those first with "acuity keys import", or stop the replicas`,
      );
    await super.insert(record);
  }

  async stored(): Promise<StoredKeys | undefined> {
    const snapshot = await this.#readAll();
    const placeOf = ({ createdAt, id }: KeyRecord): string => `${createdAt} ${id}`;
    const records = snapshot.records.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    return isNothing(snapshot) ? undefined : { ...snapshot, records };
  }

  protected override listen(look: () => Promise<void>): () => void {
    const listener = this.#listen(() => void look());
    // The ping finds a lost listener and reconnects it. `look` reports its errors.
    const ping = async (): Promise<void> => void (await listener.readAll([['PING']]));
    const listening = new Observer({ look: ping, onProblem: () => undefined }, POLL_MS);
    void listening.look().then(look);
    return () => {
      listening.stop();
      listener.close();
    };
  }

  protected async update(change: Change): Promise<boolean> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      await this.#connection.sendAll([['WATCH', KEYS.records, KEYS.token]]);
      const { connections } = this.#connection;
      let commands: string[][] = [['UNWATCH']];
      try {
        const before = await this.#readAll();
        const records = change(isNothing(before) ? undefined : before);
        if (records === undefined) return false;
        commands = commandsOf(records, before);
      } finally {
        if (commands.length === 1) await this.#connection.sendAll(commands);
      }
      const replies = await this.#connection.sendAll(commands, connections);
      if (replies.at(-1) !== null) return true;
    }
    throw new KeyStoreError('the keys are being changed by others all the time: try again');
  }

  /** Reads all keys if the token or the time says so. */
  protected async refresh(): Promise<StoredKeys | undefined> {
    const isStart = this.#token === undefined;
    const isKnown = !isStart && (await this.#readToken()) === this.#token;
    // What takes no writes may be what the address led to before a failover: known keys stay as they are.
    if (!isStart && this.#connection.refusal !== undefined) throw this.#connection.refusal;
    if (isKnown && performance.now() - this.#readMs < WHOLE_MS) return undefined;
    const snapshot = await this.#readAll();
    if (snapshot.token === '' || isEmpty(snapshot)) {
      // A server started before its first key waits for it; a server that had keys keeps them.
      if (isStart && isNothing(snapshot)) return undefined;
      throw new EmptyStoreError(
        isEmpty(snapshot)
          ? 'the key store came back empty: the keys stay as they were last seen; import them again with "acuity keys import"'
          : 'the key store has lost the token of its last change: the keys stay as they were last seen; change any key to write a token',
      );
    }
    this.#token = snapshot.token;
    this.#readMs = performance.now();
    return snapshot;
  }

  /** All of it as it was at one moment: a mix of two states could refuse valid keys. */
  async #readAll(): Promise<Snapshot> {
    for (let token = await this.#readToken(), attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const found = new Map<string, KeyRecord | undefined>();
      for await (const piece of piecesAt(this.#connection, KEYS.records))
        for (const [id, text] of piece) found.set(id, recordIn(id, text));
      const after = await this.#readToken();
      if (after === token) return { ...unambiguous(found), token };
      token = after;
    }
    throw new KeyStoreError('the keys change all the time while they are read: they are read again');
  }

  async #readToken(): Promise<string> {
    const [token] = await this.#connection.readAll([['GET', KEYS.token]]);
    return typeof token === 'string' ? token : '';
  }
}

/** Writes what has changed. */
function commandsOf(records: readonly KeyRecord[], before: StoredKeys): string[][] {
  const known = new Set(before.records);
  const changed = records.filter((record) => !known.has(record));
  const fields = changed.flatMap((record) => [record.id, JSON.stringify(record)]);
  const token = randomBase62(TOKEN_LENGTH);
  return [
    ['MULTI'],
    ...(fields.length > 0 ? [['HSET', KEYS.records, ...fields]] : []),
    ['SET', KEYS.token, token],
    ['PUBLISH', CHANNEL, token],
    ['EXEC'],
  ];
}

function isEmpty({ records, unreadable }: StoredKeys): boolean {
  return records.length + unreadable.length === 0;
}

/** Whether there is no store yet. */
function isNothing(snapshot: Snapshot): boolean {
  return snapshot.token === '' && isEmpty(snapshot);
}

function recordIn(id: string, text: string): KeyRecord | undefined {
  const read = [parsedJson(text)];
  return areRecords(read) && read[0]?.id === id ? read[0] : undefined;
}

/** Leaves out records that share a key: none tells which of them holds. */
function unambiguous(found: ReadonlyMap<string, KeyRecord | undefined>): StoredKeys {
  const sound = [...found.values()].filter((record) => record !== undefined);
  const idOf = new Map(sound.map(({ digest, id }) => [digest, id]));
  const shared = new Set(
    sound.filter(({ digest, id }) => idOf.get(digest) !== id).map(({ digest }) => digest),
  );
  const records = sound.filter(({ digest }) => !shared.has(digest));
  const read = new Set(records.map(({ id }) => id));
  return { records, unreadable: [...found.keys()].filter((id) => !read.has(id)).toSorted() };
}
