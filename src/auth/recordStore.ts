import { faultInRecord } from './keyRecord.js';
import {
  KeyStoreError,
  type Amendment,
  type KeyRecord,
  type KeyStore,
  type KeyStoreWatcher,
  type StoredKeys,
} from './store.js';

/** What a store makes of its keys; `undefined` as argument: there is no store yet, as result: nothing to write. */
export type Change = (stored: StoredKeys | undefined) => readonly KeyRecord[] | undefined;

/** What all key stores do alike. A store of its own reads, watches, and writes all keys in one step. */
export abstract class RecordStore implements KeyStore {
  abstract read(): Promise<StoredKeys>;
  abstract watch(watcher: KeyStoreWatcher): () => void;

  /**
   * Puts what `change` makes of the keys in their place, atomically, and resolves to whether anything was written. May
   * call it again if another writer was first. Passes on what it throws.
   */
  protected abstract update(change: Change): Promise<boolean>;

  async list(): Promise<readonly KeyRecord[]> {
    return (await this.read()).records;
  }

  async insert(record: KeyRecord): Promise<void> {
    await this.update((stored) => valid([...recordsOf(stored), record]));
  }

  async insertFirst(record: KeyRecord): Promise<boolean> {
    return this.update((stored) => (stored === undefined ? valid([record]) : undefined));
  }

  async insertMissing(records: readonly KeyRecord[]): Promise<number> {
    let count = 0;
    await this.update((stored) => {
      const known = recordsOf(stored);
      const ids = new Set([...known.map(({ id }) => id), ...(stored?.unreadable ?? [])]);
      const missing = records.filter(({ id }) => !ids.has(id));
      count = missing.length;
      return count === 0 ? undefined : valid([...known, ...missing]);
    });
    return count;
  }

  async amend(id: string, change: (record: KeyRecord) => Amendment): Promise<Amendment> {
    let amendment: Amendment | undefined;
    await this.update((stored) => {
      const current = recordsOf(stored).find((record) => record.id === id);
      if (current === undefined) throw unknownKey(id, stored);
      const { record, successor } = (amendment = change(current));
      const records = recordsOf(stored).map((other) => (other === current ? record : other));
      return valid(successor === undefined ? records : [...records, successor]);
    });
    if (amendment === undefined) throw new Error('the change was not asked for');
    return amendment;
  }
}

function recordsOf(stored: StoredKeys | undefined): readonly KeyRecord[] {
  return stored?.records ?? [];
}

function unknownKey(id: string, stored: StoredKeys | undefined): KeyStoreError {
  const name = JSON.stringify(id);
  if (stored?.unreadable.includes(id) !== true) return new KeyStoreError(`there is no key ${name}`);
  return new KeyStoreError(
    `the record of ${name} can't be read by this version, so the key is refused; change it with the version that wrote it`,
  );
}

/** Never write what can't be read back. */
function valid(records: readonly KeyRecord[]): readonly KeyRecord[] {
  for (const record of records) {
    const fault = faultInRecord(record);
    if (fault !== undefined) throw new KeyStoreError(`this is no record of a key: ${fault}`);
  }
  const ids = new Set(records.map(({ id }) => id));
  const digests = new Set(records.map(({ digest }) => digest));
  if (ids.size < records.length || digests.size < records.length)
    throw new KeyStoreError('the key store would hold a key twice');
  return records;
}
