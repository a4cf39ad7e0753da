/** The interface of key stores and of ledgers, and the work that both kinds of store have in common. */
import type { Clock } from '../base/clock.js';
import { Observer } from '../base/observer.js';
import type { IndexedRecord } from './authenticator.js';
import type { Limits } from './limits/limits.js';
import { faultIn, KeyStoreError, type KeyRecord } from './record.js';

/** The records that `KeyStore.amend` writes, in one step. */
export interface Amendment {
  readonly record: KeyRecord;
  /** A new key that replaces the amended one. */
  readonly successor?: KeyRecord;
}

/** The keys of a store at one moment. */
export interface StoredKeys {
  readonly records: readonly KeyRecord[];
  /** Names of records that this version can't read: they are skipped, so their keys are refused. */
  readonly unreadable: readonly string[];
}

export interface KeyStoreWatcher {
  /** The whole store as it is now; called after each change by any process. */
  onChange(keys: StoredKeys): void;
  /** The store was read: the keys last passed to `onChange` are current. */
  onSeen(): void;
  /** The store can't be read at the moment; the last records stay in force. */
  onProblem(error: Error): void;
}

/** A change of all keys; `undefined` as argument: there is no store yet, as result: nothing to write. */
export type Change = (stored: StoredKeys | undefined) => readonly KeyRecord[] | undefined;

/**
 * Where keys are kept. Each write is atomic, and concurrent writers, in this process or another, lose nothing. All
 * methods reject with `KeyStoreError`.
 */
export abstract class KeyStore {
  /** The keys last read; undefined while there were none. */
  #known: StoredKeys | undefined;
  readonly #pollMs: number;

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  /** The keys that are there, oldest first. For commands, which mend a store that has lost some. Undefined: no store yet. */
  abstract stored(): Promise<StoredKeys | undefined>;

  /** The keys for a server to start with, as `watch` takes them; none if there is no store yet. */
  async read(): Promise<StoredKeys> {
    await this.#refreshed();
    return this.#known ?? { records: [], unreadable: [] };
  }

  /**
   * Reports changes within a second (a second more if a push is lost), until the returned function is called. Keeps no
   * process alive.
   */
  watch(watcher: KeyStoreWatcher): () => void {
    let isStopped = false;
    const look = async (): Promise<void> => {
      const keys = await this.#refreshed();
      if (isStopped) return;
      if (keys !== undefined) watcher.onChange(keys);
      watcher.onSeen();
    };
    const observer = new Observer({ look, onProblem: (error) => watcher.onProblem(error) }, this.#pollMs);
    const stopListening = this.listen(() => observer.look());
    return () => {
      isStopped = true;
      observer.stop();
      stopListening();
    };
  }

  /**
   * Reads the keys, for a server, if they may have changed since then; undefined: they have not. Rejects where what is
   * there is no answer, so that the server keeps what it has.
   */
  protected abstract refresh(): Promise<StoredKeys | undefined>;

  /** Calls `look` at once, and where the store tells of a change, until the returned function is called. */
  protected listen(look: () => Promise<void>): () => void {
    void look();
    return () => undefined;
  }

  /**
   * Puts what `change` makes of the keys in their place, atomically, and resolves to whether anything was written. May
   * call it again if another writer was first. Passes on what it throws.
   */
  protected abstract update(change: Change): Promise<boolean>;

  async #refreshed(): Promise<StoredKeys | undefined> {
    const keys = await this.refresh();
    this.#known = keys ?? this.#known;
    return keys;
  }

  /** The records of `stored` alone. */
  async list(): Promise<readonly KeyRecord[]> {
    return recordsOf(await this.stored());
  }

  /** Adds a key; creates the store if there is none yet. */
  async insert(record: KeyRecord): Promise<void> {
    await this.update((stored) => valid([...recordsOf(stored), record]));
  }

  /** Adds a key only if there is no store yet. Of several concurrent callers, one gets `true`. */
  async insertFirst(record: KeyRecord): Promise<boolean> {
    return this.update((stored) => (stored === undefined ? valid([record]) : undefined));
  }

  /** Adds those keys that are missing, atomically; resolves to how many were added. */
  async insertMissing(records: readonly KeyRecord[]): Promise<number> {
    let count = 0;
    await this.update((stored) => {
      const known = recordsOf(stored);
      const ids = new Set([...known.map(({ id }) => id), ...(stored?.unreadable ?? [])]);
      const missing = records.filter(({ id }) => !ids.has(id));
      count = missing.length;
      return count === 0 ? undefined : valid([...known, ...missing]);
    });
    return count;
  }

