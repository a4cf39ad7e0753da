import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cleanEnvironment, REPOSITORY, script } from '../fixtures/repository.js';

type Texts = Readonly<Record<string, string>>;

const { documents, recordLayout } = await script<{
  documents(env: NodeJS.ProcessEnv): Promise<Texts>;
  recordLayout(): string;
}>('docs.js');
const { ruleTables } = await script<{ ruleTables(): Promise<Texts> }>('ruleTables.js');

/** Scores in whole points, because another processor may round the last digit otherwise. */
function comparable(text: string): string {
  const whole = (score: string): string => Number(score).toFixed();
  return text.replace(/^\{"C_SCORE".*$/gm, (line) => line.replace(/\d+\.\d+/g, whole));
}

t.test('what is generated is what `npm run docs` writes', async (t) => {
  const layout = { 'src/records/layout.ts': recordLayout() };
  const texts = { ...(await documents(cleanEnvironment())), ...(await ruleTables()), ...layout };
  for (const [path, text] of Object.entries(texts)) {
    t.equal(
      comparable(readFileSync(join(REPOSITORY, path), 'utf8')),
      comparable(text),
      `${path}: npm run docs`,
    );
  }
});
