import type { Ledger, LedgerParts } from './ledger.js';
import type { KeyStore, UsageHistory } from './store.js';

/** All that lies in one place: keys, counts, and what keeps them. */
export interface KeyStores {
  readonly keys: KeyStore;
  readonly usage: UsageHistory;
  /** Whether several servers share it, over a network that may fail: known keys hold for a limited time then. */
  readonly isShared: boolean;
  ledger(parts: LedgerParts): Ledger;
  /** Ends what is open, at once. */
  close(): void;
}
