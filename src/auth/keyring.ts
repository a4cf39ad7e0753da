import type { Clock } from '../base/clock.js';
import type { SlottedRecord } from './gate.js';
import type { Limits } from './limits.js';
import type { KeyStore, UsageStore } from './store.js';

export interface KeyringOptions {
  readonly store: KeyStore;
  readonly usage: UsageStore;
  readonly limits: Limits;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Called with the first records before `openKeyring` resolves, then after each change: feed the gates. */
  onRecords(records: readonly SlottedRecord[]): void;
  /** The store or the usage file failed on a running server, which goes on with what it has. */
  onProblem(error: Error): void;
}

export interface Keyring {
  /** For gates that are made later, as in a replaced thread. */
  readonly records: readonly SlottedRecord[];
  /** Stops watching and writes the daily counts a last time. */
  close(): Promise<void>;
}

/** Owns the store, the slots and the daily counts of this process. Rejects where the store can't be read. */
export function openKeyring(_options: KeyringOptions): Promise<Keyring> {
  return Promise.reject(new Error('not written yet'));
}
