/**
 * Which compiled module imports which: a tool that plants small defects in dist/ asks which tests reach a file. It reads the
 * compiler's output, whose imports have a regular form.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { filesBelow } from './prepare.js';

/** Static and dynamic imports, re-exports, and modules started by their address (worker threads, `--import`). */
const SPECIFIERS = /(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*['"]([^'"\n]+)['"]/g;

/** @param {string} root @param {readonly string[]} folders  of compiled modules */
export function importGraph(root, folders) {
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const aliases = Object.entries(imports).map(([name, target]) =>
    [name, target].map((text) => text.replace('*', '')),
  );
  const resolved = (specifier, importer) => {
    if (specifier.startsWith('.')) return join(dirname(importer), specifier);
    const [name, folder] = aliases.find(([prefix]) => specifier.startsWith(prefix)) ?? ['', ''];
    return join(folder, specifier.slice(name.length));
  };
  const paths = folders
    .flatMap((folder) => filesBelow(join(root, folder)))
    .map((path) => relative(root, path));
  const importsOf = (path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(SPECIFIERS)].map(([, to]) => resolved(to, path));
  return {
    imports: new Map(paths.filter((path) => path.endsWith('.js')).map((path) => [path, importsOf(path)])),
  };
}

/** The modules that `from` needs, itself included. */
export function reachOf({ imports }, from) {
  const reached = new Set([from]);
  for (const path of reached) for (const next of imports.get(path) ?? []) reached.add(next);
  return reached;
}
