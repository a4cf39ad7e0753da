import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import t from 'tap';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

const PACKAGE = join(REPOSITORY, 'packages/client-python');

/** One with the packages that some tests use (`npm run python` makes it), else the system's: those are then skipped. */
const PREPARED = join(REPOSITORY, '.build/python/bin/python');
const python = existsSync(PREPARED) ? PREPARED : 'python3';
const isRecent = spawnSync(python, ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0;
const skip = isRecent ? false : 'there is no Python 3.10 or newer here';

t.test('the Python client passes its tests, against the running service too', { skip }, async (t) => {
  const server = await startServer(t);
  const env = cleanEnvironment({
    ACUITY_URL: `http://127.0.0.1:${server.port}`,
    ACUITY_API_KEY: server.key,
    PYTHONPATH: [join(PACKAGE, 'src')].join(delimiter),
  });
  const args = ['-B', '-m', 'unittest', 'discover', '-t', '.', '-s', 'tests'];
  const { code, stderr } = await ended(python, args, { cwd: PACKAGE, env });
  t.equal(code, 0, stderr);
  t.match(stderr, /^OK/m);
});

t.test('its pages show the examples as they are', async (t) => {
  const page = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
  const shown = [...page.matchAll(/<!-- example: (\S+) -->\n```python\n([^]*?)```\n/g)];
  t.ok(shown.length > 0);
  for (const [, name = '', code] of shown) {
    t.equal(code, readFileSync(join(PACKAGE, 'examples', name), 'utf8'), name);
  }
  const versions = ['pyproject.toml', 'src/acuity_client/__init__.py'].map(
    (path) => /version\w* = "([^"]+)"/.exec(readFileSync(join(PACKAGE, path), 'utf8'))?.[1],
  );
  t.equal(versions[0], versions[1]);
});

t.test('the programs of its page run in an empty folder', { skip }, async (t) => {
  const server = await startServer(t);
  const env = cleanEnvironment({
    ACUITY_URL: `http://127.0.0.1:${server.port}`,
    ACUITY_API_KEY: server.key,
    PYTHONPATH: join(PACKAGE, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
  });
  const page = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
  const programs = [...page.matchAll(/```python\n([^]*?)```\n/g)];
  t.equal(programs.length, 3);
  for (const [, program = ''] of programs) {
    const { code, stdout, stderr } = await ended(python, ['-c', program], { cwd: t.testdir({}), env });
    t.equal(code, 0, stderr);
    t.match(stdout, /'attention': \d/);
  }
});

t.test('every file of shared cases is run in both languages', async (t) => {
  const names = readdirSync(join(REPOSITORY, 'packages/cases'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replace('.json', ''))
    .filter((name) => !['measurements', 'norms', 'explanations'].includes(name)); // the service's alone
  const runners = {
    TypeScript: ['test/client/cases.test.ts', 'test/client/lists.test.ts'],
    Python: ['packages/client-python/tests/test_cases.py', 'packages/client-python/tests/test_lists.py'],
  };
  for (const [language, files] of Object.entries(runners)) {
    const source = files.map((file) => readFileSync(join(REPOSITORY, file), 'utf8')).join('\n');
    for (const name of names) t.match(source, new RegExp(`['"]${name}['"]`), `${name} in ${language}`);
  }
});
