import { join } from 'node:path';
import t from 'tap';
import { Connection, send, sendOn } from '../fixtures/connection.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer, type RunningServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';

interface Issued {
  readonly id: string;
  readonly key: string;
}

const BODY = '{"current_session":{}}';

/** Runs `acuity keys` on the key store of a running server. */
async function operate(location: string, ...args: string[]): Promise<Issued> {
  const env = cleanEnvironment({ ACUITY_KEYS: location });
  const command = [join(REPOSITORY, 'dist/main.js'), 'keys', ...args, '--json'];
  const { code, stdout, stderr } = await ended(process.execPath, command, { cwd: REPOSITORY, env });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Issued;
}

async function status({ port }: RunningServer, key: string): Promise<number> {
  return (await send(port, { headers: { 'X-API-Key': key }, body: BODY })).status;
}

/** Asks until the answer has this status; it never comes where a change is not seen. */
async function until(server: RunningServer, key: string, wanted: number): Promise<void> {
  while ((await status(server, key)) !== wanted);
}

t.test('what the operator does to a running server counts, in each event loop', async (t) => {
  const server = await startServer(t, { env: loopsOf(2) });
  const at = (...args: string[]): Promise<Issued> => operate(server.keyLocation, ...args);
  const [kept, lost, old, expired] = await Promise.all([
    at('issue', '--kind', 'live'),
    at('issue', '--kind', 'live'),
    at('issue', '--kind', 'demo'),
    at('issue', '--kind', 'demo', '--expires', '2020-01-01'),
  ]);
  for (const { key } of [kept, lost, old]) await until(server, key, 200);
  t.equal(await status(server, expired.key), 403);
  const [, successor] = await Promise.all([
    at('revoke', lost.id),
    at('rotate', old.id),
    at('renew', expired.id),
  ]);
  for (const { key } of [lost, old]) await until(server, key, 403);
  for (const { key } of [successor, expired]) await until(server, key, 200);
  t.equal(await status(server, kept.key), 200);
});

t.test('the first key of a store that was not there counts too', async (t) => {
  const location = `file:${join(t.testdir(), 'deeper', 'still', 'keys.json')}`;
  const server = await startServer(t, { env: { ACUITY_KEYS: location } });
  const { key } = await operate(location, 'issue', '--kind', 'live');
  await until(server, key, 200);
  t.pass('it is taken');
});

t.test('a key is held to one bucket over connections on two event loops', async (t) => {
  const ratePerS = 5; // so low that a starved machine asks for more too
  const server = await startServer(t, {
    env: loopsOf(2),
    keys: [{ kind: 'live', ratePerS, dailyMax: null }],
  });
  const headers = { 'X-API-Key': server.keys[1]?.key ?? '' };
  const connections = await Promise.all(Array.from({ length: 20 }, () => Connection.open(server.port)));
  t.teardown(() => connections.forEach((connection) => connection.destroy()));
  const startMs = performance.now();
  const statuses: number[] = [];
  for (let round = 0; round < 10; round++) {
    const replies = connections.map((connection) => sendOn(connection, { headers, body: BODY }));
    statuses.push(...(await Promise.all(replies)).map((reply) => reply.status));
  }
  const served = statuses.filter((one) => one === 200).length;
  // The bucket's arithmetic, at any speed of the machine; two buckets would give the burst twice.
  const most = 2 * ratePerS + (ratePerS * (performance.now() - startMs)) / 1000 + 1;
  t.ok(served <= most, `${served} of ${statuses.length} served, at most ${most}`);
  t.strictSame(new Set(statuses), new Set([200, 429]));
});
