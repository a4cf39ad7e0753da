import { join } from 'node:path';
import t from 'tap';
import { send } from '../fixtures/connection.js';
import { REPOSITORY, cleanEnvironment } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
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

/** Asks until the answer has this status; it never comes where a change is not seen. */
async function until(server: RunningServer, key: string, wanted: number): Promise<void> {
  while ((await status(server, key)) !== wanted);
}

for (const loops of ['1', '2']) {
  t.test(`what the operator does to a running server counts: ${loops} event loops`, async (t) => {
    const server = await startServer(t, { env: { ACUITY_HTTP_THREADS: loops, ACUITY_WORKERS: loops } });
    const issue = (...args: string[]): Promise<Issued> => operate(server, 'issue', ...args);
    const [kept, lost, old, expired] = await Promise.all([
      issue('--kind', 'live'),
      issue('--kind', 'live'),
      issue('--kind', 'demo'),
      issue('--kind', 'demo', '--expires', '2020-01-01'),
    ]);
    for (const { key } of [kept, lost, old]) await until(server, key, 200);
    t.equal(await status(server, expired.key), 403);
    const [, successor] = await Promise.all([
      operate(server, 'revoke', lost.id),
      operate(server, 'rotate', old.id),
      operate(server, 'renew', expired.id),
    ]);
    for (const { key } of [lost, old]) await until(server, key, 403);
    for (const { key } of [successor, expired]) await until(server, key, 200);
    t.equal(await status(server, kept.key), 200);
  });
}

t.test('the first key of a store that was not there counts too', async (t) => {
  const location = `file:${join(t.testdir(), 'deeper', 'still', 'keys.json')}`;
  const server = { ...(await startServer(t, { env: { ACUITY_KEYS: location } })), keyLocation: location };
  const { key } = await operate(server, 'issue', '--kind', 'live');
  await until(server, key, 200);
  t.pass('it is taken');
});
