import type { KeyStore, UsageStore } from './store.js';

export interface KeyStores {
  readonly keys: KeyStore;
  readonly usage: UsageStore;
}

/** The stores at `file:PATH`, a path relative to the working directory. Throws `KeyStoreError`. */
export function storesAt(_location: string): KeyStores {
  throw new Error('not written yet');
}
