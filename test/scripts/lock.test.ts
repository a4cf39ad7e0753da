import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { cleanEnvironment, REPOSITORY, script } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

const { holding } = await script<{
  holding<T>(path: string, work: () => Promise<T>): Promise<T>;
}>('lock.js');

// Beyond the largest process id that Linux gives.
const NO_PROCESS = 2 ** 22 + 1;

t.test('the lock is released when the work fails', async (t) => {
  const path = join(t.testdir(), 'lock');
  await t.rejects(
    holding(path, () => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  );
  t.notOk(existsSync(path));
});

t.test('processes that start on a dead owner’s lock hold it one at a time', async (t) => {
  const dir = t.testdir({ lock: String(NO_PROCESS), count: '0' });
  const url = pathToFileURL(join(REPOSITORY, 'scripts/lock.js')).href;
  const increment = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { holding } from ${JSON.stringify(url)};
    await holding('lock', async () => {
      const before = Number(readFileSync('count', 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 20));
      writeFileSync('count', String(before + 1));
    });`;
  const all = await Promise.all(
    Array.from({ length: 6 }, () =>
      ended(process.execPath, ['--input-type=module', '--eval', increment], {
        cwd: dir,
        env: cleanEnvironment(),
      }),
    ),
  );
  t.strictSame(
    all.map(({ code, stderr }) => [code, stderr]),
    all.map(() => [0, '']),
  );
  t.equal(readFileSync(join(dir, 'count'), 'utf8'), '6');
  t.strictSame(readdirSync(dir), ['count'], 'and leave nothing behind');
});
