import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment, REPOSITORY, script } from '../fixtures/repository.js';
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

t.test('npm test', async (t) => {
  const dir = t.testdir();
  writeRepository(dir, FILES, ['tap', '@tapjs', 'tap-parser']);

  const all = { code: 1, lastLine: '6 passed, 2 failed, 3 skipped' };
  t.strictSame(await runTests(dir), all, 'a failed assertion and a crash each count as a failure');
  const some = { code: 0, lastLine: '2 passed, 0 failed, 1 skipped' };
  t.strictSame(await runTests(dir, 'good'), some, 'a filter selects files');
  const mistyped = ['scripts/test.js', 'good', 'nothing-like-it'];
  const unknown = await ended(process.execPath, mistyped, { cwd: dir, env: cleanEnvironment() });
  t.match(unknown, { code: 1, stderr: /no test file has nothing-like-it in its path/ }, 'a mistyped filter');
  for (const [allowed, code] of [
    ['no data', 0],
    ['no Redis', 1],
  ] as const) {
    const env = cleanEnvironment({ ALLOWED_SKIPS: allowed });
    const args = ['scripts/test.js', 'good'];
    t.equal((await ended(process.execPath, args, { cwd: dir, env })).code, code, `skipped: ${allowed}`);
  }
  writeRepository(t.testdir(), {
    'packages/build-tools/node_modules/typescript/bin/tsc': 'process.exit(2);',
    'node_modules/@tapjs/run/dist/esm/index.js': '',
  });
  const broken = await ended(process.execPath, ['scripts/test.js'], { cwd: dir, env: cleanEnvironment() });
  t.match(broken, { code: 1, stderr: /tsc -b src failed \(exit code 2\)/ }, 'before any test runs');
});

t.test('a change in any folder finds tests', async (t) => {
  const { testFiles, testsBeside } = await script<{
    testFiles(root: string): string[];
    testsBeside(sources: readonly string[]): string[];
  }>('tests.js');
  const files = testFiles(REPOSITORY);
  const within = (room: string) =>
    readdirSync(join(REPOSITORY, room), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [`${room}/${entry.name}`] : [],
    );
  // Build tools are dependencies alone.
  const folders = [
    ...within('src'),
    ...within('packages'),
    'assembly',
    'bench',
    'deploy',
    'native-models',
    'scripts',
  ];
  for (const folder of folders.filter((one) => one !== 'packages/build-tools')) {
    const [part = 'none'] = testsBeside([`${folder}/a.ts`]);
    const isFound = files.some((path) => path.includes(part));
    t.ok(isFound, folder);
  }
});
