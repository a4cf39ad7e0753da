import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment } from '../fixtures/repository.js';
import { ended, writeRepository } from '../fixtures/scripts.js';

const REPORT = `
  import { readFileSync } from 'node:fs';
  const { env, argv } = process;
  process.stdout.write(JSON.stringify({
    what: argv[2], data: env.VALIDATION_DATA ?? null, cwd: process.cwd(), stdin: readFileSync(0, 'utf8'),
  }) + '\\n');
  process.exitCode = env.FAILS === argv[2] ? 1 : 0;`;

async function ciRun(dir: string, env: Readonly<Record<string, string>> = {}) {
  const checkout = join(dir, 'checkout');
  const scripts = { test: 'node report.js test', 'test:all': 'node report.js all' };
  writeRepository(checkout, {
    'package.json': JSON.stringify({ name: 'fixture', type: 'module', scripts }),
    'report.js': REPORT,
  });
  const { code, stdout } = await ended('bash', [join(checkout, '.ci/run')], {
    cwd: dir,
    env: cleanEnvironment(env),
  });
  const lines = stdout.trimEnd().split('\n').slice(-2);
  const reports: unknown[] = lines.map((line) => JSON.parse(line));
  return { code, reports, checkout: realpathSync(checkout) };
}

t.test('it runs both kinds of tests in the checkout, from any folder, without standard input', async (t) => {
  const dir = t.testdir();
  mkdirSync(join(dir, 'shared/data'), { recursive: true });
  const { code, reports, checkout } = await ciRun(dir);
  const data = join(realpathSync(dir), 'shared/data');
  t.equal(code, 0);
  t.strictSame(
    reports,
    ['test', 'all'].map((what) => ({ what, data, cwd: checkout, stdin: '' })),
    'data beside the checkout is named to the tests',
  );
});

t.test(
  'it fails where either fails, and runs both in any case; data named by the caller is left alone',
  async (t) => {
    for (const FAILS of ['test', 'all']) {
      const { code, reports } = await ciRun(t.testdir(), { FAILS, VALIDATION_DATA: '/elsewhere' });
      t.not(code, 0);
      t.match(reports, [{ what: 'test', data: '/elsewhere' }, { what: 'all' }]);
    }
  },
);
