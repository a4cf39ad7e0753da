import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment } from '../fixtures/repository.js';
import { ended, writeRepository } from '../fixtures/scripts.js';

const FILES = {
  '.build/test/good.test.js': `
    import t from 'tap';
    t.test('sub', async (t) => { t.equal(1, 1); t.ok(true); });
    t.test('later', { skip: 'no data' }, async () => {});`,
  '.build/test/deep/bad.test.js': `import t from 'tap'; t.equal(1, 2); t.pass('fine');`,
  '.build/test/deep/later.test.js': `
    import t from 'tap';
    t.test('sub', async (t) => {
      t.test('deeper', async (t) => { t.equal(1, 1); t.test('none', { skip: true }, async () => {}); });
      t.test('empty', async () => {});
    });
    t.test('all skipped', async (t) => t.plan(0, 'no data'));`,
  '.build/test/deep/crash.test.js': `import t from 'tap'; t.pass('so far'); process.exit(3);`,
  '.build/test/helper.js': `throw new Error('not a test');`,
};

async function runTests(dir: string, ...filters: string[]) {
  const { code, stdout } = await ended(process.execPath, ['scripts/test.js', ...filters], {
    cwd: dir,
    env: cleanEnvironment(),
  });
  return { code, lastLine: stdout.trimEnd().split('\n').at(-1) };
}

async function codeWith(dir: string, allowed: string): Promise<number | null> {
  const env = cleanEnvironment({ ALLOWED_SKIPS: allowed });
  return (await ended(process.execPath, ['scripts/test.js', 'good'], { cwd: dir, env })).code;
}

t.test('npm test', async (t) => {
  const dir = t.testdir();
  writeRepository(dir, FILES, ['tap', '@tapjs', 'tap-parser']);

  t.strictSame(
    await runTests(dir),
    { code: 1, lastLine: '6 passed, 2 failed, 3 skipped' },
    'a failed assertion and a crash each count as a failure',
  );
  t.strictSame(
    await runTests(dir, 'good'),
    { code: 0, lastLine: '2 passed, 0 failed, 1 skipped' },
    'a filter selects files',
  );
  t.strictSame(
    await runTests(dir, 'nothing-like-it'),
    { code: 1, lastLine: '0 passed, 0 failed' },
    'no test is no success',
  );
  t.equal(await codeWith(dir, 'no data'), 0, 'a reason that is allowed');
  t.equal(await codeWith(dir, 'no Redis'), 1, 'a reason that is not');
});

t.test('a broken build fails before any test runs', async (t) => {
  const dir = t.testdir();
  writeRepository(dir, {
    'packages/build-tools/node_modules/typescript/bin/tsc': 'process.exit(2);',
    'node_modules/@tapjs/run/dist/esm/index.js': '',
  });
  const { code, stderr } = await ended(process.execPath, [join('scripts', 'test.js')], {
    cwd: dir,
    env: cleanEnvironment(),
  });
  t.equal(code, 1);
  t.match(stderr, /tsc -b failed \(exit code 2\)/);
});
