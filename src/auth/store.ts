import { OperatorError } from '../base/operatorError.js';
import { FileLockError } from '../files/fileLock.js';
import { systemReason } from '../files/fileError.js';

export type KeyKind = 'demo' | 'live';

/** A key as it is stored: never the key itself. Times are ISO 8601 in UTC. */
export interface KeyRecord {
  /** Identifies the key to operators, in logs and in metrics. Not a secret. */
  readonly id: string;
  readonly kind: KeyKind;
  /** SHA-256 of the key, base64url. */
  readonly digest: string;
  readonly label: string;
  readonly createdAt: string;
  /** `null`: never. */
  readonly expiresAt: string | null;
  /** `null`: not revoked. */
  readonly revokedAt: string | null;
  /** Requests per second in the long run; `null`: unlimited. */
  readonly ratePerS: number | null;
  /** Answers with 200 in a UTC day; `null`: unlimited. */
  readonly dailyMax: number | null;
}

/** What `KeyStore.amend` writes, in one step. */
export interface Amendment {
  readonly record: KeyRecord;
  /** A new key that replaces the amended one. */
  readonly successor?: KeyRecord;
}

/** The keys of a store at one moment. */
export interface StoredKeys {
  /** Oldest first. */
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

/**
 * Where keys are kept. Each write is atomic, and concurrent writers, in this process or another, lose nothing. All
 * methods reject with `KeyStoreError`.
 */
export interface KeyStore {
  /** Every key; none if there is no store yet. */
  read(): Promise<StoredKeys>;
  /** The records alone. */
  list(): Promise<readonly KeyRecord[]>;
  /** Adds a key; creates the store if there is none yet. */
  insert(record: KeyRecord): Promise<void>;
  /** Adds a key only if there is no store yet. Of several concurrent callers, one gets `true`. */
  insertFirst(record: KeyRecord): Promise<boolean>;
  /** Adds those keys that are missing, atomically; resolves to how many were added. */
  insertMissing(records: readonly KeyRecord[]): Promise<number>;
  /** Replaces the record of one key. If `change` throws, the error is passed on and nothing is written. */
  amend(id: string, change: (record: KeyRecord) => Amendment): Promise<Amendment>;
  /**
   * Reports changes, usually at once and always within a second (a second more if a push is lost), until the returned function is called. Keeps no
   * process alive.
   */
  watch(watcher: KeyStoreWatcher): () => void;
}

/** How many predictions each key was answered on one UTC day, including those in flight. */
export interface DailyUsage {
  /** Days since 1970-01-01. */
  readonly day: number;
  /** By key id. */
  readonly used: Readonly<Record<string, number>>;
}

/** Keeps the daily counts over a restart. */
export interface UsageStore {
  /** The counts of `day`, else those written last. */
  read(day: number): Promise<DailyUsage | undefined>;
  write(usage: DailyUsage): Promise<void>;
}

/** The counts of days, today included. */
export interface UsageHistory {
  /** The days from `first` to `last` that have counts, in order. */
  days(first: number, last: number): Promise<readonly DailyUsage[]>;
}

/** An operating error of the store, worded for the operator in one line. Never contains a key. */
export class KeyStoreError extends OperatorError {
  override readonly name = 'KeyStoreError';
}

/** A shared store has lost all keys, or says nothing of their last change: that is no answer, keep the keys. */
export class EmptyStoreError extends KeyStoreError {}

/** Rewords a system error for the operator; returns any other error unchanged. */
export function storeError(action: string, error: unknown): unknown {
  if (error instanceof FileLockError) return new KeyStoreError(error.message, { cause: error });
  const reason = systemReason(error);
  return reason === undefined ? error : new KeyStoreError(`can't ${action}: ${reason}`, { cause: error });
}
