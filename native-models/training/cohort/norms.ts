import { normalCdf } from '#acuity/night/normal.js';
import { Life } from './day.js';
import { Effects, OUTCOME_COUNT } from './effects.js';
import { mean as meanOf, variance } from '../evaluation/statistics.js';
import { solve } from './numeric.js';
import type { Parameters } from './parameters.js';
import { drawPerson, type Person } from './person.js';
import { Random } from './random.js';
import { STREAM } from './streams.js';

const REFERENCE_PEOPLE = 12_000;
const REFERENCE_DAYS = 3;
/** Distant from all other seeds of a build, so that the norms come from other people than those judged. */
const REFERENCE_SEED_OFFSET = 1_000_003;
const TERMS = 4;

/**
 * Typical values: the mean effect by age within each sex, and the spread that turns an outcome into a percentile.
 * They always use the person's true age and sex: what a caller withholds changes what is known, not who is compared.
 */
export interface Norms {
  /** [sex M, F][outcome][power of the scaled age] */
  readonly byAge: readonly (readonly Float64Array[])[];
  readonly groupSd: Float64Array;
  readonly traitVariance: Float64Array;
}

/** Simulates a reference population (states only, no sensors) and fits the norms. */
export function fitNorms(seed: number, p: Parameters): Norms {
  const samples = referenceSamples(seed + REFERENCE_SEED_OFFSET, p);
  const byAge = (['M', 'F'] as const).map((sex) => fitByAge(samples.filter((s) => s.person.sex === sex)));
  const centred = samples.map(({ person, mean }) =>
    Float64Array.from(mean, (value, k) => value - typical(byAge, person, k)),
  );
  const groupSd = new Float64Array(OUTCOME_COUNT);
  for (let k = 0; k < OUTCOME_COUNT; k++) {
    const noise = 1 + meanOf(samples.map(({ slope }) => (slope[k] ?? 0) ** 2));
    groupSd[k] = Math.sqrt(noise + variance(centred.map((row) => row[k] ?? 0)));
  }
  const traitVariance = Float64Array.from({ length: OUTCOME_COUNT }, (_, k) =>
    k < 4 ? p.traitShare : p.moodTraitShare,
  );
  return { byAge, groupSd, traitVariance };
}

interface ReferenceSample {
  readonly person: Person;
  readonly mean: Float64Array;
  readonly slope: Float64Array;
}

function referenceSamples(seed: number, p: Parameters): ReferenceSample[] {
  const effects = new Effects(p);
  const samples: ReferenceSample[] = [];
  for (let id = 0; id < REFERENCE_PEOPLE; id++) {
    const person = drawPerson(id, new Random(seed, id, STREAM.traits), p);
    const life = new Life(person, seed, p);
    for (let day = 0; day < REFERENCE_DAYS; day++) {
      const { mean, slope } = effects.of(person, life.next());
      samples.push({ person, mean: mean.slice(), slope: slope.slice() });
    }
  }
  return samples;
}

function fitByAge(samples: readonly ReferenceSample[]): Float64Array[] {
  return Array.from({ length: OUTCOME_COUNT }, (_, k) => {
    const normal = new Float64Array(TERMS * TERMS);
    const right = new Float64Array(TERMS);
    for (const { person, mean } of samples) {
      for (let i = 0; i < TERMS; i++) {
        const left = scaledAge(person) ** i;
        right[i] = (right[i] ?? 0) + left * (mean[k] ?? 0);
        for (let j = 0; j < TERMS; j++) {
          normal[i * TERMS + j] = (normal[i * TERMS + j] ?? 0) + left * scaledAge(person) ** j;
        }
      }
    }
    return solve(normal, right);
  });
}

function scaledAge(person: Person): number {
  return (person.age - 45) / 20;
}

function typical(byAge: Norms['byAge'], person: Person, k: number): number {
  const coefficients = byAge[person.sex === 'M' ? 0 : 1]?.[k] ?? new Float64Array(0);
  return coefficients.reduce((sum, coefficient, power) => sum + coefficient * scaledAge(person) ** power, 0);
}

/** One day of one person on the scales of the norms; the basis of every evaluation and tensor. */
export class Standing {
  /** Effect of the causes relative to what is typical for age and sex, in SD of the outcome. */
  readonly group = new Float64Array(OUTCOME_COUNT);
  readonly slope = new Float64Array(OUTCOME_COUNT);

  constructor(readonly norms: Norms) {}

  of(person: Person, { mean, slope }: Effects): this {
    const { byAge } = this.norms;
    for (let k = 0; k < OUTCOME_COUNT; k++) {
      this.group[k] = (mean[k] ?? 0) - typical(byAge, person, k);
      this.slope[k] = slope[k] ?? 0;
    }
    return this;
  }

  /** Expected percentile (0 to 1) within age and sex given the causes; traits and noise integrated out. */
  expected(k: number): number {
    const noise = 1 + (this.slope[k] ?? 0) ** 2;
    // A label is a threshold on the outcome itself, a score a percentile of it.
    const spread = k < 4 ? Math.sqrt((this.norms.groupSd[k] ?? 1) ** 2 + noise) : Math.sqrt(noise);
    return normalCdf((this.group[k] ?? 0) / spread);
  }

  /**
   * The outcome with `own` (trait and noise) and a susceptibility of `lean` SD: percentile 0 to 100, label 0 or 1.
   */
  drawn(k: number, own: number, lean: number): number {
    const outcome = (this.group[k] ?? 0) + lean * (this.slope[k] ?? 0) + own;
    if (k >= 4) return outcome >= 0 ? 1 : 0;
    return 100 * normalCdf(outcome / (this.norms.groupSd[k] ?? 1));
  }
}
