import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

/** docs/ADAPTERS.md and the examples that it shows. */

const PAGE = readFileSync(join(REPOSITORY, 'docs/ADAPTERS.md'), 'utf8');
const EXAMPLES = join(REPOSITORY, 'docs/examples/adapters');
const SCORE_FIELDS = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'];
const EXAMPLE_BLOCK = /<!-- example: (\S+) -->\n```\w+\n([^]*?)```\n/g;

t.test('the page shows the examples as they are', async (t) => {
  const shown = [...PAGE.matchAll(EXAMPLE_BLOCK)];
  for (const [, name = '', code] of shown) t.equal(code, readFileSync(join(EXAMPLES, name), 'utf8'), name);
  const names = shown.map(([, name]) => name).toSorted();
  t.strictSame(
    names,
    readdirSync(EXAMPLES)
      .filter((name) => !/\.(json|csv)$/.test(name))
      .toSorted(),
  );
});

const PREPARED = join(REPOSITORY, '.build/python/bin/python');
const python = existsSync(PREPARED) ? PREPARED : 'python3';
const isRecent = spawnSync(python, ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0;

t.test('each example scores a night', async (t) => {
  const server = await startServer(t);
  const env = cleanEnvironment({
    ACUITY_URL: `http://127.0.0.1:${server.port}`,
    ACUITY_API_KEY: server.key,
    PYTHONPATH: join(REPOSITORY, 'packages/client-python/src'),
  });
  const run = async (t: Test, command: string, ...args: string[]) => {
    const { code, stdout, stderr } = await ended(command, args, { cwd: REPOSITORY, env });
    t.equal(code, 0, stderr);
    t.equal(stderr, '');
    for (const field of SCORE_FIELDS) t.match(stdout, field);
  };
  for (const name of ['oura', 'terra', 'table']) {
    await t.test(`${name} in JavaScript`, (t) => run(t, process.execPath, join(EXAMPLES, `${name}.js`)));
    const skip = !isRecent && 'there is no Python 3.10 or newer here (Debian 12 and newer: python3)';
    await t.test(`${name} in Python`, { skip }, (t) => run(t, python, '-B', join(EXAMPLES, `${name}.py`)));
  }
});
