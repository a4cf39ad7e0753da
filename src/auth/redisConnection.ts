import { createClient } from '@redis/client';
import { errorCode, systemReason } from '../files/fileError.js';
import { KeyStoreError } from './store.js';
import type { StoreTransport } from './storeTransport.js';

export interface RedisConnectionOptions {
  /** `redis[s]://[user[:password]@]host[:port][/database]`. May hold a password: never quoted. */
  readonly url: string;
  /** Longest wait for a connection, and for an answer on it. */
  readonly timeoutMs?: number;
  /** Where given, the connection only listens to this channel. */
  readonly channel?: string;
  /** Called for what is said on the channel. */
  onMessage?(): void;
}

const TIMEOUT_MS = 1500;
const CLOSED = 'the key store was closed';

/**
 * The only user of the Redis client. One connection, which is made when it is needed, and made anew by the next call
 * after it was lost. There are no timers but those of calls under way, so that closing is final: each call ends in its
 * time, whatever the server does, and an idle connection keeps no process alive.
 */
export class RedisConnection implements StoreTransport {
  readonly #options: RedisConnectionOptions;
  readonly #scripts = new Map<string, string>();
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  #isClosed = false;
  /** Rejects the calls under way. */
  readonly #onClose = new Set<(error: Error) => void>();

  /** @throws KeyStoreError where the URL is none */
  constructor(options: RedisConnectionOptions) {
    this.#options = options;
    newClient(options.url, TIMEOUT_MS); // reads the URL, and opens nothing
  }

  /** Sends one command. Rejects with `KeyStoreError`. */
  async send(args: readonly string[]): Promise<unknown> {
    return this.#ask(args).catch((error: unknown) => {
      throw wordedReply(error);
    });
  }

  /** Rejects with the server's own error where it answers with one, with `KeyStoreError` otherwise. */
  async #ask(args: readonly string[]): Promise<unknown> {
    const client = await this.#ready();
    try {
      return await this.#within(client.sendCommand([...args]));
    } catch (error) {
      // A primary that was made a replica keeps its connections: the name may lead to the new one.
      if (!isReply(error) || saysReplica(error)) this.#drop(client);
      throw isReply(error) ? error : failure(error);
    }
  }

  /** Runs a script, which the server has known since its first run. Rejects with `KeyStoreError`. */
  async run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args];
    const sha = this.#scripts.get(script);
    try {
      if (sha !== undefined) return await this.#ask(['EVALSHA', sha, ...rest]);
    } catch (error) {
      if (!isUnknownScript(error)) throw wordedReply(error);
    }
    const loaded = String(await this.send(['SCRIPT', 'LOAD', script]));
    this.#scripts.set(script, loaded);
    return this.send(['EVALSHA', loaded, ...rest]);
  }

  /** Every field of a hash, without holding the server up. */
  async *hash(key: string): AsyncGenerator<readonly [field: string, value: string]> {
    let cursor = '0';
    do {
      const scan = ['HSCAN', key, cursor, 'COUNT', '1000'];
      const reply = (await this.send(scan)) as readonly [string, readonly string[]];
      cursor = reply[0];
      for (let at = 0; at + 1 < reply[1].length; at += 2) yield [reply[1][at] ?? '', reply[1][at + 1] ?? ''];
    } while (cursor !== '0');
  }

  /** Ends the connection at once, and every call under way with an error. */
  close(): void {
    this.#isClosed = true;
    if (this.#client !== undefined) end(this.#client);
    this.#client = undefined;
    for (const reject of this.#onClose) reject(new KeyStoreError(CLOSED));
  }

  async #ready(): Promise<Client> {
    if (this.#isClosed) throw new KeyStoreError(CLOSED);
    if (this.#client?.isReady === true) return this.#client;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<Client> {
    const { url, timeoutMs = TIMEOUT_MS, channel, onMessage } = this.#options;
    const client = newClient(url, timeoutMs);
    client.on('error', () => undefined); // told by the call that meets it
    client.unref();
    try {
      await this.#within(client.connect());
      if (channel !== undefined) await this.#within(client.subscribe(channel, () => onMessage?.()));
    } catch (error) {
      end(client);
      throw failure(error);
    }
    if (this.#isClosed) end(client);
    this.#client = client;
    return client;
  }

  #drop(client: Client): void {
    end(client);
    if (this.#client === client) this.#client = undefined;
  }

  /** The timer keeps the process alive for as long as somebody waits. */
  async #within<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    let abandon: ((error: Error) => void) | undefined;
    const end = new Promise<never>((_resolve, reject) => {
      abandon = reject;
      this.#onClose.add(reject);
      const { timeoutMs = TIMEOUT_MS } = this.#options;
      timer = setTimeout(() => reject(new KeyStoreError('the key store does not answer')), timeoutMs);
    });
    try {
      return await Promise.race([work, end]);
    } finally {
      clearTimeout(timer);
      if (abandon !== undefined) this.#onClose.delete(abandon);
    }
  }
}

type Client = ReturnType<typeof newClient>;

function newClient(url: string, connectTimeout: number) {
  try {
    return createClient({
      url,
      // What happens when the connection is lost is decided here, not in the library.
      socket: { connectTimeout, reconnectStrategy: false },
      disableOfflineQueue: true,
      // Each would be one more command that the store's user must be allowed.
      disableClientInfo: true,
      maintNotifications: 'disabled',
    });
  } catch {
    // Without the library's error, which quotes the URL.
    throw new KeyStoreError('ACUITY_KEYS is not a URL as redis://user:password@host:port/0');
  }
}

/** Also of a connection that is only being made: the library would let that one come about. */
function end(client: Client): void {
  client.on('connect', () => client.destroy());
  client.destroy();
}

/** An answer of the server that is an error: the connection is sound. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && /^[A-Z]{3,} /.test(error.message);
}

function isUnknownScript(error: unknown): boolean {
  return isReply(error) && error.message.startsWith('NOSCRIPT');
}

function saysReplica({ message }: Error): boolean {
  return message.startsWith('READONLY ');
}

/** What the server's refusals mean where their own words don't say it. */
const MEANINGS: readonly (readonly [words: RegExp, meaning: string])[] = [
  [
    /^(CROSSSLOT|MOVED|ASK|CLUSTERDOWN) /,
    'the key store is a Redis Cluster, which spreads what a script needs together; ACUITY_KEYS takes one server, or a primary that has one name',
  ],
  [
    /^ERR unknown command .?(SCRIPT|EVALSHA|HGET|HSCAN)\b/i,
    'the key store lacks the commands that it needs; ACUITY_KEYS takes the address of a primary, not of a Sentinel',
  ],
  [
    /^READONLY /,
    'the key store is a replica that takes no writes; ACUITY_KEYS takes the address of its primary',
  ],
];

function wordedReply(error: unknown): unknown {
  if (!isReply(error)) return error;
  const { message } = error;
  const [, meaning] = MEANINGS.find(([words]) => words.test(message)) ?? [];
  // Of an unknown command or a script it quotes all that was sent.
  const [said] = message.split(/, |\. /, 1);
  return new KeyStoreError(
    meaning === undefined ? `the key store refuses: ${message}` : `${meaning} (${said})`,
  );
}

function failure(error: unknown): KeyStoreError {
  if (error instanceof KeyStoreError) return error;
  const reason =
    systemReason(error) ?? errorCode(error) ?? (error instanceof Error ? error.message : 'unknown');
  return new KeyStoreError(`can't reach the key store: ${reason || 'no connection'}`);
}
