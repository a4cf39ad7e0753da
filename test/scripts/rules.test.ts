import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment, REPOSITORY, writeFiles } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';

const CRUISER = join(REPOSITORY, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');

// Each file breaks the rule beside it; without them in the tree a rule that never fires would go unnoticed.
const BREACHES: Readonly<Record<string, { readonly source: string; readonly rule: string }>> = {
  'src/base/log.ts': { source: `import '../config/options.js';`, rule: 'base-imports-down' },
  'src/pipeline/parse.ts': { source: `import '../http/publicListener.js';`, rule: 'pipeline-imports-down' },
  'src/reading/parse.ts': { source: `import '../scoring/batcher.js';`, rule: 'reading-imports-down' },
  'src/records/a.ts': { source: `import '../pipeline/parse.js';`, rule: 'records-imports-down' },
  'src/scoring/batcher.ts': { source: `import 'piscina';`, rule: 'one-owner-piscina' },
  'src/http/publicListener.ts': { source: `import 'onnxruntime-node';`, rule: 'one-owner-onnxruntime-node' },
  'src/config/options.ts': { source: `import 'uWebSockets.js';`, rule: 'one-owner-uWebSocketsjs' },
  'src/scoring/pool.ts': { source: `import '../worker/entry.js';`, rule: 'worker-by-url-only' },
  'src/worker/entry.ts': { source: `import '../scoring/batcher.js';`, rule: 'worker-imports-down' },
  'src/auth/limits.ts': { source: `import '../commands/keys.js';`, rule: 'commands-compose-alone' },
  'src/commands/keys.ts': { source: `import '../../test/a.js';`, rule: 'service-without-tests' },
  'src/model/a.ts': { source: `import './b.js';`, rule: 'no-circular' },
  'src/contract/request.ts': { source: `import 'ajv';`, rule: 'production-dependencies-only' },
  'packages/client-ts/src/a.ts': { source: `import '../../../src/model/b.js';`, rule: 'client-stands-alone' },
  'packages/client-ts/src/b.ts': { source: `import 'typescript';`, rule: 'client-stands-alone' },
  'packages/rules/src/a.ts': { source: `import 'node:fs';`, rule: 'rules-stand-alone' },
  'packages/rules/src/b.ts': { source: `import '../../client-ts/src/b.js';`, rule: 'rules-stand-alone' },
  'packages/adapters/src/a.ts': { source: `import 'node:fs';`, rule: 'adapters-stand-alone' },
  'packages/adapters/src/b.ts': { source: `import '#rules/c.js';`, rule: '' },
  'src/lake/a.ts': { source: `import '../../packages/client-ts/src/b.js';`, rule: 'lake-imports-down' },
  'src/lake/b.ts': { source: `import '#rules/c.js';`, rule: '' },
  'packages/rules/src/c.ts': { source: 'export const A = 1;', rule: '' },
  'packages/client-ts/src/c.ts': { source: `import 'node:crypto';`, rule: '' },
  'test/a.ts': { source: `import '../src/scoring/pool.js';`, rule: '' },
};

t.test('each import rule fires', async (t) => {
  const dir = t.testdir({
    node_modules: t.fixture('symlink', join(REPOSITORY, 'node_modules')),
    'package.json': readFileSync(join(REPOSITORY, 'package.json'), 'utf8'),
    'tsconfig.base.json': readFileSync(join(REPOSITORY, 'tsconfig.base.json'), 'utf8'),
  });
  writeFiles(dir, { 'src/model/b.ts': `import './a.js';` });
  writeFiles(dir, Object.fromEntries(Object.entries(BREACHES).map(([path, { source }]) => [path, source])));
  const { stdout } = await ended(
    process.execPath,
    [
      CRUISER,
      `--config=${join(REPOSITORY, '.dependency-cruiser.cjs')}`,
      '--output-type=json',
      'src',
      'test',
      'packages',
    ],
    { cwd: dir, env: cleanEnvironment() },
  );
  const { summary } = JSON.parse(stdout) as {
    summary: { violations: { from: string; rule: { name: string } }[] };
  };
  for (const [path, { rule }] of Object.entries(BREACHES)) {
    const broken = summary.violations.filter(({ from }) => from === path).map(({ rule }) => rule.name);
    if (rule === '') t.strictSame(broken, [], `${path} breaks nothing`);
    else t.ok(broken.includes(rule), `${path} breaks ${rule}: ${broken.join(', ')}`);
  }
});

t.test('the service imports nothing of its own as others do, nor of the client', async (t) => {
  const importers = readdirSync(join(REPOSITORY, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .filter((path) => /from '(#acuity|acuity)\//.test(readFileSync(join(REPOSITORY, 'src', path), 'utf8')));
  t.strictSame(importers, []);
});

t.test('only the configuration reads the environment', async (t) => {
  const readers = readdirSync(join(REPOSITORY, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .filter((path) => /process\s*(\.|\[['"])env\b/.test(readFileSync(join(REPOSITORY, 'src', path), 'utf8')));
  // The second one writes samples of code for callers, and reads nothing.
  t.strictSame(readers, [join('config', 'options.ts'), join('contract', 'codeSamples.ts')]);
});
