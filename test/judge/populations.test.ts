import t from 'tap';
import { FEATURE_COUNT, featureAt } from '#acuity/contract/features.js';
import { EXPECTED } from '#acuity/judge/expected.js';
import { judge, type OutcomeVerdict } from '#acuity/judge/judge.js';
import { Nights } from '#acuity/judge/nights.js';
import { SCORES, columnsOf, type Outcome, type ScoreName } from '#acuity/judge/outcomes.js';
import { VIEWS } from '#acuity/judge/sums.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import { MODEL } from '#fixtures/model.js';
import { OUTCOME_COUNT } from '#training/cohort/effects.js';
import { normalCdf } from '#acuity/night/normal.js';
import { World } from '#training/cohort/population.js';
import { Random } from '#training/cohort/random.js';
import { rollOut } from '#training/evaluation/rollout.js';
import { mean, sd } from '#training/evaluation/statistics.js';
import { ServedModel } from '#training/served.js';

/** How often `acuity judge` claims an effect in simulated people of whom everything is known. */

const DAYS = 14;
const PEOPLE = 300;
const RUNS = 6;
const DRAWS = 200;
const JUDGED: readonly ScoreName[] = ['attention', 'stress', 'valence'];
const named = SCORES.map((score) => columnsOf({ column: score, score }));
const COLUMNS = [
  'minutes',
  'heart',
  ...named.map(({ score }) => score),
  ...named.map(({ outcome }) => outcome),
];
const SCORES_AMONG_OUTCOMES = 4;
/** How much of a mood lasts to the next day. */
const LASTING = 0.8;

const world = new World(77);
const people = world.simulate(PEOPLE, DAYS);
const { scores } = await rollOut(await ServedModel.open(MODEL), people);

/** The values of a feature as the network sees it, by person and day; NaN if the device did not give it. */
function known(feature: string): Float64Array {
  const at = featureAt(feature);
  return Float64Array.from({ length: PEOPLE * DAYS }, (_, cell) => {
    const isKnown = (people.rows[cell * FEATURE_COUNT + at] ?? 0) > 0;
    return isKnown ? (people.rows[cell * FEATURE_COUNT + at + 1] ?? NaN) : NaN;
  });
}

const sleep = known('sleep_time_known');
const heart = known('hr_night_known');
const slept = sleep.filter((value) => !Number.isNaN(value));
const [sleepMean, sleepSd] = [mean(slept), sd(slept)];

/**
 * The causes of people's outcomes. As assumed: the cohort's causes, which the network learned from. Doubled: the same
 * causes, twice as strong. Other causes: as strong as doubled, half from the minutes asleep as recorded and half from
 * a mood that lasts for days; neither needs a network. None: only each person's own level and chance.
 */
type Causes = 'as assumed' | 'effects doubled' | 'other causes' | 'none';

