import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FEATURES, HOUR_AT_REST, featuresHash } from '#acuity/contract/features.js';
import { World } from './population.js';
import { OUTCOMES } from './effects.js';
import { trainingRates } from './parameters.js';
import { Progress } from './progress.js';

/**
 * Writes a cohort as tensors for the trainer: raw float32 files and a description. People × days × values, days
 * consecutive. The service's own pipeline makes the feature rows.
 */
interface Order {
  readonly out: string;
  readonly seed: number;
  readonly people: number;
  readonly days: number;
  readonly effectScale: number;
}

function writeCohort({ out, seed, people, days, effectScale }: Order): void {
  mkdirSync(out, { recursive: true });
  const world = new World(seed, effectScale);
  const progress = new Progress('cohort', people * days);
  const { rows, causes } = world.simulate(people, days, {
    parameters: trainingRates(world.parameters),
    look: () => progress.step(),
  });
  writeFileSync(join(out, 'features.f32'), rows);
  writeFileSync(join(out, 'causes.f32'), causes);
  const { groupSd, traitVariance } = world.norms;
  const description = {
    seed,
    people,
    days,
    effectScale,
    features: FEATURES.map(({ name, group, centre, scale }) => ({ name, group, centre, scale })),
    hourAtRest: HOUR_AT_REST,
    featuresHash: featuresHash(),
    outcomes: OUTCOMES,
    groupSd: [...groupSd],
    traitVariance: [...traitVariance],
  };
  writeFileSync(join(out, 'cohort.json'), JSON.stringify(description, undefined, 2));
}

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    seed: { type: 'string', default: '1' },
    people: { type: 'string', default: '16000' },
    days: { type: 'string', default: '12' },
    'effect-scale': { type: 'string', default: '1' },
  },
});
if (values.out === undefined) throw new Error('usage: write.js --out DIR [--seed N] [--people N] [--days N]');
writeCohort({
  out: values.out,
  seed: Number(values.seed),
  people: Number(values.people),
  days: Number(values.days),
  effectScale: Number(values['effect-scale']),
});
