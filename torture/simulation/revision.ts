import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of this tree. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What a run follows from, beside its seed, as it was compiled. */
const COMPILED = ['dist', '.build/torture/simulation'];

/** A digest of what a run follows from; with a planted defect, of that too. */
export function revision(defect = ''): string {
  const hash = createHash('sha256').update(defect);
  for (const folder of COMPILED)
    for (const path of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).toSorted())
      if (path.endsWith('.js')) hash.update(path).update(readFileSync(join(ROOT, folder, path)));
  return hash.digest('hex').slice(0, 12);
}
