import { RedisConnection } from './redisConnection.js';
import { RedisCounts } from './redisCounts.js';
import { RedisKeyStore } from './redisKeys.js';
import { CHANNEL, fieldsAt, fieldsOf, KEYS, usageKey, type StoreTransport } from './redisNames.js';
import type { DailyUsage, KeyStores, Spread } from './store.js';

/** Revocations take a second, and two where a push was lost. */
const SPREAD_MS = 2500;
const EVERY_MS = 100;

/** The stores at `redis[s]://…`. Opens no connection yet. Throws `KeyStoreError`. */
export function redisStores(url: string): KeyStores {
  // One for keys and one for counts, so that reading a long list of keys delays no report.
  const connection = new RedisConnection({ url });
  const counts = new RedisConnection({ url });
  const listen = (onMessage: () => void): RedisConnection =>
    new RedisConnection({ url, channel: CHANNEL, onMessage });
  const keys = new RedisKeyStore(connection, listen);
  return {
    keys,
    usage: (first, last) => usageOf(connection, first, last),
    isShared: true,
    ledger: (parts) => new RedisCounts(parts, counts, () => keys.token),
    spread: () => spreadOf(connection),
    close() {
      connection.close();
      counts.close();
    },
  };
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
    const [token, fields] = await connection.sendAll([
      ['GET', KEYS.token],
      ['HGETALL', KEYS.replicas],
    ]);
    const tokens = [...fieldsOf(fields).values()].map((field) => field.split(' ')[1]);
    const spread = { replicas: tokens.length, seen: tokens.filter((seen) => seen === token).length };
    if (spread.seen === spread.replicas || performance.now() > endsMs) return spread;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
