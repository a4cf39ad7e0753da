/**
 * Writes packages/norms as TypeScript and as Python, for the clients: `npm run rules` writes these files, and a test
 * fails if one is stale.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prepare.js';
import { python } from './ruleTables.js';

const HEAD = 'Generated from packages/norms by `npm run rules`: change it there.';

/** @returns {Readonly<Record<string, string>>} the generated files, by path in the repository */
export function normTables() {
  const read = (name) => JSON.parse(readFileSync(join(ROOT, 'packages/norms', `${name}.json`), 'utf8'));
  const norms = { ...read('published'), ...read('computed') };
  return {
    'packages/client-ts/src/normTables.ts': typescript(norms),
    'packages/client-python/src/acuity_client/_norm_tables.py': `"""${HEAD}"""\n\nfrom typing import Any\n\nTABLES: dict[str, Any] = ${python(norms)}\n`,
  };
}

/** With explicit types: those inferred from the values would double their size in the package. */
function typescript(norms) {
  const names = Object.keys(norms).map((name) => `'${name}'`);
  return `// ${HEAD}
import type { Norm } from './norm.js';

export type NormName = ${names.join(' | ')};

export const TABLES: Readonly<Record<NormName, Norm>> = ${JSON.stringify(norms, null, 1)};
`;
}
