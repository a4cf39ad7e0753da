import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES, HOUR_AT_REST, featuresHash } from '#acuity/contract/features.js';
import { DECAY, decayOf } from '../recency.js';
import { OUTCOMES } from './effects.js';
import { trainingRates } from './parameters.js';
import { World } from './population.js';

/**
 * Writes a cohort as tensors for the trainer: raw float32 files and a description. People × days × values, days
 * consecutive. The service's own pipeline makes the feature rows.
 */
export function writeCohort(
  out: string,
  { seed, people, days }: { readonly seed: number; readonly people: number; readonly days: number },
): void {
  mkdirSync(out, { recursive: true });
  const world = new World(seed);
  const { rows, causes } = world.simulate(people, days, { parameters: trainingRates(world.parameters) });
  writeFileSync(join(out, 'features.f32'), rows);
  writeFileSync(join(out, 'causes.f32'), causes);
  const { groupSd, traitVariance } = world.norms;
  const description = {
    seed,
    people,
    days,
    features: FEATURES.map(({ name, group, centre, scale }) => ({
      name,
      group,
      centre,
      scale,
      decay: decayOf(group),
    })),
    targetDecay: DECAY,
    hourAtRest: HOUR_AT_REST,
    featuresHash: featuresHash(),
    outcomes: OUTCOMES,
    groupSd: [...groupSd],
    traitVariance: [...traitVariance],
  };
  writeFileSync(join(out, 'cohort.json'), JSON.stringify(description, undefined, 2));
}
