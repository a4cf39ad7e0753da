import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REPOSITORY } from '../fixtures/repository.js';

/** docs/ARCHITECTURE.md against the code, both ways. */

const PAGE = readFileSync(join(REPOSITORY, 'docs/ARCHITECTURE.md'), 'utf8');
const MAP = /## Map\n\n```\n(.*?)```/s.exec(PAGE)?.[1] ?? '';

/** Folders of the map: "name/" at an indent, below the folder of the indent before. */
function foldersOfMap(): string[] {
  const above: string[] = [];
  return [...MAP.matchAll(/^( *)([\w.-]+)\/ /gm)].map(([, indent = '', name = '']) => {
    above.length = indent.length / 2;
    above.push(name);
    return above.join('/');
  });
}

function foldersIn(folder: string): string[] {
  const names = readdirSync(join(REPOSITORY, folder));
  const hidden = (name: string): boolean => name.startsWith('.') || ['dist', 'node_modules'].includes(name);
  return names
    .filter((name) => !hidden(name) && statSync(join(REPOSITORY, folder, name)).isDirectory())
    .map((name) => join(folder, name));
}

t.test('every folder is in the map, and the map names no other', async (t) => {
  const there = ['.', 'src', 'bench', 'native-models', 'packages'].flatMap(foldersIn);
  const generated = ['data', 'results', 'coverage', 'bench/results', 'native-models/data'];
  const wanted = there.filter((folder) => !generated.includes(folder));
  t.ok(wanted.length > 30);
  t.strictSame(foldersOfMap().toSorted(), wanted.toSorted());
});

t.test('every path in it exists', async (t) => {
  const paths = [...PAGE.matchAll(/`([\w-]+\/[\w/.-]*)`/g)].map(([, path = '']) => path);
  t.ok(paths.length > 15);
  for (const path of paths)
    t.ok(
      ['', 'src'].some((above) => existsSync(join(REPOSITORY, above, path))),
      path,
    );
});
