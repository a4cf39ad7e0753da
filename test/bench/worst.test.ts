import t from 'tap';
import { checkAnswer, structureOf, verdictOn } from '#fixtures/bodyVerdict.js';
import {
  bodyOf,
  ELEMENT_PLACE_NAMES,
  ENDINGS,
  FILLERS,
  MEMBER_PLACE_NAMES,
  type Genome,
} from '#bench/worst/body.js';
import { FAMILIES, searchFamily, type SearchOptions } from '#bench/worst/search.js';
import type { BodyProblem } from '#acuity/contract/problems.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { createReader } from '#acuity/reading/read.js';
import { pick, seededRandom } from '#acuity/base/random.js';

const read = createReader(DEFAULT_SERIES_LIMITS);
const OPTIONS: SearchOptions = {
  read,
  bytes: 6_000,
  starts: 2,
  steps: 2,
  measureMs: 0.001,
  random: seededRandom(1),
};

for (const family of FAMILIES) {
  t.test(`the search runs over ${family.item}`, async (t) => {
    const { ms, bytes, genome } = searchFamily(family, OPTIONS);
    t.equal(genome.item, family.item);
    t.ok(bytes <= OPTIONS.bytes);
    t.ok(ms >= 0);
  });
}

t.test('every body of the search is answered as plain code says', async (t) => {
  const random = seededRandom(2);
  const kinds = { structure: 0, malformed: 0, json: 0 };
  for (const { kind, item } of FAMILIES) {
    for (const place of kind === 'element' ? ELEMENT_PLACE_NAMES : MEMBER_PLACE_NAMES) {
      for (const ending of ENDINGS) {
        const genome: Genome = {
          kind,
          item,
          place,
          ending,
          size: 1 + Math.floor(12 * random()),
          spaces: Math.floor(2 * random()),
          filler: pick(random, FILLERS),
          isWithin: random() < 0.5,
          bytes: pick(random, [3_000, 3_000, 3_000, 90_000]),
        };
        const body = bodyOf(genome);
        const verdict = verdictOn(body);
        kinds[verdict]++;
        const answer = read(body);
        try {
          checkAnswer(verdict, 'kind' in answer ? (answer as BodyProblem) : undefined);
        } catch (error) {
          t.fail(`${JSON.stringify(genome)}: ${String(error)}`);
        }
      }
    }
  }
  t.ok(
    Object.values(kinds).every((count) => count > 50),
    JSON.stringify(kinds),
  );
});

t.test('plain code counts what is there', async (t) => {
  const structure = (text: string) => Object.values(structureOf(Buffer.from(text)));
  t.strictSame(structure('{"a":[{},"]"],"\\"[":""}'), [3, 3, 4]);
  t.strictSame(structure(']]}[['), [2, 2, 0]);
  t.strictSame(structure('\\"[[\\"['), [0, 0, 1]);
  t.strictSame(structure('"\\\\"[ "\\'), [1, 1, 2]);
});
