import type { Clock } from '../base/clock.js';
import type { IndexedRecord } from './keyTable.js';

/** The keys that a ledger counts for. */
export interface LedgerKeys {
  at(keyIndex: number): IndexedRecord | undefined;
  all(): Iterable<IndexedRecord>;
}

export interface LedgerParts {
  /** Of the limits, as `allocateLimits` made it. */
  readonly memory: SharedArrayBuffer;
  readonly clock: Clock;
  readonly keys: LedgerKeys;
}

/** Carries what was counted beyond this process: over a restart, and to the other replicas where there are some. */
export interface Ledger {
  /** Milliseconds between two saves. */
  readonly everyMs: number;
  /** Whether limits that should hold over all replicas hold for this one alone at the moment: it keeps to its share. */
  readonly isLocal: boolean;
  /** Takes over what was counted before, and elsewhere. */
  restore(): Promise<void>;
  save(): Promise<void>;
  /** Saves a last time. */
  close(): Promise<void>;
}
