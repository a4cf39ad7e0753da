import { createHash } from 'node:crypto';

/** The key check of a peer: a look-up of the key's hash in a set, without states, limits or quotas. */
export function createKeyCheck(digest: string): (key: unknown) => boolean {
  const known = new Set([digest]);
  return (key) => typeof key === 'string' && known.has(createHash('sha256').update(key).digest('base64url'));
}
