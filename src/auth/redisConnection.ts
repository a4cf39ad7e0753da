import { createClient } from '@redis/client';
import { errorCode, systemReason } from '../files/fileError.js';
import { KeyStoreError } from './record.js';

export interface RedisConnectionOptions {
  /** `redis[s]://[user[:password]@]host[:port][/database]`. May hold a password: never quote it. */
  readonly url: string;
  /** Longest wait for a connection, and for a reply on it. */
  readonly timeoutMs?: number;
  /** If given, the connection only listens to this channel. */
  readonly channel?: string;
  /** Called for each message on the channel. */
  onMessage?(): void;
}

const TIMEOUT_MS = 1500;
const CLOSED = 'the key store was closed';

/**
 * The only user of the Redis client. One connection, opened when first needed; after a loss the next call opens a new
 * one. It starts no timers except those of pending calls, so closing is final: every call ends within its time-out,
 * and an idle connection keeps no process alive. All calls reject with `KeyStoreError`.
 */
export class RedisConnection {
  readonly #options: RedisConnectionOptions;
  #client: Client | undefined;
  #connections = 0;
  #connecting: Promise<Client> | undefined;
  #isClosed = false;
  /** Rejects the pending calls. */
  readonly #pending = new Set<(error: Error) => void>();

  /** @throws KeyStoreError for an invalid URL */
  constructor(options: RedisConnectionOptions) {
    this.#options = options;
    newClient(options.url, TIMEOUT_MS); // checks the URL and opens nothing
  }

  /** How many connections were opened so far: what `WATCH` watches ends with its connection. */
  get connections(): number {
    return this.#connections;
  }

  /**
   * Sends commands in one piece; resolves to all replies. With `connection`, rejects unless the connection is still the
   * one of that number.
   */
  async sendAll(commands: readonly (readonly string[])[], connection?: number): Promise<readonly unknown[]> {
    const client = await this.#ready();
    if (connection !== undefined && connection !== this.#connections)
      throw new KeyStoreError('the connection to the key store was lost meanwhile: try again');
    try {
      return await this.#within(Promise.all(commands.map((args) => client.sendCommand([...args]))));
    } catch (error) {
      // A primary that became a replica keeps its connections: reconnecting may reach the new primary.
      if (!isReply(error) || saysReplica(error)) this.#drop(client);
      throw isReply(error) ? wordedReply(error) : failure(error);
    }
  }

  /** Closes the connection at once; every pending call rejects. */
  close(): void {
    this.#isClosed = true;
    if (this.#client !== undefined) end(this.#client);
    this.#client = undefined;
    for (const fail of this.#pending) fail(new KeyStoreError(CLOSED));
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
    client.on('error', () => undefined); // reported by the call that fails
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
    this.#connections++;
    return client;
  }

  #drop(client: Client): void {
    end(client);
    if (this.#client === client) this.#client = undefined;
  }

  /** Waits for `work`, until its time is over or the connection is closed. The timer keeps the process alive. */
  #within<T>(work: Promise<T>): Promise<T> {
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    return new Promise((resolve, reject) => {
      const settle = (settled: () => void): void => {
        clearTimeout(timer);
        this.#pending.delete(fail);
        settled();
      };
      const fail = (error: unknown): void => settle(() => reject(error as Error));
      const timer = setTimeout(() => fail(new KeyStoreError('the key store does not answer')), timeoutMs);
      this.#pending.add(fail);
      work.then((value) => settle(() => resolve(value)), fail);
    });
  }
}

type Client = ReturnType<typeof newClient>;

function newClient(url: string, connectTimeout: number) {
  try {
    return createClient({
      url,
      // A lost connection is handled here, not in the library.
      socket: { connectTimeout, reconnectStrategy: false },
      disableOfflineQueue: true,
      // Each would need one more permission for the store's user.
      disableClientInfo: true,
      maintNotifications: 'disabled',
    });
  } catch {
    // Leave out the library's error: it quotes the URL.
    throw new KeyStoreError('ACUITY_KEYS is not a URL as redis://user:password@host:port/0');
  }
}

/** Also ends a connection that is still being opened; the library would let it complete. */
function end(client: Client): void {
  client.on('connect', () => client.destroy());
  client.destroy();
}

/** An error that the server replied with: the connection itself works. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && /^[A-Z]{3,} /.test(error.message);
}

function saysReplica({ message }: Error): boolean {
  return message.startsWith('READONLY ');
}

/** What the server's refusals mean, where its own words don't say it. */
const MEANINGS: readonly (readonly [words: RegExp, meaning: string])[] = [
  [
    /^(CROSSSLOT|MOVED|ASK|CLUSTERDOWN) /,
    'the key store is a Redis Cluster, which spreads what is written together; ACUITY_KEYS takes one server, or a primary that has one name',
  ],
  [
    /^ERR unknown command .?(GET|HSET|HSCAN|HGETALL|WATCH)\b/i,
    'the key store lacks the commands that it needs; ACUITY_KEYS takes the address of a primary, not of a Sentinel',
  ],
  [
    /^READONLY /,
    'the key store is a replica that takes no writes; ACUITY_KEYS takes the address of its primary',
  ],
];

function wordedReply({ message }: Error): KeyStoreError {
  const [, meaning] = MEANINGS.find(([words]) => words.test(message)) ?? [];
  // For an unknown command the server quotes everything that was sent.
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
