import t from 'tap';
import { World } from '#training/cohort/population.js';
import { asServed, MeasuredPeople, testDays, type TestTaken } from '#training/evaluation/measuredPeople.js';
import { mean, rms } from '#training/evaluation/statistics.js';
import { bundle, model } from './weeks.js';

/** The short version of point 17 of the model card. */
const PEOPLE = 80;
const DAYS = 96;
const JUDGED = 35;
const SEED = 43;
const world = new World(SEED);
const { measured: constants } = bundle.manifest;
if (constants === undefined) throw new Error('the shipped network takes measurements');
const people = await MeasuredPeople.of(world, world.simulate(PEOPLE, DAYS), model, constants);
const everybody = (value: (person: number) => number): Float64Array =>
  Float64Array.from({ length: PEOPLE }, (_, person) => value(person));
const SCORES = [0, 1, 2, 3];

function testsOf(person: number, k: number, share: number, count: number): TestTaken[] {
  return testDays(SEED, person, JUDGED, count).map((day) => ({
    day,
    value: people.truth(person, day, k, share),
    reliability: share,
  }));
}

t.test('with tests scores are nearer to what people do than without, and than the tests alone', (t) => {
  for (const share of [0.3, 0.75]) {
    for (const count of [1, 5]) {
      const error = (value: (person: number, k: number) => number): number =>
        mean(
          SCORES.map((k) =>
            rms(
              everybody((person) => people.truth(person, JUDGED, k, share)),
              everybody((person) => value(person, k)),
            ),
          ),
        );
      const tests = (person: number, k: number) => testsOf(person, k, share, count);
      const measured = error((person, k) => people.measured(person, JUDGED, k, tests(person, k)));
      const ofTests = error((person, k) => mean(tests(person, k).map(({ value }) => value)));
      const without = error((person, k) => people.said(person, JUDGED, k));
      t.ok(
        measured < ofTests && measured < without - 1,
        `${share}, ${count}: ${measured}, ${ofTests}, ${without}`,
      );
    }
  }
  t.end();
});

t.test('sixty days after five tests a person is where the tests placed them', (t) => {
  for (const k of SCORES) {
    for (const value of [25, 79]) {
      const taken = [1, 2, 3, 4, 5].map((back) => ({ day: JUDGED - back, value }));
      const moved = (day: number): number =>
        mean(everybody((person) => people.measured(person, day, k, taken) - people.said(person, day, k)));
      const [at, later] = [moved(JUDGED), moved(JUDGED + 60)];
      t.ok(Math.abs(later - at) <= 2, `${k}, ${value}: ${at}, ${later}`);
      t.ok(Math.sign(at) === Math.sign(value - 50) && Math.abs(at) > 10, `${k}, ${value}: ${at}`);
    }
  }
  t.end();
});

t.test('the service’s own histories say what these people are judged by', async (t) => {
  const { found, holds } = await asServed(world, model, constants);
  t.ok(holds, found);
});
