import t from 'tap';
import { script } from '../fixtures/repository.js';

type Place = readonly [path: string, phrase: string | undefined, reason: string];

const { faultsIn, hardWords } = await script<{
  hardWords(text: string): readonly { readonly line: number; readonly word: string }[];
  faultsIn(path: string, text: string, places?: readonly Place[]): readonly string[];
}>('words.js');

t.test('hard words are found with their lines, in any case', async (t) => {
  const found = hardWords(
    'Nobody reads.\nIt runs whatever comes,\nso long as it is told of it, behind the others.',
  );
  t.strictSame(
    found.map(({ line, word }) => `${line} ${word}`),
    ['1 nobody', '2 whatever', '3 behind', '3 so long as', '3 told of'],
  );
  t.strictSame(hardWords('Behindhand, after the loop, for any body: somebody told it.'), []);
});

t.test('"behind" is right for a proxy, for what is left, and for being late', async (t) => {
  for (const text of [
    'three replicas behind HAProxy',
    'behind one load balancer',
    'behind a reverse proxy',
    'nothing is left behind',
    'it leaves nothing behind',
    'the reader is behind.',
  ])
    t.strictSame(hardWords(text), [], text);
  t.match(hardWords('a proxy waits behind the answer'), [{ line: 1, word: 'behind' }]);
});

t.test(
  'an exception covers its own phrase in its own file, and is refused when the phrase is gone',
  async (t) => {
    const places: readonly Place[] = [['a.md', 'as ever', 'a quotation']];
    t.strictSame(faultsIn('a.md', 'It runs as ever.', places), []);
    t.match(faultsIn('b.md', 'It runs as ever.', places), [/^b\.md:1: "as ever"/]);
    t.match(faultsIn('a.md', 'As ever, it runs as ever.', places), [/^a\.md:1: "as ever"/]);
    t.match(faultsIn('a.md', 'It runs as usual.', places), [/a\.md no longer contains "as ever"/]);
  },
);

t.test('a file without a phrase is excepted as a whole', async (t) => {
  t.strictSame(
    faultsIn('words.md', 'nobody, whatever, whoever', [['words.md', undefined, 'lists them']]),
    [],
  );
});
