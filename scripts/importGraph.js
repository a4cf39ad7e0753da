/**
 * Which compiled module imports which, for the test commands: which tests a change reaches, and which tests start no
 * process. Plain JavaScript without a dependency; it reads the compiler's output, whose imports have a regular form.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { filesBelow } from './prepare.js';

/** Static and dynamic imports, re-exports, and modules started by their address (worker threads, `--import`). */
const SPECIFIERS = /(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*['"]([^'"\n]+)['"]/g;

/**
 * @typedef {object} ImportGraph
 * @property {ReadonlyMap<string, readonly string[]>} imports  for each module, by its path from the root, what it
 *   imports: paths of modules, and names of packages and of Node's own modules as they are written
 */

/**
 * @param {string} root
 * @param {readonly string[]} folders  of compiled modules
 * @returns {ImportGraph}
 */
export function importGraph(root, folders) {
  const aliases = aliasesIn(root);
  const files = folders.flatMap((folder) => filesBelow(join(root, folder)));
  const modules = files.filter((path) => path.endsWith('.js')).map((path) => relative(root, path));
  return { imports: new Map(modules.map((path) => [path, importsOf(root, path, aliases)])) };
}

/**
 * The modules that `from` needs, itself included. `passes` decides whether to follow an import.
 * @param {ImportGraph} graph
 * @param {string} from
 * @param {(path: string) => boolean} passes
 * @returns {Set<string>} packages and Node's own modules included
 */
export function reachOf({ imports }, from, passes = () => true) {
  const reached = new Set([from]);
  for (const path of reached) {
    for (const next of imports.get(path) ?? []) if (passes(next)) reached.add(next);
  }
  return reached;
}

function importsOf(root, path, aliases) {
  const text = readFileSync(join(root, path), 'utf8');
  const specifiers = [...text.matchAll(SPECIFIERS)].map(([, specifier = '']) => specifier);
  return [...new Set(specifiers.map((specifier) => resolved(specifier, path, aliases)))];
}

function resolved(specifier, importer, aliases) {
  if (specifier.startsWith('.')) return normalize(join(dirname(importer), specifier));
  const alias = aliases.find(({ prefix }) => specifier.startsWith(prefix));
  return alias === undefined ? specifier : normalize(alias.folder + specifier.slice(alias.prefix.length));
}

/** `"#bench/*": "./.build/bench/*"` of package.json. */
function aliasesIn(root) {
  const path = join(root, 'package.json');
  const { imports = {} } = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  return Object.entries(imports).map(([name, target]) => ({
    prefix: name.replace('*', ''),
    folder: target.replace('*', ''),
  }));
}
