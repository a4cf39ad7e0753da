import t from 'tap';
import { cleanEnvironment, script, textOf } from '../fixtures/repository.js';

type Texts = Readonly<Record<string, string>>;

const { documents, nights, recordLayout } = await script<{
  documents(env: NodeJS.ProcessEnv): Promise<Texts>;
  nights(): Promise<Texts>;
  recordLayout(): string;
}>('docs.js');
const { ruleTables } = await script<{ ruleTables(): Promise<Texts> }>('ruleTables.js');

/** Scores in whole points, because another processor may round the last digit otherwise. */
function comparable(text: string): string {
  return text.replace(/^\{"C_SCORE".*$/gm, (line) => line.replace(/\d+\.\d+/g, (of) => Number(of).toFixed()));
}

t.test('what is generated is what `npm run docs` writes', async (t) => {
  const layout = { 'src/night/layout.ts': recordLayout() };
  const made = [await documents(cleanEnvironment()), await nights(), await ruleTables(), layout];
  const texts = Object.assign({}, ...made) as Texts;
  for (const [path, text] of Object.entries(texts))
    t.equal(comparable(textOf(path)), comparable(text), `${path}: npm run docs`);
});
