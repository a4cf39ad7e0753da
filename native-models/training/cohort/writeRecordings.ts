import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FEATURES, featuresHash } from '#acuity/contract/features.js';
import { World } from './population.js';
import { ordinaryGaps, recordings } from './recordings.js';

/** Number of other devices that record each person's days again. */
const TAKES = 2;

/**
 * Writes recordings for `repeatability.py`: own.f32 and other-K.f32 [people, days, F], missing.f32 [people, days],
 * and a description. People live at the rates of the table, since ranges must hold for ordinary days.
 */
const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    seed: { type: 'string', default: '31' },
    people: { type: 'string', default: '40000' },
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
  withheld: ordinaryGaps(world.seed),
});
mkdirSync(values.out, { recursive: true });
writeFileSync(join(values.out, 'own.f32'), made.own);
writeFileSync(join(values.out, 'missing.f32'), made.missing);
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
