import { readdir, readlink, symlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { withFileLock } from '#acuity/base/files/fileLock.js';

const AMPLE_MS = 60_000;

/** No process has this id: the largest that Linux gives is 4,194,304. */
const DEAD_PID = 4_194_305;

t.test('many that find a dead holder’s lock still work one at a time', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'lock');
  await symlink(`${hostname()}:${DEAD_PID}:0:x`, path);
  let atWork = 0;
  await Promise.all(
    Array.from({ length: 10 }, () =>
      withFileLock(path, AMPLE_MS, async () => {
        t.equal(++atWork, 1);
        await turn();
        atWork--;
      }),
    ),
  );
  t.strictSame(await readdir(folder), []);
});

t.test('a holder that died while it removed a dead one’s lock is no obstacle', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'lock');
  await symlink(`${hostname()}:${DEAD_PID}:0:x`, path);
  await symlink(`${hostname()}:${DEAD_PID}:0:y`, `${path}.stale`);
  t.equal(await withFileLock(path, AMPLE_MS, async () => 7), 7);
  t.strictSame(await readdir(folder), []);
});

t.test('a lock of an earlier process with this one’s id is stale', async (t) => {
  const path = join(t.testdir(), 'lock');
  await symlink(`${hostname()}:${process.pid}:1:x`, path);
  t.equal(await withFileLock(path, AMPLE_MS, async () => 7), 7);
});

const standing = {
  'a living process': `${hostname()}:${process.ppid}:0:x`,
  'a process on another host': `not-${hostname()}:${DEAD_PID}:0:x`,
};
for (const [name, holder] of Object.entries(standing)) {
  t.test(`the lock of ${name} is respected, and the wait for it ends`, async (t) => {
    const path = join(t.testdir(), 'lock');
    await symlink(holder, path);
    const [host = '', pid = ''] = holder.split(':');
    const second = withFileLock(path, 20, async () => t.fail('two holders'));
    const message = `${path} is held by process ${pid} on ${host}: wait until it ends`;
    await t.rejects(second, { name: 'FileLockError', message });
    t.equal(await readlink(path), holder);
  });
}
