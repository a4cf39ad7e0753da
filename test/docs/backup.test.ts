import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openStores } from '#acuity/auth/location.js';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { send } from '../fixtures/connection.js';
import { REDIS, startStore } from '../fixtures/redis.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/** Backup and restore of keys, by the commands of docs/OPERATIONS.md as they stand there. */

const PAGE = readFileSync(join(REPOSITORY, 'docs/OPERATIONS.md'), 'utf8');
const STEPS = new Map(
  [...PAGE.matchAll(/<!-- step: (\S+) -->\n```sh\n([^]*?)```\n/g)].map(([, name = '', sh = '']) => [
    name,
    sh,
  ]),
);
const WAIT_MS = 30_000;
const BODY = '{"current_session":{}}';

async function follow(t: Test, step: string, cwd: string, env: Record<string, string>): Promise<string> {
  const acuity = `acuity() { "${process.execPath}" "${join(REPOSITORY, 'dist/main.js')}" "$@"; }\n`;
  const script = `set -e\n${acuity}${STEPS.get(step) ?? 'exit 9'}`;
  const { code, stdout, stderr } = await ended('bash', ['-c', script], { cwd, env: cleanEnvironment(env) });
  t.equal(code, 0, `${step}: ${stderr}`);
  return stdout;
}

async function untilAnswered(server: RunningServer, key: string, wanted: number): Promise<number> {
  const endsMs = Date.now() + WAIT_MS;
  for (;;) {
    const { status } = await send(server.port, { headers: { 'X-API-Key': key }, body: BODY });
    if (status === wanted || Date.now() > endsMs) return status;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

t.test('the keys of a file', async (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, 'data'));
  const location = `file:${join(folder, 'data/keys.json')}`;
  const { keys } = await openStores(location);
  const [before, after] = [issue({ kind: 'live' }, Date.now()), issue({ kind: 'live' }, Date.now())];
  await keys.insert(before.record);
  const server = await startServer(t, { env: { ACUITY_KEYS: location } });
  await follow(t, 'backup-file', folder, {});
  await keys.insert(after.record);
  await keys.amend(before.record.id, (record) => revoked(record, Date.now()));
  t.equal(await untilAnswered(server, after.key, 200), 200);
  t.equal(await untilAnswered(server, before.key, 403), 403);
  await follow(t, 'restore-file', folder, {});
  t.equal(await untilAnswered(server, before.key, 200), 200, 'a restored key is a live one');
  t.equal(await untilAnswered(server, after.key, 403), 403);
  t.match(await follow(t, 'check-keys', folder, { ACUITY_KEYS: location }), before.record.id);
});

t.test('the keys of a shared store', { skip: REDIS.skip }, async (t) => {
  const store = await startStore(t);
  const stores = await openStores(store.url);
  const { record, key } = issue({ kind: 'live' }, Date.now());
  await stores.keys.insert(record);
  stores.close();
  const folder = t.testdir();
  await follow(t, 'backup-redis', folder, { STORE: store.url });
  await store.kill();
  await store.start(); // empty
  await follow(t, 'restore-redis', folder, { STORE: store.url });
  const server = await startServer(t, { env: { ACUITY_KEYS: store.url } });
  t.equal(await untilAnswered(server, key, 200), 200);
  t.match(await follow(t, 'check-keys', folder, { ACUITY_KEYS: store.url }), record.id);
  const later = await openStores(store.url);
  const other = issue({ kind: 'live' }, Date.now());
  await later.keys.insert(other.record);
  later.close();
  t.equal(await untilAnswered(server, other.key, 200), 200, 'keys go on being issued');
});
