import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { revoked } from '#acuity/auth/lifecycle.js';
import { copyModel } from '../fixtures/model.js';
import { cleanEnvironment, REPOSITORY, temporaryFolder } from '../fixtures/repository.js';
import { acuity, ended, lacking, writeRepository, type Ended } from '../fixtures/scripts.js';
import { CLEAN, runServer, startServer, type RunningServer } from '../fixtures/server.js';
import { loopsOf, skipElsewhere, SLOW_THREADS } from '../fixtures/stops.js';
import { until } from '../fixtures/until.js';

/**
 * A file that the server reads may be replaced by anything, and its disk may stop answering; what can't be read or
 * written is told in one line, as an operator meets it.
 */

const skip = skipElsewhere;

const status = async (server: RunningServer, key: string): Promise<number> =>
  (await server.predict(undefined, key)).status;

/** Puts something else in the place of a file, in one step. */
function replaceBy(path: string, make: (place: string) => void): void {
  make(`${path}.new`);
  renameSync(`${path}.new`, path);
}

const makePipe = (place: string): void => void execFileSync('mkfifo', [place]);
const keyPath = ({ keyLocation }: RunningServer): string => keyLocation.replace('file:', '');

t.test('pipes in the places of keys, daily counts and the model’s manifest', { skip }, async (t) => {
  const folder = copyModel(join(t.testdir(), 'model'));
  const env = { ACUITY_MODEL: folder, ...loopsOf(2) };
  const server = await startServer(t, { keys: [{ kind: 'demo' }], env });
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
  t.strictSame(await server.stop(), CLEAN);
  replaceBy(usagePath, makePipe);
  const again = runServer(t, { env: { ACUITY_KEYS: server.keyLocation } });
  t.strictSame(await again.exited, { code: 1, signal: null });
  t.match(again.output(), /^acuity: can't read .*keys\.usage\.json: it is not a regular file$/m);
});

/**
 * Mounts a file system whose server never answers: every look into it waits for ever. Prints "mounted" or why not;
 * unmounts when standard input ends, upon which those who wait get an error.
 */
const DEAD_MOUNT = `
import ctypes, os, sys
folder = sys.argv[1].encode()
libc = ctypes.CDLL(None, use_errno=True)
try:
    device = os.open("/dev/fuse", os.O_RDWR)
except OSError as error:
    sys.exit(print(error))
options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}".encode()
if libc.mount(b"dead", folder, b"fuse", 0, options) != 0:
    sys.exit(print(os.strerror(ctypes.get_errno())))
print("mounted", flush=True)
sys.stdin.read()
libc.umount2(folder, 2)
`;

/** The folder of a dead file system, or why it can't be. */
async function mountDead(t: Test): Promise<{ readonly folder?: string; readonly problem?: string }> {
  const folder = temporaryFolder(t); // not in the test's own: cleaning that up would look into it
  const mount = spawn('/usr/bin/python3', ['-c', DEAD_MOUNT, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(mount, 'close').catch((error: unknown) => error);
  t.teardown(async () => {
    mount.stdin.end();
    await ended;
  });
  const said = await Promise.race([once(mount.stdout, 'data'), ended]);
  const line = String(Array.isArray(said) ? said[0] : said).trim();
  return line === 'mounted' ? { folder } : { problem: line };
}

t.test(
  'keys, counts and model on a disk that stops answering, file threads that start slowly',
  { skip },
  async (t) => {
    const { folder: dead, problem } = await mountDead(t);
    if (dead === undefined) return t.plan(0, `no such mount here: ${problem} (run it as root on Linux)`);
    const links = t.testdir();
    const model = join(links, 'served');
    symlinkSync(copyModel(join(links, 'model')), model);
    const env = { ACUITY_MODEL: model, ACUITY_DRAIN_MS: '5000', ...loopsOf(2) };
    const server = await startServer(t, { nodeOptions: SLOW_THREADS, env, keys: [{ kind: 'demo' }] });
    replaceBy(keyPath(server), (place) => symlinkSync(join(dead, 'keys.json'), place));
    replaceBy(model, (place) => symlinkSync(join(dead, 'model'), place));
    await until(() => /keys\.json: the file system does not answer/.test(server.output()));
    server.signal('SIGHUP');
    t.equal(await status(server, server.keys[1]?.key ?? ''), 200, 'it serves on');
    t.strictSame(await server.stop(), CLEAN);
    const again = runServer(t, { env: { ACUITY_KEYS: `file:${join(dead, 'keys.json')}` } });
    t.strictSame(await again.exited, { code: 1, signal: null });
    t.match(again.output(), /^acuity: can't read .*keys\.json: the file system does not answer$/m);
  },
);

/** In one line, without a stack. */
function isTold(t: Test, { code, stderr }: Ended, said: RegExp): void {
  t.equal(code, 1);
  t.match(stderr.trimEnd(), said);
  t.notMatch(stderr, /^ {4}at /m);
}

t.test('a folder of keys that can’t be', async (t) => {
  const env = { ACUITY_KEYS: 'file:/dev/null/keys.json', ACUITY_PORT: '0', ACUITY_ADMIN_PORT: '0' };
  for (const command of ['keys list', 'keys issue --kind live', 'serve']) {
    const said = /^(error|acuity): can't (read|write) .*keys\.json: not a directory \(ENOTDIR\)$/;
    isTold(t, await acuity(command.split(' '), env), said);
  }
});

const why = 'needs root and mounts: a machine or a privileged container';
const noMount = lacking(`unshare -m mount --bind ${tmpdir()} ${tmpdir()}`, why);

t.test('a read-only checkout', { skip: noMount }, async (t) => {
  const folder = temporaryFolder(t);
  writeRepository(folder, { 'src/main.ts': '' });
  rmSync(join(folder, '.build'), { recursive: true });
  // Mounted so for one command alone.
  const mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"';
  const env = cleanEnvironment({ ACUITY_KEYS: `file:${join(folder, 'keys.json')}` });
  const readOnly = (...args: readonly string[]): Promise<Ended> =>
    ended('unshare', ['-m', 'sh', '-c', mount, folder, process.execPath, ...args], { cwd: '/', env });
  for (const name of ['start', 'test']) {
    const said = /^acuity: cannot write .*: read-only file system \(EROFS\); .* use a copy of it/;
    isTold(t, await readOnly(`scripts/${name}.js`), said);
  }
  const issue = [join(REPOSITORY, 'dist/main.js'), 'keys', 'issue', '--kind', 'live'];
  isTold(t, await readOnly(...issue), /^error: can't write .*: read-only file system \(EROFS\)$/);
});
