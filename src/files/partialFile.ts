import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './fileLock.js';
import { ifPresentSync } from './fileError.js';

const NONCE_BYTES = 6;
/** Process ids mean nothing on another host that writes to the same disk. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const PARTIAL = /\.([0-9a-f]{8})-(\d+)-[0-9a-f]{12}\.partial$/;

/** Opens only a file that does not exist, so that no link is followed and no mode is kept. */
export const NEW_FILE = 'wx';
export const OWNER_ONLY = 0o600;

/**
 * A unique name for a new file beside `path`, to be renamed to `path` once complete: neither a running nor a killed
 * process uses the same.
 */
export function partialName(path: string): string {
  const nonce = randomBytes(NONCE_BYTES).toString('hex');
  return `${path}.${HOST}-${process.pid}-${nonce}.partial`;
}

/** Removes files in `folder` left by processes of this host that have ended. Call before this process creates any. */
export function removeDeadPartials(folder: string): void {
  for (const name of ifPresentSync(() => readdirSync(folder)) ?? []) {
    const [, host, pid] = PARTIAL.exec(name) ?? [];
    const isDead = host === HOST && (Number(pid) === process.pid || !isAlive(Number(pid)));
    if (isDead) rmSync(join(folder, name), { force: true });
  }
}
