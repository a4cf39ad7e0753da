/** `npm run docs`: writes the generated parts of the documents. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withGenerated } from './generated.js';
import { build, failWith, install, ROOT } from './prepare.js';

try {
  await install();
  await build('src');
  const { markdownTable } = await import('../dist/commands/config.js');
  for (const path of ['README.md', 'docs/CONFIGURATION.md']
    .map((name) => join(ROOT, name))
    .filter(existsSync)) {
    writeFileSync(path, withGenerated(readFileSync(path, 'utf8'), 'configuration', markdownTable()));
  }
} catch (error) {
  failWith(error);
}
