import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FEATURES, FEATURE_COUNT } from '#acuity/contract/features.js';
import { SERIES_FIELDS } from '#rules/fields.js';
import { trainingRates } from './cohort/parameters.js';
import { World, type Plan, type Population } from './cohort/population.js';
import { Progress } from './cohort/progress.js';
import type { Recording } from './cohort/sensor.js';
import { OTHER_DEVICES, seenBy } from './evaluation/otherDevices.js';

/**
 * What a row would gain by more than the level of a series, and what other devices would then do to the scores:
 * candidate features beside the catalogue's, a network fitted with each set of them, the same checks for all.
 *
 * Candidates are robust forms of what 0.2.0 had, both from 30 samples on: the spread (P90 − P10) and the course (median
 * of the last third minus that of the first).
 */
const KINDS = ['spread', 'course'] as const;
const SERIES = ['hr_day', 'rr_day', 'hr_night', 'rr_night'] as const;
const SAMPLES_MIN = 30;
const PLAUSIBLE = { hr: [25, 240], rr: [3, 70] } as const;
/** Centre and scale by series: spread, course. */
const SCALES = {
  hr_day: [15, 8, 0, 8],
  rr_day: [4, 2, 0, 3],
  hr_night: [9, 6, -4, 6],
  rr_night: [3, 1.5, 0, 1.2],
} as const;
const EXTRA = SERIES.length * KINDS.length * 2;
const WIDTH = FEATURE_COUNT + EXTRA;

const TRAINED = { seed: 2, days: 9 } as const;
const JUDGED = { seed: 3, people: 8_000, days: 9 } as const;
const WORN = { seed: 4, people: 400, days: 6 } as const;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function main(out: string, people: number, python: string): void {
  const trained = new World(TRAINED.seed);
  write(join(out, 'trained'), trained, people, TRAINED.days, {
    parameters: trainingRates(trained.parameters),
  });
  write(join(out, 'judged'), new World(JUDGED.seed), JUDGED.people, JUDGED.days, {});
  const world = new World(WORN.seed);
  write(join(out, 'plain'), world, WORN.people, WORN.days, seenBy());
  OTHER_DEVICES.forEach((other, index) =>
    write(join(out, `device-${index}`), world, WORN.people, WORN.days, seenBy(other)),
  );
  const averaged = OTHER_DEVICES.map(({ isAveraged }) => isAveraged === true);
  const script = join(ROOT, 'native-models/training/candidates.py');
  const { status } = spawnSync(
    python,
    ['-B', script, '--folder', out, '--averaged', JSON.stringify(averaged)],
    {
      stdio: 'inherit',
      cwd: ROOT,
    },
  );
  if (status !== 0) throw new Error(`${script} ended with ${String(status)}`);
}

/** A cohort as tensors, with the candidates behind the features of each row. */
function write(folder: string, world: World, people: number, days: number, plan: Plan): void {
  mkdirSync(folder, { recursive: true });
  const progress = new Progress('cohort', people * days);
  const extras = new Float32Array(people * days * EXTRA);
  const population = world.simulate(people, days, {
    ...plan,
    look(recording, index, day) {
      writeCandidates(recording, extras, (index * days + day) * EXTRA);
      progress.step();
    },
  });
  writeFileSync(join(folder, 'features.f32'), joined(population, extras));
  writeFileSync(join(folder, 'causes.f32'), population.causes);
  const features = FEATURES.map(({ name, group }): object => ({ name, group }));
  for (const series of SERIES) {
    for (const kind of KINDS) {
      const group = `${series}_${kind}`;
      features.push({ name: `${group}_known`, group, part: series }, { name: group, group, part: series });
    }
  }
  const { groupSd, traitVariance } = world.norms;
  const description = { people, days, features, groupSd: [...groupSd], traitVariance: [...traitVariance] };
  writeFileSync(join(folder, 'cohort.json'), JSON.stringify(description));
}

function joined({ rows }: Population, extras: Float32Array): Float32Array {
  const cells = rows.length / FEATURE_COUNT;
  const wide = new Float32Array(cells * WIDTH);
  for (let cell = 0; cell < cells; cell++) {
    wide.set(rows.subarray(cell * FEATURE_COUNT, (cell + 1) * FEATURE_COUNT), cell * WIDTH);
    wide.set(extras.subarray(cell * EXTRA, (cell + 1) * EXTRA), cell * WIDTH + FEATURE_COUNT);
  }
  return wide;
}

function writeCandidates({ session, samples, bounds }: Recording, into: Float32Array, offset: number): void {
  SERIES_FIELDS.forEach((field, index) => {
    const k = session[field]?.[0];
    const series = SERIES[index];
    if (k === undefined || series === undefined) return;
    const [low, high] = PLAUSIBLE[series.startsWith('hr') ? 'hr' : 'rr'];
    const kept = samples
      .subarray(bounds[2 * k], bounds[2 * k + 1])
      .filter((value) => value >= low && value <= high);
    if (kept.length < SAMPLES_MIN) return;
    const third = Math.floor(kept.length / 3);
    const values = [
      quantile(kept, 0.9) - quantile(kept, 0.1),
      quantile(kept.subarray(kept.length - third), 0.5) - quantile(kept.subarray(0, third), 0.5),
    ];
    const scales = SCALES[series];
    values.forEach((value, kind) => {
      const at = offset + (index * KINDS.length + kind) * 2;
      into[at] = 1;
      into[at + 1] = Math.max(
        -4,
        Math.min(4, (value - (scales[2 * kind] ?? 0)) / (scales[2 * kind + 1] ?? 1)),
      );
    });
  });
}

function quantile(values: Float32Array, share: number): number {
  return values.toSorted()[Math.floor(share * (values.length - 1))] ?? NaN;
}

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(ROOT, '.build/model/candidates') },
    people: { type: 'string', default: '16000' },
    /** A Python that has the pinned requirements; `npm run model:build` sets this one up. */
    python: { type: 'string', default: join(ROOT, '.venv/bin/python') },
  },
});
main(values.out, Number(values.people), values.python);
