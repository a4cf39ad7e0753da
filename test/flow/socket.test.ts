import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { takeSocketPaths } from '#acuity/serve/publicSocket.js';
import { Connection, send } from '../fixtures/connection.js';
import { temporaryFolder } from '../fixtures/repository.js';
import { CLEAN, runServer, startServer, type RunningServer } from '../fixtures/server.js';
import { loopsOf, skipElsewhere } from '../fixtures/stops.js';

/** The public listener as a Unix socket: what is at the path before, while it serves, and after. */

const skip = skipElsewhere;
/** In a folder of its own. */
const fresh = (t: Test): string => join(temporaryFolder(t), 'a.sock');
const open = (t: Test, path: string, env = {}): Promise<RunningServer> =>
  startServer(t, { env: { ACUITY_SOCKET: path, ACUITY_LOG_LEVEL: 'fatal', ...env } });

/** Starts a server that can't listen. @returns its exit code, and the lines of its standard error */
async function refused(path: string, env = {}, under: readonly string[] = []) {
  const { exited, output } = runServer(t, {
    env: { ACUITY_KEYS: `file:${path}.json`, ACUITY_SOCKET: path, ACUITY_LOG_LEVEL: 'silent', ...env },
    under,
  });
  const { code } = await exited;
  return { code, said: output().trim() };
}

/** Leaves a socket that refuses, as a killed server does. */
function makeStale(path: string): void {
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  try {
    execFileSync(process.execPath, ['-e', script]);
  } catch {
    // killed, as it should be
  }
}

t.jobs = 2; // servers that mostly wait

t.test('serves its group by a path of 107 bytes, says it, and removes it', { skip }, async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'x'.repeat(106 - folder.length));
  t.equal(path.length, 107);
  const server = await open(t, path, loopsOf(1));
  const [line = ''] = /^.*"listening".*$/m.exec(server.output()) ?? [];
  t.match(JSON.parse(line), { host: null, port: null, socket: path });
  t.equal(lstatSync(path).mode & 0o777, 0o660);
  t.equal((await server.predict()).status, 200);
  const idle = await Connection.open(path, t);
  t.strictSame(await server.stop(), CLEAN);
  t.equal(await idle.closed(), '');
  t.strictSame(readdirSync(folder), []);
});

t.test('anything but a socket at the path stays untouched', { skip }, async (t) => {
  const [file, link, dangling, dir] = [fresh(t), fresh(t), fresh(t), fresh(t)];
  writeFileSync(file, 'mine');
  symlinkSync(file, link);
  symlinkSync('/nowhere', dangling);
  mkdirSync(dir);
  const message = /^cannot listen on \S+: there is something else than a socket; [^\n]*$/;
  for (const path of [file, link, dangling, dir])
    await t.rejects(takeSocketPaths(path, [path]), { name: 'SettingError', message });
  const { code, said } = await refused(file, loopsOf(1));
  t.equal(code, 78, said);
  t.match(said.replace(/^acuity: /, ''), message);
  t.equal(readFileSync(file, 'utf8'), 'mine');
  t.ok(lstatSync(link).isSymbolicLink() && lstatSync(dangling).isSymbolicLink());
});

t.test('a second server ends, and the first goes on', { skip }, async (t) => {
  const path = fresh(t);
  const first = await open(t, path, loopsOf(1));
  const { code, said } = await refused(path, loopsOf(1));
  t.equal(code, 1);
  t.match(said, /^acuity: cannot listen on \S+: another server answers there; [^\n]*$/);
  t.equal((await first.predict()).status, 200);
});

t.test('of two starts at a stale path one serves', { skip }, async (t) => {
  const path = fresh(t);
  makeStale(path);
  t.ok(lstatSync(path).isSocket());
  const starts = await Promise.allSettled([open(t, path, loopsOf(1)), open(t, path, loopsOf(1))]);
  const served = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  t.equal(served.length, 1);
  t.equal((await served[0]?.predict())?.status, 200);
  const why = starts.flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []));
  t.match(why, [/another server answers there/]);
});

t.test('a folder that is absent, or of another user', { skip }, async (t) => {
  const path = fresh(t);
  const none = join(path, 'none', 'a.sock');
  const message = /: no such file or directory/;
  await t.rejects(takeSocketPaths(none, [none]), { name: 'OperatorError', message });
  if (process.getuid?.() !== 0) return;
  // Root without its right to write anywhere: as another user it might not read this clone.
  chownSync(dirname(path), 65534, 65534);
  const under = ['setpriv', '--bounding-set=-dac_override'];
  const said = /cannot listen on \S+: permission denied \(EACCES\)/;
  t.match(await refused(path, loopsOf(1), under), { code: 1, said });
});

t.test('a path that another has taken since is not removed', { skip }, async (t) => {
  const path = fresh(t);
  const server = await open(t, path, loopsOf(1));
  rmSync(path);
  const other = createServer().listen(path);
  t.teardown(() => other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  t.strictSame(await server.stop(), CLEAN);
  t.ok(lstatSync(path).isSocket());
});

t.test('each event loop has a socket of its own, which is said', { skip }, async (t) => {
  const path = fresh(t);
  const server = await open(t, path, { ...loopsOf(2), ACUITY_LOG_LEVEL: 'info' });
  t.equal(server.at, `${path}.1`);
  t.match(server.output(), `"sockets":["${path}.1","${path}.2"]`);
  for (const socketPath of [`${path}.1`, `${path}.2`]) {
    const sent = { headers: { 'X-API-Key': server.key }, body: '{"current_session":{}}' };
    t.equal((await send(socketPath, sent)).status, 200);
  }
  t.strictSame(await server.stop(), CLEAN);
  t.notOk(existsSync(`${path}.1`) || existsSync(`${path}.2`));
});
