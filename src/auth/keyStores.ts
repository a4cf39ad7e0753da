import type { Ledger, LedgerParts } from './ledger.js';
import type { KeyStore, UsageHistory } from './store.js';

/** The stores at one location: keys, daily counts and their ledger. */
export interface KeyStores {
  readonly keys: KeyStore;
  readonly usage: UsageHistory;
  /** Whether several servers share it over a network that may fail; known keys then stay valid for a limited time. */
  readonly isShared: boolean;
  ledger(parts: LedgerParts): Ledger;
  /** Closes all connections at once. */
  close(): void;
}
