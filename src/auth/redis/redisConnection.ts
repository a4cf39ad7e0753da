/** The connections to a shared store in Redis or Valkey. */
import { createClient } from '@redis/client';
import { errorCode, systemReason } from '../../base/files/fileError.js';
import { KeyStoreError, ReadOnlyStoreError } from '../record.js';
import { CHANNEL, fieldsOf, type Commands, type StoreTransport } from './redisNames.js';

/** Longest wait for a reply, and for the connection that is opened for it. */
const TIMEOUT_MS = 800;
/** While what the address leads to is away, or takes no writes, it is asked again at most this often. */
const ASKED_EVERY_MS = 1000;
const CLOSED = 'the key store was closed';

/**
 * A store's address, and the only user of the Redis client. It owns all connections to what the address leads to, and
 * they share one fate: where one is lost, all are dropped and the next call asks the address anew; where one learns that
 * the server takes no writes, so it goes again and again until one takes them. It starts no timers except those of
 * pending calls, so closing is final, and an idle connection keeps no process alive. All calls reject with
 * `KeyStoreError`.
 */
export class RedisAddress {
  /** Why the server takes no writes; undefined as soon as it takes one. */
  #refusal: ReadOnlyStoreError | undefined;
  /** How often the address was asked: what `WATCH` watches ends with its connection. */
  #asked = 0;
  readonly #open: () => Client;
  readonly #timeoutMs: number;
  readonly #listeners = new Set<Line>();
  #connections: Connections | undefined;
  #isClosed = false;

  /**
   * `url`: `redis[s]://[user[:password]@]host[:port][/database]`. May hold a password: never quote it.
   * @throws KeyStoreError for an invalid URL
   */
  constructor(url: string, timeoutMs = TIMEOUT_MS) {
    this.#open = () => newClient(url, timeoutMs);
    this.#timeoutMs = timeoutMs;
    this.#open(); // checks the URL and connects nothing
  }

