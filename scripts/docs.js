/** `npm run docs`: writes the generated parts of the documents. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleAnswer } from './exampleAnswer.js';
import { withGenerated } from './generated.js';
import { build, failWith, install, ROOT } from './prepare.js';

try {
  await install();
  await build('src');
  const { markdownTable } = await import('../dist/commands/config.js');
  const example = exampleAnswer();
  for (const path of ['README.md', 'docs/CONFIGURATION.md']
    .map((name) => join(ROOT, name))
    .filter(existsSync)) {
    const text = withGenerated(readFileSync(path, 'utf8'), 'configuration', markdownTable());
    writeFileSync(path, withGenerated(text, 'example', example));
  }
} catch (error) {
  failWith(error);
}
