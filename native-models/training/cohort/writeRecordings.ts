import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FEATURES, featuresHash } from '#acuity/contract/features.js';
import { World } from './population.js';
import { recordings } from './recordings.js';

/** Other devices that record each person's days once more. */
const TAKES = 2;
/** Half of the callers send what the device gives; the others leave out up to so many fields of it. */
const WHOLE = 0.5;
const WITHHELD_MOST = 13;

/**
 * Writes recordings for `explain.py`: own.f32 and other-K.f32 [people, days, F], missing.f32 [people, days], samples.f32 [people,
 * days, 4], and a
 * description. People live at the rates of the table: ranges are to hold for ordinary days.
 */
const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    seed: { type: 'string', default: '31' },
    people: { type: 'string', default: '12000' },
    days: { type: 'string', default: '7' },
  },
});
if (values.out === undefined)
  throw new Error('usage: writeRecordings.js --out DIR [--seed N] [--people N] [--days N]');
const people = Number(values.people);
const days = Number(values.days);
const world = new World(Number(values.seed));
const made = recordings(world, {
  count: people,
  days,
  takes: TAKES,
  withheld: (_, random) => (random.chance(WHOLE) ? 0 : 1 + Math.floor(random.uniform() * WITHHELD_MOST)),
});
mkdirSync(values.out, { recursive: true });
writeFileSync(join(values.out, 'own.f32'), made.own);
writeFileSync(join(values.out, 'missing.f32'), made.missing);
writeFileSync(join(values.out, 'samples.f32'), made.samples);
made.others.forEach((rows, take) => writeFileSync(join(values.out ?? '', `other-${take}.f32`), rows));
writeFileSync(
  join(values.out, 'recordings.json'),
  JSON.stringify({
    seed: world.seed,
    people,
    days,
    takes: TAKES,
    features: FEATURES.map(({ name, group }) => ({ name, group })),
    featuresHash: featuresHash(),
  }),
);
