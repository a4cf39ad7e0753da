import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
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

t.test('actions of workflows are pinned by hash, with their version beside it', async (t) => {
  const folder = join(REPOSITORY, '.github/workflows');
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
    for (const [, used = ''] of text.matchAll(/uses: (.+)/g))
      t.match(used, /^(\.\/\S+|[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/, `${name}: ${used}`);
  }
});

t.test('the workflow runs existing scripts', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const name of ['ci.yml', 'release.yml']) {
    const text = readFileSync(join(REPOSITORY, '.github/workflows', name), 'utf8');
    const { jobs } = parse(text) as { jobs: Record<string, { steps?: { run?: string }[] }> };
    const lines = Object.values(jobs).flatMap(({ steps = [] }) => steps.map(({ run = '' }) => run));
    const asked = lines.flatMap((line) =>
      [...line.matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script),
    );
    t.ok(asked.length > 0, name);
    for (const script of asked) t.ok(scripts[script ?? ''], `npm run ${script}`);
  }
});
