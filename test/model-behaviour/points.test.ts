import t from 'tap';
import { loadBundle } from '#acuity/model/bundle.js';
import { lapses, RESTED, daytimeLapses, nextMorning, sleep, wake } from '#training/cohort/fatigue.js';
import { World, type Plan } from '#training/cohort/population.js';
import { devices, seenBy, type OtherDevice } from '#training/evaluation/devices.js';
import { direction } from '#training/evaluation/direction.js';
import { edges } from '#training/evaluation/edges.js';
import { follow, livesOf } from '#training/evaluation/requests.js';
import { ServedModel } from '#training/served.js';
import { MODEL } from '../fixtures/model.js';

/** The cohort that the network is trained on and judged by, and points of the evaluation with fewer people. */
const world = new World(23);
const lives = (people: number, plan: Plan = {}, days = 6) =>
  livesOf(world, people, days, { isComplete: true, ...plan });

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
  t.ok(daytimeLapses(tired, 1) < daytimeLapses(tired));
  t.ok(nextMorning(tired, 8, 1).s < nextMorning(tired, 8).s);
});

t.test('a seed gives the same days, and an intervention leaves the draws of the others alone', async (t) => {
  t.strictSame(lives(2), lives(2));
  const [plain = []] = lives(1);
  const [changed = []] = lives(1, { intervene: (day) => (day === 3 ? { addDayHr: 20 } : {}) });
  t.strictSame(changed[2], plain[2]);
  t.notSame(changed[3], plain[3]);
  t.strictSame(changed[4], plain[4]);
  for (const week of lives(5, { intervene: (day) => (day === 5 ? { asleepH: 0 } : {}) })) {
    const { sleepTimeSeconds, deepSleepSeconds, HR_night } = week[5] ?? {};
    t.strictSame([sleepTimeSeconds, deepSleepSeconds, HR_night], [0, 0, []], 'a night without sleep');
  }
});

t.test('two devices see the same night: an average is the mean of what a dense series shows', async (t) => {
  const worn = (other: OtherDevice) => lives(4, seenBy(other), 2).flat();
  const dense = worn({ name: 'dense', device: { hrEveryMin: 0.2, hrDigits: 1 } });
  const single = worn({ name: 'one', device: { hrAverages: 1, hrDigits: 1 } });
  for (const [at, { HR_night }] of dense.entries()) {
    const series = HR_night ?? [];
    const [average = NaN] = single[at]?.HR_night ?? [];
    t.ok(Math.abs(series.reduce((sum, hr) => sum + hr, 0) / series.length - average) < 0.5, `${average}`);
  }
});

t.test('percentiles are those within age and sex: mean 50 in each group', async (t) => {
  const { people, expected } = world.simulate(2_000, 1);
  for (const sex of ['F', 'M'])
    for (const [from, to] of [
      [18, 35],
      [35, 60],
      [60, 90],
    ] as const)
      for (let k = 0; k < 4; k++) {
        const group = people.flatMap((one, i) =>
          one.sex === sex && one.age >= from && one.age < to ? [expected[i * 6 + k] ?? NaN] : [],
        );
        const mean = group.reduce((sum, value) => sum + value, 0) / group.length;
        t.ok(Math.abs(mean - 50) < 2.5, `${sex} ${from}: ${mean.toFixed(1)}`);
      }
});

const judged = { world, model: await ServedModel.open(MODEL), bundle: await loadBundle(MODEL) };

for (const { number, title, demands } of [
  await direction(judged, { people: 20, peopleOfAge: 4 }),
  await devices(judged, 6),
  await edges(judged, 20),
])
  t.test(`point ${number}: ${title}`, async (t) => {
    for (const { demand, found, holds } of demands) t.ok(holds, `${demand}: ${found}`);
  });

t.test('sex or age withheld: whom one is compared with stays, at every age', async (t) => {
  for (const age of [20, 45, 70, 85])
    for (const [field, most] of [
      ['sex', 1],
      ['age', 4],
    ] as const)
      for (const sex of ['F', 'M']) {
        const weeks = lives(60, { parameters: { ageMin: age - 0.49, ageMax: age + 0.49 } });
        const chosen = weeks.filter(([first]) => first?.sex === sex);
        const shifts = new Float64Array(5);
        for (const week of chosen) {
          const [known, without] = [week, week.map((session) => ({ ...session, [field]: null }))];
          const [before, after] = await Promise.all([known, without].map((one) => follow(judged.model, one)));
          for (const k of shifts.keys())
            shifts[k] =
              (shifts[k] ?? 0) + ((after?.at(-1)?.[k] ?? NaN) - (before?.at(-1)?.[k] ?? NaN)) / chosen.length;
        }
        t.ok(
          chosen.length > 20 && shifts.every((shift) => Math.abs(shift) <= most),
          `${sex} ${age} ${field}: ${shifts.join(' ')}`,
        );
      }
});
