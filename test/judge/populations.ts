import { FEATURE_COUNT, featureAt } from '#acuity/contract/features.js';
import { judge, type ViewFinding, type OutcomeVerdict } from '#acuity/judge/judge.js';
import { Nights } from '#acuity/judge/nights.js';
import { SCORES, type Outcome, type ScoreName } from '#acuity/judge/outcomes.js';
import { VIEWS } from '#acuity/judge/sums.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import { OUTCOME_COUNT } from '#training/cohort/effects.js';
import { normalCdf } from '#training/cohort/numeric.js';
import type { Population, World } from '#training/cohort/population.js';
import { Random } from '#training/cohort/random.js';
import type { ServedModel } from '#training/served.js';
import { rollOut } from '#training/evaluation/rollout.js';
import { mean, sd } from '#training/evaluation/statistics.js';

/** People whose nights the served network has scored, and of whom populations are made. */
export interface Pool {
  readonly world: World;
  readonly people: Population;
  /** [people, days, 7] */
  readonly scores: Float32Array;
}

export const DAYS = 14;

/**
 * The causes of people's outcomes. As assumed: the cohort's causes, which the network learned from. Doubled: the same
 * causes, twice as strong. Other causes: as strong as doubled, half from the minutes asleep as recorded and half from
 * a mood that lasts for days; neither needs a network. None: only each person's own level and chance.
 */
export const POPULATIONS = ['as assumed', 'effects doubled', 'other causes', 'none'] as const;
export type PopulationName = (typeof POPULATIONS)[number];

/** Streams of this file, away from those of the cohort. */
const CHOICE = 401;
const OUTCOMES = 402;
/** How much of a mood lasts to the next day. */
const LASTING = 0.8;
const SCORES_AMONG_OUTCOMES = 4;

const SLEEP = featureAt('sleep_time_known');
const NIGHT_HEART = featureAt('hr_night_known');
const [MINUTES, HEART, FIRST_SCORE] = [0, 1, 2];
const FIRST_OUTCOME = FIRST_SCORE + SCORES.length;
const COLUMNS = FIRST_OUTCOME + SCORES.length;

export async function poolOf(world: World, model: ServedModel, count: number): Promise<Pool> {
  const people = world.simulate(count, DAYS);
  return { world, people, scores: (await rollOut(model, people)).scores };
}

/** `count` people of the pool, each once. */
export function choosePeople(pool: Pool, count: number, run: number): number[] {
  const random = new Random(pool.world.seed, run, CHOICE);
  const left = [...pool.people.people.keys()];
  return Array.from({ length: count }, () =>
    left.splice(Math.floor(random.uniform() * left.length), 1),
  ).flat();
}

/** The verdicts on `scores`, each judged by the outcome of the same name in a population of these people. */
export function judgePopulation(
  pool: Pool,
  chosen: readonly number[],
  {
    population,
    run,
    draws,
  }: { readonly population: PopulationName; readonly run: number; readonly draws: number },
  scores: readonly ScoreName[],
): OutcomeVerdict[] {
  const nights = new Nights(COLUMNS, chosen.length * DAYS);
  const source = new OutcomeSource(pool, population);
  const row = new Float64Array(COLUMNS);
  for (const [place, person] of chosen.entries()) {
    source.meet(person, run);
    for (let day = 0; day < DAYS; day++) {
      const cell = person * DAYS + day;
      row[MINUTES] = knownAt(pool.people.rows, cell, SLEEP);
      row[HEART] = knownAt(pool.people.rows, cell, NIGHT_HEART);
      row.set(pool.scores.subarray(cell * OUTPUT_COLUMNS, (cell + 1) * OUTPUT_COLUMNS), FIRST_SCORE);
      row.set(source.draw(cell), FIRST_OUTCOME);
      nights.add(place, row);
    }
  }
  const outcomes = scores.map((score): Outcome => ({ column: score, score, sign: 1, isPercentile: false }));
  const places = scores.map((score) => SCORES.indexOf(score));
  return judge(
    nights.all(),
    outcomes,
    {
      minutes: MINUTES,
      heart: HEART,
      outcomes: places.map((place) => ({ score: FIRST_SCORE + place, outcome: FIRST_OUTCOME + place })),
    },
    { seed: run, draws },
  );
}

