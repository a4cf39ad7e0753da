import t from 'tap';
import { FAMILIES, searchFamily } from '#bench/worst/search.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { createReader } from '#acuity/read/read.js';
import { seededRandom } from '#acuity/base/random.js';

const read = createReader(DEFAULT_SERIES_LIMITS);

t.test('the search runs over each family within its bytes', async (t) => {
  const options = { read, bytes: 6_000, starts: 2, steps: 2, measureMs: 0.001, random: seededRandom(1) };
  for (const family of FAMILIES) {
    const { bytes, genome } = searchFamily(family, options);
    t.ok(genome.item === family.item && bytes <= options.bytes, family.item);
  }
});
