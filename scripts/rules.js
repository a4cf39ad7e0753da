/**
 * `npm run docs`: generates the parser's tables from packages/rules, and the service's layout from the parser.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, failWith, install, ROOT } from './prepare.js';
import { recordLayout } from './recordLayout.js';
import { ruleTables } from './ruleTables.js';

try {
  await install('service');
  await build('rules');
  const tables = await ruleTables(pathToFileURL(join(ROOT, 'dist/rules')).href);
  for (const [path, text] of Object.entries(tables)) writeFileSync(join(ROOT, path), text);
  await build('parser');
  const parser = readFileSync(join(ROOT, 'dist/reading/parser.wasm'));
  writeFileSync(join(ROOT, 'src/records/layout.ts'), recordLayout(parser));
} catch (error) {
  failWith(error);
}