  /**
   * A way to the store, with a connection of its own, which no other's commands delay. With `onMessage` it listens to
   * changes of keys; that is called too where messages may have been missed.
   */
  line(onMessage?: () => void): StoreTransport {
    const line: Line = { onMessage };
    if (onMessage !== undefined) this.#listeners.add(line);
    const [asked, refusal] = [() => this.#asked, () => this.#refusal];
    return {
      get connections() {
        return asked();
      },
      get refusal() {
        return refusal();
      },
      sendAll: (commands, connection) => this.#exchange(line, commands, true, connection),
      readAll: (commands) => this.#exchange(line, commands, false),
      close: () => void this.#listeners.delete(line),
    };
  }

  /** Closes all connections at once; every pending call rejects. */
  close(): void {
    this.#isClosed = true;
    this.#connections?.drop(new KeyStoreError(CLOSED));
  }

  async #exchange(
    line: Line,
    commands: Commands,
    isWrite: boolean,
    connection?: number,
  ): Promise<readonly unknown[]> {
    const connections = this.#current();
    if (connection !== undefined && connection !== this.#asked)
      throw new KeyStoreError('the connection to the key store was lost meanwhile: try again');
    try {
      const { replies, role } = await connections.exchange(line, commands);
      if (role !== undefined && !PRIMARY.test(role)) {
        this.#refusal = new ReadOnlyStoreError(`${REPLICA} (it says that it is a ${role})`);
        if (isWrite) throw this.#refusal;
      } else if (isWrite && this.#refusal !== undefined) {
        this.#refusal = undefined;
        for (const { onMessage } of this.#listeners) onMessage?.();
      }
      return replies;
    } catch (error) {
      if (error instanceof ReadOnlyStoreError) this.#refusal = error;
      throw error;
    }
  }

  /** The connections to use now. Throws why there are none. */
  #current(): Connections {
    if (this.#isClosed) throw new KeyStoreError(CLOSED);
    const last = this.#connections;
    const isGood = last?.lost === undefined && this.#refusal === undefined;
    if (last !== undefined && (isGood || performance.now() - last.openedMs < ASKED_EVERY_MS)) {
      if (last.lost !== undefined) throw last.lost;
      return last;
    }
    last?.drop(this.#refusal);
    this.#asked++;
    const next = (this.#connections = new Connections(this.#open, this.#timeoutMs));
    for (const line of this.#listeners) next.client(line).catch(() => undefined);
    return next;
  }
}

/** One user's way to the store: it keeps no connection, each call takes the address's. */
interface Line {
  readonly onMessage: (() => void) | undefined;
}

/** The connections to what an address led to once, each opened when first needed. They end together. */
class Connections {
  readonly openedMs = performance.now();
  /** Why they have ended. */
  lost: KeyStoreError | undefined;
  readonly #open: () => Client;
  readonly #timeoutMs: number;
  readonly #clients = new Map<Line, { readonly client: Client; readonly ready: Promise<Client> }>();
  /** Whether the listener was ever connected. */
  #isHeard = false;
  /** Rejects the pending calls. */
  readonly #pending = new Set<(error: Error) => void>();

  constructor(open: () => Client, timeoutMs: number) {
    this.#open = open;
    this.#timeoutMs = timeoutMs;
  }

  /** The replies, and the role of who gave them: undefined where its user may not ask, or it is a Sentinel. */
  async exchange(line: Line, commands: Commands) {
    try {
      return await this.#within(async () => {
        const client = await this.client(line);
        const hello = client.sendCommand(['HELLO']).catch(() => undefined);
        const replies = await Promise.all(commands.map((args) => client.sendCommand([...args])));
        return { replies, role: fieldsOf(await hello).get('role') };
      });
    } catch (error) {
      throw isReply(error) ? wordedReply(error) : this.#lose(line, failure(error));
    }
  }

  client(line: Line): Promise<Client> {
    const known = this.#clients.get(line);
    if (known !== undefined) return known.ready;
    const client = this.#open();
    const ready = this.#connect(line, client);
    this.#clients.set(line, { client, ready });
    return ready;
  }

  /** Ends all of them; every pending call rejects. Returns why they have ended. */
  drop(error?: KeyStoreError): KeyStoreError {
    const reason = (this.lost ??= error ?? new KeyStoreError(CLOSED));
    for (const { client } of this.#clients.values()) end(client);
    for (const fail of this.#pending) fail(reason);
    return reason;
  }

  /** The loss of one is that of all, but for a listener's way that was never open: that alone may be shut. */
  #lose(line: Line, error: KeyStoreError): KeyStoreError {
    if (line.onMessage === undefined || this.#isHeard) return this.drop(error);
    this.#close(line);
    return error;
  }

  #close(line: Line): void {
    const known = this.#clients.get(line);
    if (known !== undefined) end(known.client);
    this.#clients.delete(line);
  }

  async #connect(line: Line, client: Client): Promise<Client> {
    const { onMessage } = line;
    client.on('error', (error) => this.#lose(line, failure(error)));
    client.unref();
    try {
      await client.connect();
    } catch (error) {
      throw this.#lose(line, failure(error));
    }
    if (onMessage === undefined) return client;
    try {
      await client.subscribe(CHANNEL, onMessage);
    } catch (error) {
      this.#close(line);
      throw error;
    }
    this.#isHeard = true;
    onMessage();
    return client;
  }

  /** Waits for `work`, until its time is over or the connections have ended. The timer keeps the process alive. */
  #within<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (settled: () => void): void => {
        clearTimeout(timer);
        this.#pending.delete(fail);
        settled();
      };
      const fail = (error: unknown): void => settle(() => reject(error as Error));
      const late = (): void => fail(new KeyStoreError('the key store does not answer'));
      // What came while this thread was busy is read before the time is over.
      const timer = setTimeout(() => setImmediate(late), this.#timeoutMs);
      this.#pending.add(fail);
      work().then((value) => settle(() => resolve(value)), fail);
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

const PRIMARY = /^(master|primary)$/;
const REPLICA =
  'the key store is a replica that takes no writes; ACUITY_KEYS takes the address of its primary';
/** Refusals of a server that is not the primary, or not able to be one at the moment. */
const TAKES_NO_WRITES = /^(READONLY|NOREPLICAS|MISCONF|OOM|LOADING|MASTERDOWN) /;

/** The meaning of refusals, where the server's own words don't say it. */
const MEANINGS: readonly (readonly [words: RegExp, meaning: string])[] = [
  [
    /^(CROSSSLOT|MOVED|ASK|CLUSTERDOWN) /,
    'the key store is a Redis Cluster, which spreads what is written together; ACUITY_KEYS takes one server, or a primary that has one name',
  ],
  [
    /^ERR unknown command .?(GET|HSET|HSCAN|HGETALL|WATCH)\b/i,
    'the key store lacks the commands that it needs; ACUITY_KEYS takes the address of a primary, not of a Sentinel',
  ],
  [/^NOAUTH /, 'the key store wants a password; ACUITY_KEYS takes it as redis://user:password@host:port'],
  [/^WRONGPASS /, 'the key store knows no such user and password as ACUITY_KEYS has'],
  [/^READONLY /, REPLICA],
  [TAKES_NO_WRITES, 'the key store takes no writes at the moment'],
];

function wordedReply({ message }: Error): KeyStoreError {
  const [, meaning] = MEANINGS.find(([words]) => words.test(message)) ?? [];
  // For an unknown command the server quotes everything that was sent.
  const [said] = message.split(/, |\. |\.$/, 1);
  const worded = meaning === undefined ? `the key store refuses: ${message}` : `${meaning} (${said})`;
  return new (TAKES_NO_WRITES.test(message) ? ReadOnlyStoreError : KeyStoreError)(worded);
}

function failure(error: unknown): KeyStoreError {
  if (error instanceof KeyStoreError) return error;
  if (isReply(error)) return wordedReply(error);
  const reason =
    systemReason(error) ?? errorCode(error) ?? (error instanceof Error ? error.message : 'unknown');
  return new KeyStoreError(`can't reach the key store: ${reason || 'no connection'}`);
}
