import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

t.test('processes that start on a dead owner’s lock hold it one at a time', async (t) => {
  // Beyond the largest process id that Linux gives.
  const cwd = t.testdir({ lock: String(2 ** 22 + 1), count: '0' });
  const url = pathToFileURL(join(REPOSITORY, 'scripts/lock.js')).href;
  const increment = `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { holding } from ${JSON.stringify(url)};
    await holding('lock', async () => {
      const before = Number(readFileSync('count', 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 20));
      writeFileSync('count', String(before + 1));
    });
    await holding('lock', () => Promise.reject(new Error('failed'))).catch(() => undefined);`;
  const args = ['--input-type=module', '--eval', increment];
  const run = () => ended(process.execPath, args, { cwd, env: cleanEnvironment() });
  for (const { code, stderr } of await Promise.all(Array.from({ length: 4 }, run)))
    t.strictSame([code, stderr], [0, '']);
  t.equal(readFileSync(join(cwd, 'count'), 'utf8'), '4');
  t.strictSame(readdirSync(cwd), ['count'], 'and leave nothing behind, when the work fails too');
});
