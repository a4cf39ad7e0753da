/** `npm run rules`: writes what the parser and the Python client have of packages/rules. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, failWith, install, ROOT } from './prepare.js';
import { ruleTables } from './ruleTables.js';

try {
  await install();
  await build('rules');
  const tables = await ruleTables(pathToFileURL(join(ROOT, 'dist/rules')).href);
  for (const [path, text] of Object.entries(tables)) writeFileSync(join(ROOT, path), text);
} catch (error) {
  failWith(error);
}