  /** Replaces the record of one key. If `change` throws, the error is passed on and nothing is written. */
  async amend(id: string, change: (record: KeyRecord) => Amendment): Promise<Amendment> {
    let amendment: Amendment | undefined;
    await this.update((stored) => {
      const current = recordsOf(stored).find((record) => record.id === id);
      if (current === undefined) throw unknownKey(id, stored);
      const { record, successor } = (amendment = change(current));
      const records = recordsOf(stored).map((other) => (other === current ? record : other));
      return valid(successor === undefined ? records : [...records, successor]);
    });
    if (amendment === undefined) throw new Error('the change was not asked for');
    return amendment;
  }
}

/** How many predictions each key was answered on one UTC day, including those in flight. */
export interface DailyUsage {
  /** Days since 1970-01-01. */
  readonly day: number;
  /** By key id. */
  readonly used: Readonly<Record<string, number>>;
}

export interface LedgerParts {
  readonly limits: Limits;
  readonly clock: Clock;
  /** The keys whose counts it carries, by keyIndex. */
  readonly keys: readonly IndexedRecord[];
}

/** The count of one key on one UTC day. */
export interface Count {
  readonly keyIndex: number;
  readonly id: string;
  readonly day: number;
  readonly used: number;
  /** Whether the key counts on that day now; else it is the day counted before. */
  readonly isNow: boolean;
  /** All tokens taken since the process started. */
  readonly taken: number;
}

/** The counts of the keys that were charged or refunded since the last call. Only one caller may use this. */
export function* takeCounts({ limits, keys, clock }: LedgerParts): Generator<Count> {
  for (const keyIndex of limits.takeChanged()) {
    const key = keys[keyIndex];
    if (key === undefined) continue;
    const { day, used, dayBefore, usedBefore, taken } = limits.tally(keyIndex, key, clock.nowMs());
    const { id } = key;
    if (dayBefore !== 0) yield { keyIndex, id, day: dayBefore, used: usedBefore, isNow: false, taken };
    yield { keyIndex, id, day, used, isNow: true, taken };
  }
}

/** Carries counts beyond this process: over a restart, and to the other replicas if there are any. */
export interface Ledger {
  /** Milliseconds between two saves. */
  readonly everyMs: number;
  /** Whether the counts of other replicas are out of reach: quotas then are this replica's share, rates its own. */
  readonly isLocal: boolean;
  /** Reads the earlier counts, and those of other replicas. Resolves to a warning if there is one. */
  restore(): Promise<string | undefined>;
  save(): Promise<void>;
  /** Saves one last time. */
  close(): Promise<void>;
}

/** How many replicas share the store, and how many have its latest keys. */
export interface Spread {
  readonly replicas: number;
  readonly seen: number;
}

/** The stores at one location: keys, daily counts and their ledger. */
export interface KeyStores {
  readonly keys: KeyStore;
  /** The days from `first` to `last` that have counts, in order. */
  usage(first: number, last: number): Promise<readonly DailyUsage[]>;
  /** Whether several servers share it over a network that may fail; known keys then stay valid for a limited time. */
  readonly isShared: boolean;
  ledger(parts: LedgerParts): Ledger;
  /** How far the last change of keys has come; resolves once all replicas have it, or after a while. */
  spread(): Promise<Spread>;
  /** Closes all connections at once. */
  close(): void;
}

function recordsOf(stored: StoredKeys | undefined): readonly KeyRecord[] {
  return stored?.records ?? [];
}

function unknownKey(id: string, stored: StoredKeys | undefined): KeyStoreError {
  // What was given may be a key: it is quoted only if the store has it as an id.
  if (stored?.unreadable.includes(id) !== true)
    return new KeyStoreError(
      'there is no key with that id: commands take the id that "acuity keys list" shows, never the key',
    );
  return new KeyStoreError(
    `the record of ${JSON.stringify(id)} can't be read by this version, so the key is refused; change it with the version that wrote it, or remove it from the store`,
  );
}

/** Never write what can't be read back. */
function valid(records: readonly KeyRecord[]): readonly KeyRecord[] {
  const fault = faultIn(records);
  if (fault !== undefined) throw new KeyStoreError(`that can't be written to the key store: ${fault}`);
  return records;
}
