/** The packages that ship: what npm would leave after `npm prune --omit=dev`, and what a development dependency needs too. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.js';

/** The lock file. */
export const LOCK = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));

/** Paths below the root with their entries of the lock file. */
export function shippedPackages() {
  return Object.entries(LOCK.packages).filter(
    ([path, entry]) => path.startsWith('node_modules/') && !entry.dev && !entry.devOptional && !entry.link,
  );
}
