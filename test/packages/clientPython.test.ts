import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment, REPOSITORY, textOf } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

const PACKAGE = join(REPOSITORY, 'packages/client-python');

/** The environment of `npm run python`, else the system's Python if it has the same packages. */
const PREPARED = join(REPOSITORY, '.build/python/bin/python');
const python = existsSync(PREPARED) ? PREPARED : 'python3';
const lacks = (modules: string): string | false =>
  spawnSync(python, ['-c', `import ${modules}`]).status !== 0 &&
  `there is no Python with ${modules} here: npm run python installs them`;
const skip = lacks('httpx, pytest');

t.test('the Python client passes its tests, against the running service too', { skip }, async (t) => {
  const server = await startServer(t);
  const env = cleanEnvironment({ ...server.known, PYTHONPATH: join(PACKAGE, 'src') });
  const args = ['-B', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests'];
  const { code, stdout, stderr } = await ended(python, args, { cwd: PACKAGE, env });
  t.equal(code, 0, stdout + stderr);
  t.match(stdout, /\d+ passed/);
});

t.test('its types hold', { skip: lacks('httpx, pytest, mypy') }, async (t) => {
  const { code, stdout } = await ended(python, ['-m', 'mypy', '--cache-dir', t.testdir()], { cwd: PACKAGE });
  t.equal(code, 0, stdout);
});

t.test('every file of cases for clients is run in both languages', async (t) => {
  const ofTheService = ['adapters', 'computed', 'histories'];
  const names = readdirSync(join(REPOSITORY, 'packages/cases'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replace('.json', ''))
    .filter((name) => !ofTheService.includes(name));
  for (const folder of ['test/client', 'packages/client-python/tests']) {
    const files = readdirSync(join(REPOSITORY, folder)).filter((name) => /\.(ts|py)$/.test(name));
    const source = files.map((name) => textOf(join(folder, name))).join('\n');
    for (const name of names) t.match(source, new RegExp(`['"]${name}['"]`), `${name} in ${folder}`);
  }
});
