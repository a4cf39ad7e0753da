import { resolve } from 'node:path';
import type { Files } from '../files/files.js';
import { FileCounts, UsageFiles } from './fileCounts.js';
import { FileKeyStore } from './fileStore.js';
import { KeyStoreError } from './record.js';
import type { KeyStores } from './store.js';

/** How to reach files without waiting for the disk, on a server. */
export interface StoreFiles {
  readonly keys: Files;
  readonly usage: Files;
}

/** The stores at `file:PATH` or `redis[s]://…`. Opens no connection yet. Rejects with `KeyStoreError`. */
export async function openStores(location: string, files?: StoreFiles): Promise<KeyStores> {
  if (!/^rediss?:\/\//.test(location)) return storesAt(location, files);
  // Loaded only when needed: the client takes memory and time to load.
  const { redisStores } = await import('./redisStores.js');
  return redisStores(location);
}

/** The stores at `file:PATH`, a path relative to the working directory. Throws `KeyStoreError`. */
export function storesAt(location: string, files?: StoreFiles): KeyStores {
  const path = filePath(location);
  const usage = new UsageFiles(`${path.replace(/\.json$/, '')}.usage.json`, files?.usage);
  return {
    keys: new FileKeyStore(path, files?.keys),
    usage: (first, last) => usage.days(first, last),
    isShared: false,
    spread: () => Promise.resolve({ replicas: 0, seen: 0 }),
    ledger: (parts) => new FileCounts(parts, usage),
    close: () => undefined,
  };
}

/** Never quote the location: the URL of a shared store may hold a password. */
function filePath(location: string): string {
  const path = /^file:(\/\/(?=\/))?(.+)$/.exec(location)?.[2];
  if (path === undefined || path.startsWith('//'))
    throw new KeyStoreError('the key store must be given as file:PATH, redis://… or rediss://…');
  return resolve(path);
}
