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

t.test('what the operator does to a running server counts a second later', async (t) => {
  const server = await startServer(t);
  const issue = (...args: string[]): Promise<Issued> => operate(server, 'issue', ...args);
  const [kept, lost, old, expired] = await Promise.all([
    issue('--kind', 'live'),
    issue('--kind', 'live'),
    issue('--kind', 'demo'),
    issue('--kind', 'demo', '--expires', '2020-01-01'),
  ]);
  await second();
  const before = await Promise.all([kept, lost, old, expired].map(({ key }) => status(server, key)));
  t.strictSame(before, [200, 200, 200, 403]);
  const [, successor] = await Promise.all([
    operate(server, 'revoke', lost.id),
    operate(server, 'rotate', old.id),
    operate(server, 'renew', expired.id),
  ]);
  await second();
  const after = await Promise.all(
    [kept, lost, old, successor, expired].map(({ key }) => status(server, key)),
  );
  t.strictSame(after, [200, 403, 403, 200, 200]);
});