/** The value of `feature` as the network sees it; NaN if the device did not give it. */
function knownAt(rows: Float32Array, cell: number, feature: number): number {
  const known = rows[cell * FEATURE_COUNT + feature] ?? 0;
  return known > 0 ? (rows[cell * FEATURE_COUNT + feature + 1] ?? NaN) : NaN;
}

/** Draws what happens to a person on each day, in the order of `SCORES`: percentiles, and 0 or 1 for labels. */
class OutcomeSource {
  private readonly random = new Random();
  private readonly traits = new Float64Array(OUTCOME_COUNT);
  private readonly moods = new Float64Array(OUTCOME_COUNT);
  private readonly leans = new Float64Array(2);
  private readonly drawn = new Float64Array(SCORES.length);
  private readonly sleepMean: number;
  private readonly sleepSd: number;

  constructor(
    private readonly pool: Pool,
    private readonly population: PopulationName,
  ) {
    const { people, days, rows } = pool.people;
    const told = Float64Array.from({ length: people.length * days }, (_, cell) => knownAt(rows, cell, SLEEP));
    const known = told.filter((value) => !Number.isNaN(value));
    this.sleepMean = mean(known);
    this.sleepSd = sd(known);
  }

  meet(person: number, run: number): void {
    this.random.reseed(this.pool.world.seed, run, person, OUTCOMES);
    const { traitVariance } = this.pool.world.norms;
    for (let k = 0; k < OUTCOME_COUNT; k++) {
      this.traits[k] = this.random.normal(0, Math.sqrt(traitVariance[k] ?? 0));
      this.moods[k] = this.random.normal();
    }
    for (let k = 0; k < this.leans.length; k++) this.leans[k] = this.random.normal();
  }

  draw(cell: number): Float64Array {
    const { traitVariance } = this.pool.world.norms;
    for (let k = 0; k < OUTCOME_COUNT; k++) {
      const noise = this.random.normal(0, Math.sqrt(1 - (traitVariance[k] ?? 0)));
      const [effect, spread] = this.effectOf(cell, k);
      const outcome = effect + (this.traits[k] ?? 0) + noise;
      this.drawn[1 + k] =
        k < SCORES_AMONG_OUTCOMES
          ? 100 * normalCdf(outcome / Math.sqrt(1 + spread ** 2))
          : outcome >= 0
            ? 1
            : 0;
    }
    const [, attention = NaN, memory = NaN, reasoning = NaN] = this.drawn;
    this.drawn[0] = 0.4 * attention + 0.3 * memory + 0.3 * reasoning;
    return this.drawn;
  }

  /** What acts on outcome `k` on a day, in SD of the outcome, and how far people and days differ by it. */
  private effectOf(cell: number, k: number): readonly [effect: number, spread: number] {
    const { people, world } = this.pool;
    const size = Math.sqrt((world.norms.groupSd[k] ?? 1) ** 2 - 1);
    const mood = this.random.normal();
    this.moods[k] = LASTING * (this.moods[k] ?? 0) + Math.sqrt(1 - LASTING ** 2) * mood;
    if (this.population === 'none') return [0, 0];
    if (this.population === 'other causes') {
      const told = knownAt(people.rows, cell, SLEEP);
      const sleep = Number.isNaN(told) ? 0 : (told - this.sleepMean) / this.sleepSd;
      const better = k === SCORES.indexOf('stress') - 1 ? -sleep : sleep;
      return [Math.SQRT2 * size * (better + (this.moods[k] ?? 0)), 2 * size];
    }
    const times = this.population === 'effects doubled' ? 2 : 1;
    const group = people.causes[cell * 2 * OUTCOME_COUNT + k] ?? 0;
    const slope = people.causes[(cell * 2 + 1) * OUTCOME_COUNT + k] ?? 0;
    const lean = this.leans[k < SCORES_AMONG_OUTCOMES ? 0 : 1] ?? 0;
    return [times * (group + lean * slope), times * size];
  }
}

/** The strongest finding for an outcome, over both views. */
export function findingOf({ views }: OutcomeVerdict): ViewFinding {
  const order: readonly ViewFinding[] = ['adds', 'against', 'goes', 'nothing'];
  return order.find((finding) => VIEWS.some((view) => views[view].finding === finding)) ?? 'too-few';
}
