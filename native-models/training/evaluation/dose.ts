import { FEATURE_COUNT, FEATURE_INDEX, FEATURES, ROW_CLAMP } from '#acuity/contract/features.js';
import type { Population } from '../cohort/population.js';
import { COLUMN, type Column } from '../served.js';
import type { Context } from './context.js';
import { plot } from './plot.js';
import { rollOut, scoreDay } from './rollout.js';
import { demand, fixed, isWithin, signed, type Demand, type Section } from './section.js';
import { mean } from './statistics.js';

const AGES = [20, 35, 50, 65, 80] as const;
const PEOPLE = 120;
const DAYS = 8;
const LAST = DAYS - 1;
/** Hours asleep in the night before the scored day; undefined as the person lives. */
const HOURS = [undefined, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;
const NIGHT_HR = [60, 80, 100, 120, 150, 180] as const;
/** Tolerance for a mean over some hundred people. */
const NOISE = 0.5;
const CAPACITIES = ['attention', 'memory', 'reasoning'] as const;
/** Past sessions. */
const WAYS = [0, 5] as const;
type Way = (typeof WAYS)[number];

/** Mean of a column over people. */
type Means = (way: Way, column: Column) => number;
type At = (age: number, hours: (typeof HOURS)[number], way: Way, column: Column) => number;

/** Point 14: no sleep is worst, long sleep no gain, a fast heart not calm, at every age. */
export async function dose(context: Context): Promise<Section> {
  const nights = new Map<string, Means>();
  for (const age of AGES)
    for (const hours of HOURS) nights.set(`${age} ${hours}`, await nightOf(context, age, hours));
  const at: At = (age, hours, way, column) => nights.get(`${age} ${hours}`)?.(way, column) ?? NaN;
  const asleep = HOURS.filter((hours) => hours !== undefined);
  return {
    number: 14,
    title: 'Dose',
    why: `What does one night of 0 to 12 h do, and a very fast heart by night? ${PEOPLE} people of each age.`,
    demands: [...WAYS.flatMap((way) => demandsOf(way, at)), await calmDemand(context)],
    tables: (['attention', 'stress'] as const).map((column) => ({
      caption: `Mean ${column} by hours asleep in the last night, without history | after five usual nights`,
      header: ['age', ...HOURS.map((hours) => (hours === undefined ? 'usual' : `${hours} h`))],
      rows: AGES.map((age) => [
        String(age),
        ...HOURS.map((hours) => WAYS.map((way) => fixed(at(age, hours, way, column), 1)).join(' | ')),
      ]),
    })),
    decisive: {
      'a night without sleep': mean(
        AGES.map((age) => at(age, 0, 5, 'attention') - at(age, undefined, 5, 'attention')),
      ),
    },
    plot: plot({
      title: 'One night',
      x: 'hours asleep',
      y: 'mean attention',
      series: AGES.map((age) => ({
        name: `age ${age}`,
        points: asleep.map((hours) => [hours, at(age, hours, 5, 'attention')]),
      })),
    }),
  };
}

function nightOf({ world, model }: Context, age: number, hours: (typeof HOURS)[number]): Promise<Means> {
  const population = world.simulate(PEOPLE, DAYS, {
    isComplete: true,
    parameters: { ageMin: age - 0.49, ageMax: age + 0.49, deviceChange: 0 },
    intervene: (day) => (day === LAST && hours !== undefined ? { asleepH: hours } : {}),
  });
  return meansOf(model, population);
}

async function meansOf(model: Context['model'], population: Population): Promise<Means> {
  const { targets } = await rollOut(model, population);
  const scores = new Map<Way, Float32Array>();
  for (const way of WAYS) scores.set(way, await scoreDay(model, population, targets, LAST, way));
  return (way, column) =>
    mean(population.people.map((_, person) => scores.get(way)?.[person * 7 + COLUMN[column]] ?? NaN));
}

function demandsOf(way: Way, at: At): Demand[] {
  const setting = way === 0 ? 'no history' : 'five sessions';
  const byAge = (of: (age: number) => number): number[] => AGES.map(of);
  const told = (values: readonly number[]): string => values.map((value) => signed(value, 1)).join(', ');
  const againstOne = byAge((age) => at(age, 0, way, 'attention') - at(age, 1, way, 'attention'));
  const costs = byAge((age) => at(age, undefined, way, 'attention') - at(age, 0, way, 'attention'));
  const young = Math.min(...costs.slice(0, 2));
  return [
    demand(`${setting}: no sleep at least as bad for attention as one hour, at every age`, told(againstOne), againstOne.every((value) => value <= 0)), // prettier-ignore
    demand(
      `${setting}: no sleep costs 12 to 35 points of attention against the usual night, at every age`,
      told(costs),
      costs.every((value) => isWithin(value, 12, 35)),
    ),
    ...CAPACITIES.map((column) => {
      const long = byAge((age) => at(age, 12, way, column) - at(age, 8, way, column));
      return demand(
        `${setting}: ${column} after 12 h between 5 points below and 0.5 above 8 h, at every age`,
        told(long),
        long.every((value) => isWithin(value, -5, 0.5)),
      );
    }),
    demand(
      `${setting}: at 65 and 80 a night without sleep costs no more than at 20 and 35 (within ${NOISE})`,
      `${told(costs.slice(3))} against ${told(costs.slice(0, 2))}`,
      costs.slice(3).every((cost) => cost <= young + NOISE),
    ),
  ];
}

/** The level of the whole night's heart rate put into the last day. */
async function calmDemand({ world, model }: Context): Promise<Demand> {
  const population = world.simulate(PEOPLE, DAYS, { isComplete: true });
  const means: Means[] = [];
  for (const bpm of NIGHT_HR) means.push(await meansOf(model, withNightHr(population, bpm)));
  const courses = WAYS.map((way) => means.map((of) => of(way, 'stress')));
  return demand(
    `no history | five sessions: stress never falls with the heart rate of the night (${NIGHT_HR.join(', ')} bpm), and is 10 points higher at 180 than at 60`,
    courses.map((course) => course.map((value) => fixed(value, 1)).join(' → ')).join(' | '),
    courses.every(
      (course) =>
        course.every((value, index) => index === 0 || value >= (course[index - 1] ?? NaN)) &&
        (course.at(-1) ?? NaN) >= (course[0] ?? NaN) + 10,
    ),
  );
}

function withNightHr(population: Population, bpm: number): Population {
  const rows = population.rows.slice();
  const [value, mask] = [FEATURE_INDEX.get('hr_night') ?? NaN, FEATURE_INDEX.get('hr_night_known') ?? NaN];
  const { centre, scale } = FEATURES[value] ?? { centre: NaN, scale: NaN };
  const scaled = Math.max(-ROW_CLAMP, Math.min(ROW_CLAMP, (bpm - centre) / scale));
  for (const person of population.people.keys()) {
    const at = (person * DAYS + LAST) * FEATURE_COUNT;
    rows[at + value] = scaled;
    rows[at + mask] = 1;
  }
  return { ...population, rows };
}
