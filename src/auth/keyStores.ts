import type { Ledger, LedgerParts } from './ledger.js';
import type { KeyStore, UsageHistory } from './store.js';

/** Of how many replicas that share a store so many have its keys as they are now. */
export interface Spread {
  readonly replicas: number;
  readonly seen: number;
}

/** The stores at one location: keys, daily counts and their ledger. */
export interface KeyStores {
  readonly keys: KeyStore;
  readonly usage: UsageHistory;
  /** Whether several servers share it over a network that may fail; known keys then stay valid for a limited time. */
  readonly isShared: boolean;
  ledger(parts: LedgerParts): Ledger;
  /** How far the last change of keys has come; resolves once all replicas have it, or after a while. */
  spread(): Promise<Spread>;
  /** Closes all connections at once. */
  close(): void;
}
