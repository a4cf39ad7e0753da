import t from 'tap';
import { isBeyondBounds, isJson, structureOf } from '#fixtures/bodyVerdict.js';
import {
  bodyOf,
  ELEMENT_PLACE_NAMES,
  ENDINGS,
  FILLERS,
  MEMBER_PLACE_NAMES,
  type Genome,
} from '#bench/worst/body.js';
import { FAMILIES, searchFamily } from '#bench/worst/search.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { createReader } from '#acuity/reading/read.js';
import { pick, seededRandom } from '#acuity/base/random.js';

const read = createReader(DEFAULT_SERIES_LIMITS);

t.test('the search runs over each family within its bytes', async (t) => {
  const options = { read, bytes: 6_000, starts: 2, steps: 2, measureMs: 0.001, random: seededRandom(1) };
  for (const family of FAMILIES) {
    const { bytes, genome } = searchFamily(family, options);
    t.ok(genome.item === family.item && bytes <= options.bytes, family.item);
  }
});

t.test('every body of the search is answered as plain code says', async (t) => {
  const random = seededRandom(2);
  const kinds = { structure: 0, malformed: 0, json: 0 };
  for (const { kind, item } of FAMILIES)
    for (const place of kind === 'element' ? ELEMENT_PLACE_NAMES : MEMBER_PLACE_NAMES)
      for (const ending of ENDINGS) {
        const size = 1 + Math.floor(12 * random());
        const drawn = { size, spaces: Math.floor(2 * random()), filler: pick(random, FILLERS) };
        const bytes = pick(random, [3_000, 3_000, 3_000, 90_000]);
        const genome: Genome = { kind, item, place, ending, ...drawn, isWithin: random() < 0.5, bytes };
        const body = bodyOf(genome);
        const expected = isBeyondBounds(structureOf(body))
          ? 'structure'
          : isJson(body)
            ? 'json'
            : 'malformed';
        kinds[expected]++;
        const answer = read(body);
        const findings = 'findings' in answer ? answer.findings : [];
        const isStructure = findings.some(({ loc, type }) => loc.length === 1 && type === 'too_long');
        const found = isStructure
          ? 'structure'
          : 'kind' in answer && answer.kind === 'malformed'
            ? 'malformed'
            : 'json';
        if (found !== expected) t.fail(`${JSON.stringify(genome)}: ${found}, not ${expected}`);
      }
  t.ok(Object.values(kinds).every((count) => count > 50), JSON.stringify(kinds)); // prettier-ignore
});
