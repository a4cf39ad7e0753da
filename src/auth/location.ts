/** Opens the stores at the location in ACUITY_KEYS: a file, or Redis. */
import { resolve } from 'node:path';
import { directFiles, type Files } from '../base/files/files.js';
import { attend } from '../base/files/presence.js';
import { FileCounts, UsageFiles } from './file/fileCounts.js';
import { FileKeyStore } from './file/fileStore.js';
import { KeyStoreError } from './record.js';
import { RedisCounts } from './redis/redisCounts.js';
import { RedisKeyStore } from './redis/redisKeys.js';
import { fieldsAt, fieldsOf, KEYS, usageKey, type StoreTransport } from './redis/redisNames.js';
import type { DailyUsage, KeyStores, Spread } from './store.js';

/** Revocations take a second, and two where a push was lost. */
const SPREAD_MS = 2500;
const EVERY_MS = 100;
/** A command may wait longer for the store than a server, which has to find another primary in time. */
const COMMAND_TIMEOUT_MS = 5000;

/** How to reach files without waiting for the disk, on a server. */
export interface StoreFiles {
  readonly keys: Files;
  readonly usage: Files;
}

/** The stores at `file:PATH` or `redis[s]://…`. Opens no connection yet. Rejects with `KeyStoreError`. */
export async function openStores(location: string, files?: StoreFiles): Promise<KeyStores> {
  if (!/^rediss?:\/\//.test(location)) return storesAt(location, files);
  // Loaded only when needed: the client takes memory and time to load.
  const { RedisAddress } = await import('./redis/redisConnection.js');
  const address = new RedisAddress(location, files === undefined ? COMMAND_TIMEOUT_MS : undefined);
  // One for keys and one for counts, so that reading a long list of keys delays no report.
  const [connection, counts] = [address.line(), address.line()];
  const keys = new RedisKeyStore(connection, (onMessage) => address.line(onMessage));
  return {
    keys,
    usage: (first, last) => usageOf(connection, first, last),
    isShared: true,
    ledger: (parts) => new RedisCounts(parts, counts, () => keys.token),
    spread: () => spreadOf(connection),
    close: () => address.close(),
  };
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
    ledger: (parts) => new FileCounts(parts, usage, () => attend(path, files?.keys ?? directFiles)),
    close: () => undefined,
  };
}

/** The location with its whole path, without the user and password of a shared store. Throws `KeyStoreError`. */
export function placeOf(location: string): string {
  if (!/^rediss?:\/\//.test(location)) return `file:${filePath(location)}`;
  const { protocol, host, pathname } = new URL(location);
  return `${protocol}//${host}${pathname}`;
}

/** Never quote the location: the URL of a shared store may hold a password. */
function filePath(location: string): string {
  const path = /^file:(\/\/(?=\/))?(.+)$/.exec(location)?.[2];
  if (path === undefined || path.startsWith('//'))
    throw new KeyStoreError('the key store must be given as file:PATH, redis://… or rediss://…');
  return resolve(path);
}

async function usageOf(connection: StoreTransport, first: number, last: number): Promise<DailyUsage[]> {
  const days: DailyUsage[] = [];
  for (let day = first; day <= last; day++) {
    const counts = [...(await fieldsAt(connection, usageKey(day)))];
    if (counts.length > 0)
      days.push({ day, used: Object.fromEntries(counts.map(([id, used]) => [id, Number(used)])) });
  }
  return days;
}

/** Waits until all replicas say that they have the keys as they are now, or for a while. */
async function spreadOf(connection: StoreTransport): Promise<Spread> {
  const endsMs = performance.now() + SPREAD_MS;
  for (;;) {
    const [token, fields] = await connection.readAll([
      ['GET', KEYS.token],
      ['HGETALL', KEYS.replicas],
    ]);
    const tokens = [...fieldsOf(fields).values()].map((field) => field.split(' ')[1]);
    const spread = { replicas: tokens.length, seen: tokens.filter((seen) => seen === token).length };
    if (spread.seen === spread.replicas || performance.now() > endsMs) return spread;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
