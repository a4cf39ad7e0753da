import { resolve } from 'node:path';
import type { Files } from '../files/files.js';
import { FileKeyStore } from './fileStore.js';
import { FileUsageStore } from './fileUsage.js';
import type { KeyStores } from './keyStores.js';
import { KeyStoreError } from './store.js';
import { Usage } from './usage.js';

/** The stores of one server, in files. */
export interface FileStores extends KeyStores {
  readonly keys: FileKeyStore;
  readonly usage: FileUsageStore;
}

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
export function storesAt(location: string, files?: StoreFiles): FileStores {
  const path = filePath(location);
  const usage = new FileUsageStore(`${path.replace(/\.json$/, '')}.usage.json`, files?.usage);
  return {
    keys: new FileKeyStore(path, files && { files: files.keys }),
    usage,
    isShared: false,
    spread: () => Promise.resolve({ replicas: 0, seen: 0 }),
    ledger: (parts) => new Usage({ ...parts, store: usage }),
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
