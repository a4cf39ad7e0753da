import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REPOSITORY, script } from '../fixtures/repository.js';
import { writeRepository } from '../fixtures/scripts.js';

const { versionOf, PLACES } = await script<{
  versionOf(root: string): { version: string; problems: string[] };
  PLACES: Readonly<Record<string, readonly RegExp[]>>;
}>('version.js');

t.test('server, clients, chart and changelog have one version', async (t) => {
  const { version, problems } = versionOf(REPOSITORY);
  t.match(version, /^\d+\.\d+\.\d+$/);
  t.strictSame(problems, []);
});

t.test('a place that was forgotten is named', async (t) => {
  for (const path of Object.keys(PLACES).filter((path) => path !== 'package.json')) {
    const dir = t.testdir();
    const texts = Object.fromEntries(
      Object.keys(PLACES).map((name) => [name, readFileSync(join(REPOSITORY, name), 'utf8')]),
    );
    const { version } = versionOf(REPOSITORY);
    const stale = (texts[path] ?? '').replaceAll(version, '0.0.9');
    writeRepository(dir, { ...texts, [path]: stale });
    const { problems } = versionOf(dir);
    t.equal(problems.length, PLACES[path]?.length, path);
    for (const problem of problems) t.equal(problem, `${path} says 0.0.9, package.json ${version}`);
  }
});