/** Draws what happens to a person on each day, in the order of `SCORES`: percentiles, and 0 or 1 for labels. */
function outcomesOf(person: number, causes: Causes, run: number): Float64Array[] {
  const random = new Random();
  random.reseed(world.seed, run, person, 402);
  const { traitVariance, groupSd } = world.norms;
  const normals = (count: number): number[] => Array.from({ length: count }, () => random.normal());
  const [traits, moods, leans] = [normals(OUTCOME_COUNT), normals(OUTCOME_COUNT), normals(2)];
  const effectOf = (cell: number, k: number): readonly [effect: number, spread: number] => {
    const size = Math.sqrt((groupSd[k] ?? 1) ** 2 - 1);
    const mood = LASTING * (moods[k] ?? 0) + Math.sqrt(1 - LASTING ** 2) * random.normal();
    moods[k] = mood;
    if (causes === 'none') return [0, 0];
    if (causes === 'other causes') {
      const told = ((sleep[cell] ?? NaN) - sleepMean) / sleepSd || 0;
      return [Math.SQRT2 * size * ((k === SCORES.indexOf('stress') - 1 ? -told : told) + mood), 2 * size];
    }
    const times = causes === 'effects doubled' ? 2 : 1;
    const group = people.causes[cell * 2 * OUTCOME_COUNT + k] ?? 0;
    const slope = people.causes[(cell * 2 + 1) * OUTCOME_COUNT + k] ?? 0;
    return [times * (group + (leans[k < SCORES_AMONG_OUTCOMES ? 0 : 1] ?? 0) * slope), times * size];
  };
  return Array.from({ length: DAYS }, (_, day) => {
    const drawn = new Float64Array(SCORES.length);
    for (let k = 0; k < OUTCOME_COUNT; k++) {
      const own = traitVariance[k] ?? 0;
      const noise = random.normal(0, Math.sqrt(1 - own));
      const [effect, spread] = effectOf(person * DAYS + day, k);
      const outcome = effect + Math.sqrt(own) * (traits[k] ?? 0) + noise;
      const percentile = 100 * normalCdf(outcome / Math.sqrt(1 + spread ** 2));
      drawn[1 + k] = k < SCORES_AMONG_OUTCOMES ? percentile : outcome >= 0 ? 1 : 0;
    }
    const [, attention = NaN, memory = NaN, reasoning = NaN] = drawn;
    drawn[0] = 0.4 * attention + 0.3 * memory + 0.3 * reasoning;
    return drawn;
  });
}

/** The verdicts on `JUDGED`, each by the outcome of the same name, of `count` people drawn from all. */
function judged(causes: Causes, count: number, run: number): OutcomeVerdict[] {
  const nights = new Nights(COLUMNS, count * DAYS);
  const random = new Random(world.seed, run, 401);
  const left = [...people.people.keys()];
  for (let place = 0; place < count; place++) {
    const [person = 0] = left.splice(Math.floor(random.uniform() * left.length), 1);
    for (const [day, outcomes] of outcomesOf(person, causes, run).entries()) {
      const cell = person * DAYS + day;
      const own = scores.subarray(cell * OUTPUT_COLUMNS, (cell + 1) * OUTPUT_COLUMNS);
      nights.add(place, [sleep[cell] ?? NaN, heart[cell] ?? NaN, ...own, ...outcomes]);
    }
  }
  const outcomes = JUDGED.map((score): Outcome => ({ column: score, score, sign: 1, isPercentile: false }));
  return judge(nights, outcomes, { seed: run, draws: DRAWS });
}

t.test('what is there is found in 200 people, and little claimed where nothing is', async (t) => {
  const cases: readonly (readonly [causes: Causes, people: number, least: number, most: number])[] = [
    ['effects doubled', 200, RUNS - 1, RUNS],
    ['none', 200, 0, 1],
    ['other causes', 200, 0, 2],
    ['effects doubled', 20, 0, 1],
    ['none', 20, 0, 1],
  ];
  for (const [causes, count, least, most] of cases) {
    let claims = 0;
    for (let run = 1; run <= RUNS; run++) {
      const verdicts = judged(causes, count, run);
      if (verdicts.some(({ views }) => VIEWS.some((view) => views[view].finding === 'adds'))) claims++;
    }
    t.ok(least <= claims && claims <= most, `${causes}, ${count} people: ${claims} of ${RUNS}`);
  }
});

t.test('the sizes that power is reckoned with are those of simulated people', async (t) => {
  for (const { outcome, estimates } of judged('as assumed', PEOPLE, 1))
    for (const view of VIEWS) {
      const expected = EXPECTED[outcome.score][view];
      const { goes, adds } = estimates.views[view];
      const near = (found: number, wanted: number): boolean => Math.abs(found - wanted) < 0.08;
      t.ok(near(goes.score.value, expected.goes), `${outcome.score} ${view} goes: ${goes.score.value}`);
      t.ok(near(adds.value, expected.adds), `${outcome.score} ${view} adds: ${adds.value}`);
    }
});
