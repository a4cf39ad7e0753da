import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { MODEL } from '../fixtures/model.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended, writeRepository, type Ended } from '../fixtures/scripts.js';

/** What can't be read or written is told in one line, as an operator meets it. */

const isRoot = process.geteuid?.() === 0;
const MAIN = join(REPOSITORY, 'dist/main.js');

/** A folder that anybody may enter, unlike those of the test runner. */
function openFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'acuity-foreign-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  return folder;
}

/** Without what the test runner has every child of Node load: that writes files of its own. */
const PLAIN = ['env', '-u', 'NODE_OPTIONS'];

/** Runs a command as a user who owns nothing. */
function asNobody(command: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const [file = '', ...args] = [
    'setpriv',
    '--reuid=65534',
    '--regid=65534',
    '--clear-groups',
    ...PLAIN,
    ...command,
  ];
  return ended(file, args, { cwd: '/', env: cleanEnvironment(env) });
}

const canBeNobody =
  isRoot &&
  spawnSync('setpriv', ['--reuid=65534', '--clear-groups', process.execPath, MAIN, '--version']).status === 0;

function oneLine(t: Test, { code, stderr }: Ended, said: RegExp): void {
  t.equal(code, 1);
  t.match(stderr.trimEnd(), said);
  t.notMatch(stderr, /^ {4}at /m, 'no stack');
}

const skip = canBeNobody
  ? false
  : 'needs root, setpriv (Debian: util-linux), and a checkout that everybody may read';

t.test("somebody else's key folder", { skip }, async (t) => {
  const folder = join(openFolder(t), 'keys');
  mkdirSync(folder, { mode: 0o700 });
  const env = {
    ACUITY_KEYS: `file:${join(folder, 'keys.json')}`,
    ACUITY_PORT: '0',
    ACUITY_ADMIN_PORT: '0',
    ACUITY_MODEL: MODEL,
  };
  for (const command of ['list', 'issue --kind live']) {
    const outcome = await asNobody([process.execPath, MAIN, 'keys', ...command.split(' ')], env);
    oneLine(t, outcome, /^error: can't (read|write) .*keys\.json: permission denied \(EACCES\)$/);
  }
  const serve = await asNobody([process.execPath, MAIN, 'serve'], env);
  oneLine(t, serve, /^acuity: can't read .*keys\.json: permission denied \(EACCES\)$/);
  t.notMatch(serve.stdout, /"stack"/);
  await ended(process.execPath, ['scripts/build.js', 'src'], { cwd: REPOSITORY });
  const start = await asNobody([process.execPath, join(REPOSITORY, 'scripts/start.js')], env);
  oneLine(t, start, /^acuity: can't read .*keys\.json: permission denied \(EACCES\)$/);
});

t.test("somebody else's checkout in which nothing is built yet", { skip }, async (t) => {
  const folder = openFolder(t);
  writeRepository(folder, { 'src/main.ts': '' });
  rmSync(join(folder, '.build'), { recursive: true });
  for (const name of ['start', 'test']) {
    const outcome = await asNobody([process.execPath, join(folder, 'scripts', `${name}.js`)], {});
    oneLine(t, outcome, /^acuity: cannot write .*: permission denied \(EACCES\); .* use a copy of it/);
  }
});

/** Runs a command in a checkout that is mounted read-only, for that command alone. */
function readOnly(folder: string, command: readonly string[]): Promise<Ended> {
  const mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"';
  const args = ['-m', 'sh', '-c', mount, folder, ...PLAIN, ...command];
  return ended('unshare', args, { cwd: '/', env: cleanEnvironment() });
}

const canMount = isRoot && spawnSync('unshare', ['-m', 'mount', '--bind', tmpdir(), tmpdir()]).status === 0;

t.test(
  'a read-only checkout',
  { skip: canMount ? false : 'needs root and mounts: a machine or a privileged container' },
  async (t) => {
    const folder = openFolder(t);
    writeRepository(folder, { 'src/main.ts': '' });
    rmSync(join(folder, '.build'), { recursive: true });
    for (const name of ['start', 'test']) {
      const outcome = await readOnly(folder, [process.execPath, `scripts/${name}.js`]);
      oneLine(t, outcome, /^acuity: cannot write .*: read-only file system \(EROFS\); .* use a copy of it/);
    }
    await ended(process.execPath, ['scripts/build.js'], { cwd: folder, env: cleanEnvironment() });
    const built = await readOnly(folder, [process.execPath, 'scripts/test.js']);
    oneLine(t, built, /^acuity: cannot write .*: read-only file system \(EROFS\)/);
    const keys = `ACUITY_KEYS=file:${join(folder, 'keys.json')}`;
    const issue = ['env', keys, process.execPath, MAIN, 'keys', 'issue', '--kind', 'live'];
    oneLine(t, await readOnly(folder, issue), /^error: can't write .*: read-only file system \(EROFS\)$/);
  },
);
