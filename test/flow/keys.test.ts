import { join } from 'node:path';
import t from 'tap';
import { send } from '../fixtures/connection.js';
import { REPOSITORY, cleanEnvironment, ended } from '../fixtures/scripts.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

interface Issued {
  readonly id: string;
  readonly key: string;
}

/** Runs `acuity keys` on the key store of a running server. */
async function operate(server: RunningServer, ...args: string[]): Promise<Issued> {
  const env = cleanEnvironment({ ACUITY_KEYS: server.keyLocation });
  const command = [join(REPOSITORY, 'dist/main.js'), 'keys', ...args, '--json'];
  const { code, stdout, stderr } = await ended(process.execPath, command, { cwd: REPOSITORY, env });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Issued;
}

async function status({ port }: RunningServer, key: string): Promise<number> {
  const { status, body } = await send(port, {
    headers: { 'X-API-Key': key },
    body: '{"current_session":{}}',
  });
  if (status === 403 && body !== '{"detail":"Invalid or missing API key"}') throw new Error(body);
  return status;
}

/** What the operator does takes effect within a second. */
function second(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1000));
}

const server = await startServer(t);

t.test('a key that is issued while the server runs is good a second later', async (t) => {
  const { key } = await operate(server, 'issue', '--kind', 'demo');
  await second();
  t.equal(await status(server, key), 200);
});

t.test('a key that is issued expired is refused', async (t) => {
  const { key } = await operate(server, 'issue', '--kind', 'live', '--expires', '2020-01-01');
  await second();
  t.equal(await status(server, key), 403);
});

t.test('a revoked key is refused a second later, another one is not', async (t) => {
  const [one, other] = [
    await operate(server, 'issue', '--kind', 'live'),
    await operate(server, 'issue', '--kind', 'live'),
  ];
  await second();
  t.equal(await status(server, one.key), 200);
  await operate(server, 'revoke', one.id);
  await second();
  t.equal(await status(server, one.key), 403);
  t.equal(await status(server, other.key), 200);
});

t.test('a renewed key is good again', async (t) => {
  const { id, key } = await operate(server, 'issue', '--kind', 'demo', '--expires', '2020-01-01');
  await operate(server, 'renew', id);
  await second();
  t.equal(await status(server, key), 200);
});

t.test('a rotated key is refused, its successor is good', async (t) => {
  const old = await operate(server, 'issue', '--kind', 'live');
  const successor = await operate(server, 'rotate', old.id);
  await second();
  t.equal(await status(server, old.key), 403);
  t.equal(await status(server, successor.key), 200);
});
