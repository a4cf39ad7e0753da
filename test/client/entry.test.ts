import { readdirSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import t from 'tap';
import { REPOSITORY } from '../fixtures/repository.js';

const DIST = join(REPOSITORY, 'dist/client');
/** What the client has in common with the service. */
const SHARED = ['rules', 'adapters'].map((name) => [`#${name}/`, join(REPOSITORY, 'dist', name)] as const);

t.test('the package is imported by its name and has what the documents use', async (t) => {
  const client = (await import('acuity/client')) as Record<string, unknown>;
  for (const name of ['AcuityClient', 'History', 'memoryStorage', 'RefusedError']) {
    t.type(client[name], 'function', name);
  }
});

/** Every file that `file` imports at run time, and theirs, and the packages that they name. */
function importsFrom(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const source = readFileSync(file, 'utf8');
  for (const [, from = ''] of source.matchAll(/(?:\bfrom |\bimport |\bimport\()'([^']+)'/g)) {
    const shared = SHARED.find(([alias]) => from.startsWith(alias));
    if (shared !== undefined) importsFrom(join(shared[1], from.slice(shared[0].length)), found);
    else if (from.startsWith('.')) importsFrom(join(dirname(file), from), found);
    else if (!from.startsWith('node:')) found.add(from);
  }
  return found;
}

t.test(
  'at run time the client brings the rules and adapters, and nothing else of the service or of others',
  async (t) => {
    const found = new Set<string>();
    for (const file of readdirSync(DIST).filter((name) => name.endsWith('.js'))) {
      importsFrom(join(DIST, file), found);
    }
    const foreign = [...found]
      .filter(
        (from) => ![DIST, ...SHARED.map(([, folder]) => folder)].some((folder) => from.startsWith(folder)),
      )
      .map((from) => (isAbsolute(from) ? relative(DIST, from) : from));
    t.strictSame(foreign, []);
  },
);
