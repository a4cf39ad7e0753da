import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment } from '../fixtures/repository.js';
import { ended, writeRepository } from '../fixtures/scripts.js';

const REPORT = `
  import { readFileSync } from 'node:fs';
  process.stdout.write(JSON.stringify({
    data: process.env.VALIDATION_DATA ?? null, cwd: process.cwd(), stdin: readFileSync(0, 'utf8'),
  }) + '\\n');
  process.exitCode = Number(process.env.CODE ?? 0);`;

async function ciRun(dir: string, env: Readonly<Record<string, string>> = {}) {
  const checkout = join(dir, 'checkout');
  writeRepository(checkout, {
    'package.json': JSON.stringify({ name: 'fixture', type: 'module', scripts: { test: 'node report.js' } }),
    'report.js': REPORT,
  });
  const { code, stdout } = await ended('bash', [join(checkout, '.ci/run')], {
    cwd: dir,
    env: cleanEnvironment(env),
  });
  const report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as {
    data: string | null;
    cwd: string;
    stdin: string;
  };
  return { code, report, checkout: realpathSync(checkout) };
}

t.test('it runs npm test in the checkout, wherever it is called from, without standard input', async (t) => {
  const { code, report, checkout } = await ciRun(t.testdir());
  t.equal(code, 0);
  t.strictSame(report, { data: null, cwd: checkout, stdin: '' });
});

t.test('data beside the checkout is named to the tests', async (t) => {
  const dir = t.testdir();
  mkdirSync(join(dir, 'shared/data'), { recursive: true });
  t.equal((await ciRun(dir)).report.data, join(realpathSync(dir), 'shared/data'));
});

t.test('data named by the caller is left alone', async (t) => {
  t.equal((await ciRun(t.testdir(), { VALIDATION_DATA: '/elsewhere' })).report.data, '/elsewhere');
});

t.test('it fails when the tests fail', async (t) => {
  t.not((await ciRun(t.testdir(), { CODE: '1' })).code, 0);
});
