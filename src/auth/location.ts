import { resolve } from 'node:path';
import type { Files } from '../files/files.js';
import { FileKeyStore } from './fileStore.js';
import { FileUsageStore } from './fileUsage.js';
import { KeyStoreError, type KeyStore, type UsageStore } from './store.js';

export interface KeyStores {
  readonly keys: KeyStore;
  readonly usage: UsageStore;
}

/** How files are reached where a server must not wait for the disk. */
export interface StoreFiles {
  readonly keys: Files;
  readonly usage: Files;
}

/** The stores at `file:PATH`, a path relative to the working directory. Throws `KeyStoreError`. */
export function storesAt(location: string, files?: StoreFiles): KeyStores {
  const path = filePath(location);
  return {
    keys: new FileKeyStore(path, files && { files: files.keys }),
    usage: new FileUsageStore(`${path.replace(/\.json$/, '')}.usage.json`, files?.usage),
  };
}

/** The location itself is never quoted: that of a shared store may hold a password. */
function filePath(location: string): string {
  if (/^rediss?:/.test(location)) throw new KeyStoreError('key stores at redis:// are not supported yet');
  const path = /^file:(\/\/(?=\/))?(.+)$/.exec(location)?.[2];
  if (path === undefined || path.startsWith('//'))
    throw new KeyStoreError('the key store must be given as file:PATH');
  return resolve(path);
}
