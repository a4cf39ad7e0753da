import t from 'tap';
import { Wearer } from '#training/cohort/devices.js';
import { lapses, RESTED, daytimeLapses, nextMorning, sleep, wake } from '#training/cohort/fatigue.js';
import { parameters, TABLE } from '#training/cohort/parameters.js';
import { drawPerson } from '#training/cohort/person.js';
import { Random } from '#training/cohort/random.js';
import { STREAM } from '#training/cohort/streams.js';
import { World } from '#training/cohort/population.js';
import { seenBy, type OtherDevice } from '#training/evaluation/devices.js';
import { simulate } from './weeks.js';

/** Mean daytime lapses after `days` nights of `hours`, begun from steady nights of eight. */
function lapsesAfter(hours: number, days: number): number {
  let morning = RESTED;
  for (let day = 0; day < 21; day++) morning = nextMorning(morning, 8);
  for (let day = 0; day < days; day++) morning = nextMorning(morning, hours);
  return daytimeLapses(morning);
}

t.test('the fatigue model rises with restriction as published; sleep and naps repair', async (t) => {
  t.ok(Math.abs(lapsesAfter(4, 7) - 9.9) < 1, 'day 7 of 4 h');
  t.ok(Math.abs(lapsesAfter(6, 7) - 5.7) < 1, 'day 7 of 6 h');
  t.ok(Math.abs(lapsesAfter(8, 7) - lapsesAfter(8, 1)) < 0.1, 'no trend at 8 h');
  t.ok(lapsesAfter(5, 7) > lapsesAfter(5, 3), 'builds up over days');
  const awake = wake(RESTED, 24);
  t.ok(awake.s > wake(RESTED, 16).s && sleep(awake, 8).s < awake.s);
  for (let hour = 0; hour < 24; hour++) t.ok(lapses(RESTED, hour) >= 0);
  const tired = nextMorning(RESTED, 2);
  t.ok(
    daytimeLapses(tired, 1) < daytimeLapses(tired) && nextMorning(tired, 8, 1).s < nextMorning(tired, 8).s,
  );
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

t.test('every parameter has a unit, a source and a meaning', async (t) => {
  for (const [name, { unit, source, meaning }] of Object.entries(TABLE)) {
    t.match(source, /^(V\d+|recalled|assumption)/, name);
    t.ok(unit.length > 0 && meaning.length > 0, name);
  }
});

t.test('two devices see the same night: an average is the mean of what a dense series shows', async (t) => {
  const worn = (other: OtherDevice) => simulate(4, { ...seenBy(other), days: 2 });
  const dense = worn({ name: 'dense', device: { hrEveryMin: 0.2, hrDigits: 1 } });
  const single = worn({ name: 'one', device: { hrAverages: 1, hrDigits: 1 } });
  dense.flat().forEach(({ HR_night = [] }, at) => {
    const mean = (HR_night ?? []).reduce((sum, hr) => sum + hr, 0) / (HR_night?.length ?? 0);
    const [average = NaN] = single.flat()[at]?.HR_night ?? [];
    t.ok(Math.abs(mean - average) < 0.5, `${mean.toFixed(2)} and ${average}`);
  });
});

t.test('a person wears one device for long and another now and then', async (t) => {
  const p = parameters();
  const changes = Array.from({ length: 60 }, (_, id) => {
    const person = drawPerson(id, new Random(3, id, STREAM.traits), p);
    const wearer = new Wearer(person, 3, p);
    const biases = Array.from({ length: 200 }, (_day, day) => wearer.on(day).hrBias);
    return biases.filter((bias, day) => day > 0 && bias !== biases[day - 1]).length;
  });
  const perDay = changes.reduce((sum, count) => sum + count, 0) / (60 * 199);
  t.ok(Math.abs(perDay - p.deviceChange) < 0.005, `${perDay.toFixed(4)} a day`);
});

t.test('a night without sleep comes as zeros', async (t) => {
  for (const week of simulate(20, { intervene: (day) => (day === 5 ? { asleepH: 0 } : {}) })) {
    const { sleepTimeSeconds, deepSleepSeconds, HR_night } = week[5] ?? {};
    t.strictSame([sleepTimeSeconds, deepSleepSeconds, HR_night], [0, 0, []]);
  }
});

t.test('percentiles are those within age and sex: mean 50 in each group, uniform in all', async (t) => {
  const { people, expected, truth } = new World(5).simulate(2_000, 1);
  const meanOf = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  for (let k = 0; k < 4; k++) {
    for (const sex of ['F', 'M'])
      for (const [from, to] of [
        [18, 35],
        [35, 60],
        [60, 90],
      ] as const) {
        const mean = meanOf(
          people.flatMap((one, i) =>
            one.sex === sex && one.age >= from && one.age < to ? [expected[i * 6 + k] ?? NaN] : [],
          ),
        );
        t.ok(Math.abs(mean - 50) < 2, `${sex} ${from}: ${mean.toFixed(1)}`);
      }
    const drawn = people.map((_, i) => truth[i * 6 + k] ?? NaN);
    const variance = meanOf(drawn.map((value) => (value - meanOf(drawn)) ** 2));
    t.ok(Math.abs(meanOf(drawn) - 50) < 3 && Math.abs(variance / (10_000 / 12) - 1) < 0.1, `${variance}`);
  }
});
