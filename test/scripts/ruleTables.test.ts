import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { REPOSITORY, script } from '../fixtures/repository.js';

const { ruleTables } = await script<{
  ruleTables(folder: string): Promise<Readonly<Record<string, string>>>;
}>('ruleTables.js');

const { recordLayout } = await script<{ recordLayout(parser: Uint8Array): string }>('recordLayout.js');

t.test('what is generated from packages/rules is what `npm run docs` writes', async (t) => {
  const tables = await ruleTables(pathToFileURL(join(REPOSITORY, 'dist/rules')).href);
  t.ok(Object.keys(tables).length > 1);
  for (const [path, text] of Object.entries(tables)) {
    t.equal(readFileSync(join(REPOSITORY, path), 'utf8'), text, path);
  }
});

t.test('the layout of a record is the parser’s', async (t) => {
  const parser = readFileSync(join(REPOSITORY, 'dist/reading/parser.wasm'));
  t.equal(readFileSync(join(REPOSITORY, 'src/records/layout.ts'), 'utf8'), recordLayout(parser));
});
