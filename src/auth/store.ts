import { OperatorError } from '../base/operatorError.js';
import { FileLockError } from '../files/fileLock.js';
import { systemReason } from '../files/fileError.js';

export type KeyKind = 'demo' | 'live';

/** A key as it is stored: never the key itself. Times are ISO 8601 in UTC. */
export interface KeyRecord {
  /** Names the key to operators, in logs and in metrics. Not a secret. */
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
  /** A new key that takes the place of the amended one. */
  readonly successor?: KeyRecord;
}

export interface KeyStoreWatcher {
  /** The whole store as it is now; called after each change, whoever made it. */
  onChange(records: readonly KeyRecord[]): void;
  /** The store was looked at: what was told last is in force. */
  onSeen(): void;
  /** The store can't be read at the moment; the last records told still hold. */
  onProblem(error: Error): void;
}

/**
 * Where keys are kept. Each write is one step: it happens whole or not at all, and concurrent writers,
 * in this process or another, lose nothing. All methods reject with `KeyStoreError`.
 */
export interface KeyStore {
  /** Every key, the oldest first; none where there is no store yet. */
  list(): Promise<readonly KeyRecord[]>;
  /** Adds a key; makes the store where there is none yet. */
  insert(record: KeyRecord): Promise<void>;
  /** Adds a key only where there is no store yet. Of several callers at once, one is told `true`. */
  insertFirst(record: KeyRecord): Promise<boolean>;
  /** Adds those keys that are not there, all of them in one step; resolves to how many they were. */
  insertMissing(records: readonly KeyRecord[]): Promise<number>;
  /** Replaces the record of one key. What `change` throws is passed on, and nothing is written. */
  amend(id: string, change: (record: KeyRecord) => Amendment): Promise<Amendment>;
  /** Tells about changes, most of them at once and each within half a second, until the returned function is called. Keeps no process alive. */
  watch(watcher: KeyStoreWatcher): () => void;
}

/** How many predictions each key was answered on one UTC day; those that are being made count as well. */
export interface DailyUsage {
  /** Days since 1970-01-01. */
  readonly day: number;
  /** By key id. */
  readonly used: Readonly<Record<string, number>>;
}

/** Where the daily counts outlive a restart. */
export interface UsageStore {
  read(): Promise<DailyUsage | undefined>;
  write(usage: DailyUsage): Promise<void>;
}

/** The counts of days, today's and those before. */
export interface UsageHistory {
  /** Of the days from `first` to `last`, those on which something was counted, in order. */
  days(first: number, last: number): Promise<readonly DailyUsage[]>;
}

/** An operating error of the store, worded for the operator in one line. Holds no key. */
export class KeyStoreError extends OperatorError {
  override readonly name = 'KeyStoreError';
}

/** Words an error of the system for the operator; passes any other error on unchanged. */
export function storeError(action: string, error: unknown): unknown {
  if (error instanceof FileLockError) return new KeyStoreError(error.message, { cause: error });
  const reason = systemReason(error);
  return reason === undefined ? error : new KeyStoreError(`can't ${action}: ${reason}`, { cause: error });
}
