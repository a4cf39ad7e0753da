/** `npm run docs:openapi`: writes docs/openapi.json from the schemas. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, failWith, install, ROOT } from './prepare.js';

try {
  await install();
  await build('src');
  const { openapiDocument } = await import('../dist/contract/openapi.js');
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  writeFileSync(
    join(ROOT, 'docs/openapi.json'),
    `${JSON.stringify(openapiDocument({ version }), null, 2)}\n`,
  );
} catch (error) {
  failWith(error);
}
