import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { filesBelow, REPOSITORY, script, textOf } from '../fixtures/repository.js';

/** Licences that ask for no more than their text. */
const PERMISSIVE =
  /^(MIT|MIT OR Apache-2\.0|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|CC0-1\.0|\(MIT OR CC0-1\.0\))$/;

t.test('server, clients, chart and changelog have one version', async (t) => {
  const { versionOf } = await script<{ versionOf(root: string): { problems: string[] } }>('version.js');
  t.strictSame(versionOf(REPOSITORY).problems, []);
});

t.test('each package that ships has a licence that lets it', async (t) => {
  const { shippedPackages } = await script<{ shippedPackages(): string[] }>('archive.js');
  const packages = shippedPackages();
  t.ok(packages.length > 20);
  for (const path of packages) {
    const { license = '' } = JSON.parse(textOf(`${path}/package.json`)) as { readonly license?: string };
    for (const one of license.split(' AND ')) t.match(one, PERMISSIVE, `${path}: ${license}`);
  }
  t.ok(existsSync(join(REPOSITORY, 'packages/client-ts/LICENSE')));
});

t.test('only the configuration reads the environment', async (t) => {
  const sources = await filesBelow('src');
  const readers = sources.filter((path) => path.endsWith('.ts') && /process\s*(\.|\[['"])env\b/.test(textOf(`src/${path}`))); // prettier-ignore
  // The second one writes samples of code for callers, and reads nothing.
  t.strictSame(readers.toSorted(), [join('config', 'environment.ts'), join('contract', 'codeSamples.ts')]);
});

t.test('commands write to standard output by print.ts alone, which looks at what was written', async (t) => {
  const sources = (await filesBelow('src')).filter((path) => path.endsWith('.ts'));
  const direct = /process\s*(\.|\[['"])stdout\b|\{[^{}]*\bstdout\b[^{}]*\}\s*=\s*process\b/;
  const writers = sources.filter((path) => direct.test(textOf(join('src', path))));
  // The other one is the service's log, which never waits.
  t.strictSame(writers.toSorted(), [
    join('base', 'process', 'print.ts'),
    join('base', 'process', 'standardOutput.ts'),
  ]);
});

t.test('no folder is read through its links', async (t) => {
  const own = ['src', 'scripts', 'packages', 'test', 'bench', 'native-models', 'examples'];
  const files = own.map(async (folder) => (await filesBelow(folder)).map((path) => join(folder, path)));
  const sources = (await Promise.all(files)).flat().filter((path) => /\.[cm]?[jt]s$/.test(path));
  // Node's recursive reading follows links to folders: of any kind since Node 24, without end where two lead upwards.
  const through = sources.filter((path) =>
    /\b(readdir|opendir)(Sync)?\((?:[^;()]|\([^()]*\))*recursive:/.test(textOf(path)),
  );
  t.strictSame(through, []);
  t.ok(sources.length > 300);
});
