import t from 'tap';
import { openStores } from '#acuity/auth/location.js';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { requestBody } from '../fixtures/bodies.js';
import { REDIS, startStore, usedOf } from '../fixtures/redis.js';
import { CLEAN, startServer } from '../fixtures/server.js';
import { until } from '../fixtures/until.js';

const { skip } = REDIS;
const BODY = JSON.stringify(requestBody());

t.test('a replica at a shared store', { skip }, async (t) => {
  const store = await startStore(t, { isKept: true });
  const stores = await openStores(store.url);
  t.teardown(() => stores.close());
  const { record, key } = issue({ kind: 'live', ratePerS: null }, Date.now());
  await stores.keys.insert(record);
  const server = await startServer(t, { env: { ACUITY_KEYS: store.url, ACUITY_STOP_DELAY_MS: '3000' } });
  const used = (): Promise<number> => usedOf(stores, record.id);
  const predict = async (key: string, body = BODY): Promise<number> =>
    (await server.predict(body, key)).status;
  const ready = async (): Promise<number> => (await server.get('/readyz')).status;
  const isLocal = (): Promise<number> => server.metric('acuity_limits_local');

  await t.test('it takes the keys of the store, and counts what it answers', async (t) => {
    t.equal(await predict(key), 200);
    t.equal(await predict(key, '{"current_session":7}'), 422);
    t.equal(await predict(key), 200);
    await until(async () => (await used()) === 2);
    const other = issue({ kind: 'live' }, Date.now());
    await stores.keys.insert(other.record);
    await until(async () => (await predict(other.key)) === 200);
    await stores.keys.amend(other.record.id, (current) => revoked(current, Date.now()));
    await until(async () => (await predict(other.key)) === 403);
  });

  await t.test('without the store it goes on, and reports that', async (t) => {
    t.equal(await isLocal(), 0);
    await store.kill();
    await until(async () => (await isLocal()) === 1);
    t.equal(await predict(key), 200);
    t.match(server.output(), /can't reach the key store/);
    t.equal(await ready(), 200);
    await store.start();
    await until(async () => (await isLocal()) === 0 && (await used()) === 3);
  });

  await t.test('a stopping replica says not ready before it refuses requests', async (t) => {
    server.signal('SIGTERM');
    await until(async () => (await ready()) === 503);
    t.equal(await predict(key), 200, 'who did not look yet is answered');
    t.strictSame(await server.exited, CLEAN);
    t.equal(await used(), 4, 'the last counts are written');
    t.notMatch(server.output(), key);
  });
});

t.test('a store that can’t be reached stops the start, without its password', { skip }, async (t) => {
  await t.rejects(startServer(t, { env: { ACUITY_KEYS: 'redis://user:secret@127.0.0.1:1' } }), {
    message: /ended with 1: (?!.*secret).*can't reach the key store: connection refused/s,
  });
});
