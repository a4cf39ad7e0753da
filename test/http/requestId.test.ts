import t from 'tap';
import { requestIds } from '#acuity/http/requestIds.js';

t.test('a well-formed id is kept, another one is replaced', async (t) => {
  const id = requestIds('p');
  for (const given of ['a', 'A-1_b.c', 'x'.repeat(128)]) t.equal(id(given), given);
  for (const given of ['', 'x'.repeat(129), 'a b', 'a\n', 'a/b', '\u00e9', '"'])
    t.match(id(given), /^p-[0-9a-z]+$/);
});

t.test('generated ids are well formed and never repeat, in one loop and between two', async (t) => {
  const [one, other] = [requestIds(), requestIds()];
  const ids = Array.from({ length: 2000 }, (_, index) => (index % 2 === 0 ? one('') : other('')));
  t.equal(new Set(ids).size, ids.length);
  for (const id of ids) if (!/^[A-Za-z0-9._-]{1,128}$/.test(id)) t.fail(id);
});
