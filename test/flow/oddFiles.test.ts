import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { revoked } from '#acuity/auth/lifecycle.js';
import { send } from '../fixtures/connection.js';
import { copyModel } from '../fixtures/model.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { runServer, type RunningServer } from '../fixtures/server.js';
import { endOf, skipElsewhere, SLOW_THREADS, startToStop, terminate } from '../fixtures/stops.js';

/** A file that the server reads may be replaced by anything, and its disk may stop answering. */

const skip = skipElsewhere;
const CLEAN = { code: 0, signal: null };

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const endsMs = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > endsMs) throw new Error('it never came true');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function status({ port }: RunningServer, key: string): Promise<number> {
  return (await send(port, { headers: { 'X-API-Key': key }, body: '{"current_session":{}}' })).status;
}

/** Puts something else in the place of a file, in one step. */
function replaceBy(path: string, make: (place: string) => void): void {
  make(`${path}.new`);
  renameSync(`${path}.new`, path);
}

const makePipe = (place: string): void => void execFileSync('mkfifo', [place]);

function keyPath({ keyLocation }: RunningServer): string {
  return keyLocation.replace('file:', '');
}

t.test('pipes in the places of keys, daily counts and the model’s manifest', { skip }, async (t) => {
  const folder = copyModel(join(t.testdir(), 'model'));
  const server = await startToStop(t, 2, { keys: [{ kind: 'demo' }], env: { ACUITY_MODEL: folder } });
  const path = keyPath(server);
  const [kept, lost] = server.keys;
  if (kept === undefined || lost === undefined) throw new Error('two keys');
  copyFileSync(path, `${path}.aside`);
  replaceBy(path, makePipe);
  await until(() => server.output().includes('it is not a regular file'));
  t.equal(await status(server, lost.key), 200, 'the keys that it had still hold');
  renameSync(`${path}.aside`, path);
  await server.keyStore.amend(lost.id, (record) => revoked(record, Date.now()));
  await until(async () => (await status(server, lost.key)) === 403);

  replaceBy(join(folder, 'manifest.json'), makePipe);
  server.signal('SIGHUP');
  await until(() =>
    /manifest\.json cannot be read: it is not a regular file.*model refused/.test(server.output()),
  );
  t.equal(await status(server, kept.key), 200);

  const usagePath = path.replace('.json', '.usage.json');
  replaceBy(usagePath, makePipe);
  t.strictSame(await endOf(server, terminate(server)), CLEAN);
  replaceBy(usagePath, makePipe);
  const again = runServer({ env: { ACUITY_KEYS: server.keyLocation } });
  t.strictSame(await again.exited, { code: 1, signal: null });
  t.match(again.output(), /^acuity: can't read .*keys\.usage\.json: it is not a regular file$/m);
});

/** Mounts a file system that answers nothing, or says why that can't be. Tests that need it run as root. */
async function mountDead(t: Test): Promise<{ readonly folder?: string; readonly problem?: string }> {
  // Not in the test's own folder: cleaning that up would look into it.
  const folder = mkdtempSync(join(tmpdir(), 'acuity-dead-'));
  const script = join(REPOSITORY, 'test/fixtures/deadMount.py');
  const mount = spawn('/usr/bin/python3', [script, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(mount, 'close').catch((error: unknown) => error);
  t.teardown(async () => {
    mount.stdin.end();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const said = await Promise.race([once(mount.stdout, 'data'), ended]);
  const line = String(Array.isArray(said) ? said[0] : said).trim();
  return line === 'mounted' ? { folder } : { problem: line };
}

for (const [name, nodeOptions] of [
  ['at once', []],
  ['while a file thread starts', SLOW_THREADS],
] as const) {
  t.test(`keys, counts and model on a disk that stops answering, a stop ${name}`, { skip }, async (t) => {
    const { folder: dead, problem } = await mountDead(t);
    if (dead === undefined) return t.plan(0, `no such mount here: ${problem} (run it as root on Linux)`);
    const links = t.testdir();
    const model = join(links, 'served');
    symlinkSync(copyModel(join(links, 'model')), model);
    const env = { ACUITY_MODEL: model };
    const server = await startToStop(t, 2, { nodeOptions, env, keys: [{ kind: 'demo' }] });
    replaceBy(keyPath(server), (place) => symlinkSync(join(dead, 'keys.json'), place));
    replaceBy(model, (place) => symlinkSync(join(dead, 'model'), place));
    await until(() => /keys\.json: the file system does not answer/.test(server.output()));
    server.signal('SIGHUP');
    t.equal(await status(server, server.keys[1]?.key ?? ''), 200, 'it serves on');
    t.strictSame(await endOf(server, terminate(server)), CLEAN);
    const again = runServer({ env: { ACUITY_KEYS: `file:${join(dead, 'keys.json')}` } });
    t.strictSame(await again.exited, { code: 1, signal: null });
    t.match(again.output(), /^acuity: can't read .*keys\.json: the file system does not answer$/m);
  });
}
