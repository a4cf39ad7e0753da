import type { Clock } from '../base/clock.js';
import type { IndexedRecord } from './keyTable.js';

/** The keys whose counts a ledger carries. */
export interface LedgerKeys {
  at(keyIndex: number): IndexedRecord | undefined;
  all(): Iterable<IndexedRecord>;
}

export interface LedgerParts {
  /** Of the limits, made by `allocateLimits`. */
  readonly memory: SharedArrayBuffer;
  readonly clock: Clock;
  readonly keys: LedgerKeys;
}

/** Carries counts beyond this process: over a restart, and to the other replicas if there are any. */
export interface Ledger {
  /** Milliseconds between two saves. */
  readonly everyMs: number;
  /** Whether the counts of other replicas are out of reach: quotas then are this replica's share, rates its own. */
  readonly isLocal: boolean;
  /** Reads the earlier counts, and those of other replicas. */
  restore(): Promise<void>;
  save(): Promise<void>;
  /** Saves one last time. */
  close(): Promise<void>;
}
