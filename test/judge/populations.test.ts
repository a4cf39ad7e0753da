import t from 'tap';
import { EXPECTED } from '#acuity/judge/expected.js';
import type { ScoreName } from '#acuity/judge/outcomes.js';
import { VIEWS } from '#acuity/judge/sums.js';
import { World } from '#training/cohort/population.js';
import { choosePeople, findingOf, judgePopulation, poolOf, type PopulationName } from './populations.js'; // prettier-ignore
import { ServedModel } from '#training/served.js';
import { MODEL } from '../fixtures/model.js';

/** How often `acuity judge` claims an effect in simulated people of whom everything is known. */

const PEOPLE = 200;
const RUNS = 12;
const DRAWS = 400;
const JUDGED: readonly ScoreName[] = ['attention', 'stress', 'valence'];

const pool = await poolOf(new World(77), await ServedModel.open(MODEL), 300);

/** Runs that claim that any of the scores says something of its own. */
function claimsOf(population: PopulationName, people: number): number {
  let claims = 0;
  for (let run = 1; run <= RUNS; run++) {
    const chosen = choosePeople(pool, people, run);
    const verdicts = judgePopulation(pool, chosen, { population, run, draws: DRAWS }, JUDGED);
    if (verdicts.some((verdict) => findingOf(verdict) === 'adds')) claims++;
  }
  return claims;
}

t.test('effects twice as strong are found in 200 people, and where nothing is, nothing', async (t) => {
  t.ok(claimsOf('effects doubled', PEOPLE) >= RUNS - 1);
  t.ok(claimsOf('none', PEOPLE) <= 2);
});

t.test('for 20 people almost nothing is claimed, in every kind of population', async (t) => {
  for (const population of ['none', 'effects doubled'] as const)
    t.ok(claimsOf(population, 20) <= 1, population);
});

t.test('each is in a run once, and another run draws others', async (t) => {
  const chosen = choosePeople(pool, PEOPLE, 1);
  t.equal(new Set(chosen).size, PEOPLE);
  t.strictSame(choosePeople(pool, PEOPLE, 1), chosen);
  t.notSame(choosePeople(pool, PEOPLE, 2), chosen);
});

t.test('the sizes that power is reckoned with are those of simulated people', async (t) => {
  const everybody = [...pool.people.people.keys()];
  const verdicts = judgePopulation(
    pool,
    everybody,
    { population: 'as assumed', run: 1, draws: DRAWS },
    JUDGED,
  );
  for (const { outcome, estimates } of verdicts)
    for (const view of VIEWS) {
      const expected = EXPECTED[outcome.score][view];
      const { goes, adds } = estimates.views[view];
      const near = (found: number, wanted: number): boolean => Math.abs(found - wanted) < 0.08;
      t.ok(near(goes.score.value, expected.goes), `${outcome.score} ${view} goes: ${goes.score.value}`);
      t.ok(near(adds.value, expected.adds), `${outcome.score} ${view} adds: ${adds.value}`);
    }
});
