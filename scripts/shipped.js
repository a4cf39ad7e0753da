/**
 * The packages that ship: those of the lock file that the root's dependencies lead to, not those of its workspaces.
 * `node scripts/shipped.js` removes all others from node_modules, for images.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './prepare.js';

/** The lock file. */
export const LOCK = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));

/** Paths below the root, with their entries in the lock file. */
export function shippedPackages() {
  const found = new Set();
  follow('', found);
  return Object.entries(LOCK.packages).filter(([path]) => found.has(path));
}

/** Adds what the package at `path` depends on, and what that does. */
function follow(path, found) {
  const { dependencies, optionalDependencies, peerDependencies } = LOCK.packages[path];
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    const place = placeOf(name, path);
    if (place === undefined || found.has(place)) continue; // an optional one that is not installed
    found.add(place);
    follow(place, found);
  }
}

/** Where Node looks for a package from another: beside it, then further out. */
function placeOf(name, from) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (LOCK.packages[path] !== undefined) return path;
    if (folder === '') return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const shipped = new Set(shippedPackages().map(([path]) => path));
  const others = Object.keys(LOCK.packages).filter(
    (path) => path.startsWith('node_modules/') && !shipped.has(path),
  );
  for (const path of others) rmSync(join(ROOT, path), { recursive: true, force: true });
}
