import t from 'tap';
import { openStores } from '#acuity/auth/location.js';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { dayOf } from '#acuity/auth/limits.js';
import { requestBody } from '../fixtures/bodies.js';
import { REDIS, startStore } from '../fixtures/redis.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

const { skip } = REDIS;
const BODY = JSON.stringify(requestBody());
const WAIT_MS = 30_000;

async function predict({ port }: RunningServer, key: string, body = BODY): Promise<number> {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${port}/predict`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

async function admin({ adminPort }: RunningServer, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${adminPort}${path}`);
  return { status: response.status, text: await response.text() };
}

/** Asks again until it is so. */
async function untilIt(holds: () => Promise<boolean>): Promise<boolean> {
  const endsMs = Date.now() + WAIT_MS;
  while (Date.now() < endsMs) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

t.test('a replica at a shared store', { skip }, async (t) => {
  const store = await startStore(t, { isKept: true });
  const stores = await openStores(store.url);
  t.teardown(() => stores.close());
  const { record, key } = issue({ kind: 'live', ratePerS: null }, Date.now());
  await stores.keys.insert(record);
  const server = await startServer(t, { env: { ACUITY_KEYS: store.url, ACUITY_STOP_DELAY_MS: '4000' } });
  const used = async (): Promise<number | undefined> => {
    const today = dayOf(Date.now());
    return (await stores.usage(today - 1, today)).reduce((sum, day) => sum + (day.used[record.id] ?? 0), 0);
  };

  t.test('it takes the keys of the store, and counts what it answers', async (t) => {
    t.equal(await predict(server, key), 200);
    t.equal(await predict(server, key, '{"current_session":7}'), 422);
    t.equal(await predict(server, key), 200);
    t.ok(await untilIt(async () => (await used()) === 2));
    const other = issue({ kind: 'live' }, Date.now());
    await stores.keys.insert(other.record);
    t.ok(await untilIt(async () => (await predict(server, other.key)) === 200), 'issued');
    await stores.keys.amend(other.record.id, (current) => revoked(current, Date.now()));
    t.ok(await untilIt(async () => (await predict(server, other.key)) === 403), 'revoked');
  });

  t.test('without the store it goes on, and reports that', async (t) => {
    t.match((await admin(server, '/metrics')).text, /^acuity_limits_local 0$/m);
    await store.kill();
    t.ok(await untilIt(async () => /^acuity_limits_local 1$/m.test((await admin(server, '/metrics')).text)));
    t.equal(await predict(server, key), 200);
    t.match(server.output(), /can't reach the key store/);
    t.equal((await admin(server, '/readyz')).status, 200);
    await store.start();
    t.ok(await untilIt(async () => /^acuity_limits_local 0$/m.test((await admin(server, '/metrics')).text)));
    t.ok(await untilIt(async () => (await used()) === 3));
  });

  t.test('a stopping replica says not ready before it refuses requests', async (t) => {
    server.signal('SIGTERM');
    t.ok(await untilIt(async () => (await admin(server, '/readyz')).status === 503));
    t.equal(await predict(server, key), 200, 'who did not look yet is answered');
    t.strictSame(await server.exited, { code: 0, signal: null });
    t.equal(await used(), 4, 'the last counts are written');
    t.notMatch(server.output(), key);
  });
});

t.test('a store that can’t be reached stops the start, without its password', { skip }, async (t) => {
  await t.rejects(startServer(t, { env: { ACUITY_KEYS: 'redis://user:secret@127.0.0.1:1' } }), {
    message: /ended with 1: (?!.*secret).*can't reach the key store: connection refused/s,
  });
});
