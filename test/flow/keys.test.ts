import { join } from 'node:path';
import t from 'tap';
import { Connection, send, sendOn } from '../fixtures/connection.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';
import { until } from '../fixtures/until.js';

interface Issued {
  readonly id: string;
  readonly key: string;
}

const BODY = '{"current_session":{}}';
const RATE_PER_S = 5; // so low that a starved machine asks for more too

// A store that is not there yet when the service starts.
const location = `file:${join(t.testdir(), 'deeper', 'still', 'keys.json')}`;
const server = await startServer(t, { env: { ...loopsOf(2), ACUITY_KEYS: location } });

/** Runs `acuity keys` on the key store of the running server. */
async function operate(...args: string[]): Promise<Issued> {
  const env = cleanEnvironment({ ACUITY_KEYS: location });
  const command = [join(REPOSITORY, 'dist/main.js'), 'keys', ...args, '--json'];
  const { code, stdout, stderr } = await ended(process.execPath, command, { cwd: REPOSITORY, env });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Issued;
}

/** Asks until the answer has this status. */
const answered = (key: string, wanted: number): Promise<void> =>
  until(
    async () => (await send(server.port, { headers: { 'X-API-Key': key }, body: BODY })).status === wanted,
  );

t.test('what the operator does to a running server counts, in each event loop', async (t) => {
  const old = await operate('issue', '--kind', 'demo', '--rate', 'unlimited');
  await answered(old.key, 200);
  const successor = await operate('rotate', old.id);
  await answered(old.key, 403);
  await answered(successor.key, 200);
  await operate('renew', successor.id);
  const other = await operate('issue', '--kind', 'live');
  await answered(other.key, 200);
  await operate('revoke', successor.id);
  await answered(successor.key, 403);
  await answered(other.key, 200);
  t.pass('of each event loop: until the answer has its status');
});

t.test('a key is held to one bucket over connections on two event loops', async (t) => {
  const { key } = await operate('issue', '--kind', 'live', '--rate', String(RATE_PER_S));
  await answered(key, 200);
  const headers = { 'X-API-Key': key };
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
  const most = 2 * RATE_PER_S + (RATE_PER_S * (performance.now() - startMs)) / 1000 + 1;
  t.ok(served <= most, `${served} of ${statuses.length} served, at most ${most}`);
  t.strictSame(new Set(statuses), new Set([200, 429]));
});
