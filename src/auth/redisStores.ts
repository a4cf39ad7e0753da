import type { KeyStores } from './keyStores.js';
import { RedisConnection } from './redisConnection.js';
import { RedisLedger } from './redisLedger.js';
import { CHANNEL, usageKey } from './redisScripts.js';
import { RedisKeyStore } from './redisStore.js';
import type { DailyUsage } from './store.js';

/** The stores at `redis[s]://…`. Opens no connection yet. Throws `KeyStoreError`. */
export function redisStores(url: string): KeyStores {
  // One for keys and one for counts, so that reading a long list of keys delays no report.
  const connection = new RedisConnection({ url });
  const counts = new RedisConnection({ url });
  const listen = (onMessage: () => void): RedisConnection =>
    new RedisConnection({ url, channel: CHANNEL, onMessage });
  return {
    keys: new RedisKeyStore(connection, listen),
    usage: { days: (first, last) => usageOf(connection, first, last) },
    isShared: true,
    ledger: (parts) => new RedisLedger({ ...parts, connection: counts }),
    close() {
      connection.close();
      counts.close();
    },
  };
}

async function usageOf(connection: RedisConnection, first: number, last: number): Promise<DailyUsage[]> {
  const days: DailyUsage[] = [];
  for (let day = first; day <= last; day++) {
    const used: Record<string, number> = {};
    for await (const [id, count] of connection.hash(usageKey(day))) used[id] = Number(count);
    if (Object.keys(used).length > 0) days.push({ day, used });
  }
  return days;
}
