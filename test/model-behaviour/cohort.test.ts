import t from 'tap';
import { lapses, RESTED, daytimeLapses, nextMorning, sleep, wake } from '#training/cohort/fatigue.js';
import { normalCdf, solve } from '#training/cohort/numeric.js';
import { parameters, TABLE } from '#training/cohort/parameters.js';
import { Random } from '#training/cohort/random.js';
import { World } from '#training/cohort/population.js';
import { simulate } from './weeks.js';

/** Mean daytime lapses after `days` nights of `hours`, begun from steady nights of eight. */
function lapsesAfter(hours: number, days: number): number {
  let morning = RESTED;
  for (let day = 0; day < 21; day++) morning = nextMorning(morning, 8);
  for (let day = 0; day < days; day++) morning = nextMorning(morning, hours);
  return daytimeLapses(morning);
}

t.test('the fatigue model rises with restriction as published, and stays flat at eight hours', async (t) => {
  t.ok(Math.abs(lapsesAfter(4, 7) - 9.9) < 1, 'day 7 of 4 h');
  t.ok(Math.abs(lapsesAfter(6, 7) - 5.7) < 1, 'day 7 of 6 h');
  t.ok(Math.abs(lapsesAfter(8, 7) - lapsesAfter(8, 1)) < 0.1, 'no trend at 8 h');
  t.ok(lapsesAfter(5, 7) > lapsesAfter(5, 3), 'builds up over days');
});

t.test('staying awake costs, sleep repairs, and lapses are never negative', async (t) => {
  const tired = wake(RESTED, 24);
  t.ok(tired.s > wake(RESTED, 16).s);
  t.ok(sleep(tired, 8).s < tired.s);
  for (let hour = 0; hour < 24; hour++) t.ok(lapses(RESTED, hour) >= 0);
});

t.test('a seed gives the same people and days, another seed others', async (t) => {
  t.strictSame(simulate(2), simulate(2));
  t.not(new Random(1).uniform(), new Random(2).uniform());
});

t.test('an intervention on one day leaves the draws of the others as they were', async (t) => {
  const [plain = []] = simulate(1);
  const [awake = []] = simulate(1, { intervene: (day) => (day === 3 ? { addDayHr: 20 } : {}) });
  t.strictSame(awake[2], plain[2]);
  t.notSame(awake[3], plain[3]);
  t.strictSame(awake[4], plain[4]);
});

t.test('percentiles of the cohort are percentiles: mean 50, uniform spread', async (t) => {
  const { truth } = new World(3).simulate(1_500, 1);
  for (let k = 0; k < 4; k++) {
    const values = Array.from({ length: 1_500 }, (_, index) => truth[index * 6 + k] ?? NaN);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    t.ok(Math.abs(mean - 50) < 3, `mean ${mean.toFixed(1)}`);
    t.ok(Math.abs(variance / (10_000 / 12) - 1) < 0.1, `variance ${variance.toFixed(0)}`);
  }
});

t.test('every parameter has a unit, a source and a meaning', async (t) => {
  for (const [name, { unit, source, meaning }] of Object.entries(TABLE)) {
    t.match(source, /^(V\d+|recalled|assumption)/, name);
    t.ok(unit.length > 0 && meaning.length > 0, name);
  }
});

t.test('halving the effects halves effects on scores and nothing else', async (t) => {
  const [whole, half] = [parameters(), parameters(0.5)];
  t.equal(half.attentionFatigue, whole.attentionFatigue / 2);
  t.equal(half.arousalDayHr, whole.arousalDayHr / 2);
  t.equal(half.restingHr, whole.restingHr);
  t.equal(half.valenceHrSd, whole.valenceHrSd);
});

t.test('the normal distribution and the small solver are right', async (t) => {
  t.ok(Math.abs(normalCdf(1.96) - 0.975) < 1e-4);
  t.ok(Math.abs(normalCdf(-1) + normalCdf(1) - 1) < 1e-7);
  const solution = solve(Float64Array.from([0, 2, 3, 1]), Float64Array.from([4, 5]));
  t.ok(Math.abs((solution[0] ?? 0) - 1) < 1e-9 && Math.abs((solution[1] ?? 0) - 2) < 1e-9);
});
