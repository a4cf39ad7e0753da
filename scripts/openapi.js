/** `npm run docs`: writes docs/openapi.json from the schemas. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, failWith, install, ROOT } from './prepare.js';

try {
  await install();
  await build('src');
  const { format, resolveConfig } = await import('prettier');
  const { openapiDocument } = await import('../dist/contract/openapi.js');
  const { shippedParts } = await import('../dist/admin/referencePage.js');
  const path = join(ROOT, 'docs/openapi.json');
  const style = { ...(await resolveConfig(path)), filepath: path };
  writeFileSync(path, await format(JSON.stringify(openapiDocument(shippedParts())), style));
} catch (error) {
  failWith(error);
}
