import t from 'tap';
import { script, writeFiles } from '../fixtures/repository.js';

const { quickTests, testsReached } = await script<{
  quickTests(root: string): string[];
  testsReached(root: string, sources: readonly string[]): string[];
}>('tests.js');

const FILES = {
  'package.json': JSON.stringify({
    imports: { '#acuity/*': './dist/*', '#fixtures/*': './.build/test/fixtures/*' },
  }),
  'dist/main.js': `import './server/start.js';`,
  'dist/server/start.js': `import { spawn } from 'node:child_process';`,
  'dist/contract/sleep.js': `export const a = 1;`,
  'dist/reading/parser.js': `const url = new URL('./parser.wasm', import.meta.url);`,
  'dist/reading/read.js': `import { a } from '../contract/sleep.js'; export { b } from './parser.js';`,
  'dist/worker/entry.js': `import '../contract/sleep.js';`,
  'dist/scoring/pool.js': `new Worker(new URL('../worker/entry.js', import.meta.url));`,
  '.build/test/fixtures/server.js': `import { spawn } from 'node:child_process'; const main = 'dist/main.js';`,
  '.build/test/fixtures/page.js': `export const page = 'docs/API.md';`,
  '.build/test/reading/read.test.js': `import { read } from '#acuity/reading/read.js';`,
  '.build/test/scoring/pool.test.js': `import { pool } from '#acuity/scoring/pool.js';`,
  '.build/test/server/start.test.js': `import { start } from '#acuity/server/start.js';`,
  '.build/test/flow/whole.test.js': `import { startServer } from '#fixtures/server.js';`,
  '.build/test/flow/pages.test.js': `const { chromium } = await import('playwright-core');`,
  '.build/test/docs/api.test.js': `import { page } from '../fixtures/page.js';`,
  '.build/test/docs/every.test.js': `const folder = join(ROOT, 'docs'); // documents of docs`,
};

const reached = (dir: string, ...sources: string[]) =>
  testsReached(dir, sources).map((path) => path.slice('.build/test/'.length, -'.test.js'.length));

t.test('the quick tests', async (t) => {
  const dir = t.testdir();
  writeFiles(dir, FILES);
  t.strictSame(
    quickTests(dir).map((path) => path.slice('.build/test/'.length)),
    [
      'docs/api.test.js',
      'docs/every.test.js',
      'reading/read.test.js',
      'scoring/pool.test.js',
      'server/start.test.js',
    ],
    'start no process and no browser, by themselves or by a fixture; what they test may be able to',
  );
});

t.test('what a change reaches', async (t) => {
  const dir = t.testdir();
  writeFiles(dir, FILES);
  t.strictSame(
    reached(dir, 'src/contract/sleep.ts'),
    ['reading/read', 'scoring/pool'],
    'by imports and re-exports, and through a thread that is started',
  );
  t.strictSame(reached(dir, 'assembly/samples.ts'), ['reading/read'], 'the parser is one module');
  t.strictSame(reached(dir, 'test/fixtures/page.ts'), ['docs/api'], 'a fixture reaches its tests');
  t.strictSame(reached(dir, 'test/docs/api.test.ts'), ['docs/api'], 'a test reaches itself');
  t.strictSame(
    reached(dir, 'docs/API.md'),
    ['docs/api', 'docs/every'],
    'a document, by its path in a fixture or by its folder',
  );
  t.strictSame(reached(dir, 'docs/images/a.svg'), ['docs/every']);
  t.strictSame(reached(dir, 'src/base/clock.ts', 'LICENSE'), [], 'nothing imports or names it');
  t.strictSame(reached(dir), []);
});
