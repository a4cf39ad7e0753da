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
  /** Whether fleet-wide limits hold for this replica alone at the moment: it then keeps to its share. */
  readonly isLocal: boolean;
  /** Reads the earlier counts, and those of other replicas. */
  restore(): Promise<void>;
  save(): Promise<void>;
  /** Saves one last time. */
  close(): Promise<void>;
}
