import { FEATURE_COUNT, FEATURE_INDEX, FEATURES, ROW_CLAMP } from '#acuity/contract/features.js';
import { COLUMN, type Column } from '../served.js';
import { SCORES, type Context } from './context.js';
import { plot } from './plot.js';
import type { Population } from '../cohort/population.js';
import { rollOut, scoreDay } from './rollout.js';
import { demand, fixed, isWithin, signed, type Demand, type Section } from './section.js';
import { mean } from './statistics.js';

const AGES = [20, 35, 50, 65, 80] as const;
const PEOPLE = 120;
const DAYS = 8;
const LAST = DAYS - 1;
const WIDTH = 7;
/** Hours asleep in the night before the scored day; undefined as the person lives. */
const HOURS = [undefined, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;
type Hours = (typeof HOURS)[number];
const NIGHT_HR = [60, 80, 100, 120, 150, 180] as const;
/** Tolerance for a mean over some hundred people. */
const NOISE = 0.5;

interface Night {
  readonly hours: Hours;
  readonly age: number;
  /** Mean over people of each column, without history and with five sessions as the person lives. */
  readonly alone: readonly number[];
  readonly together: readonly number[];
  /** Mean expected attention of the cohort. */
  readonly expected: number;
}

/** Point 14: no sleep is worst, long sleep no gain, a fast heart not calm, at every age. */
export async function dose(context: Context): Promise<Section> {
  const nights: Night[] = [];
  for (const age of AGES) for (const hours of HOURS) nights.push(await nightOf(context, age, hours));
  const at = (age: number, hours: Hours, way: 'alone' | 'together', column: Column): number =>
    find(nights, age, hours)?.[way][COLUMN[column]] ?? NaN;
  const stress = await stressByNightHr(context);
  return {
    number: 14,
    title: 'Dose',
    about: 'What does one night of 0 to 12 h do, and a very fast heart by night?',
    demands: [...(['alone', 'together'] as const).flatMap((way) => demandsOf(way, at)), calmDemand(stress)],
    tables: [
      ...SCORES.map((column) => ({
        caption: `Mean ${column} by hours asleep in the last night, without history | after five usual nights (${PEOPLE} people of each age)`,
        header: ['age', ...HOURS.map((hours) => (hours === undefined ? 'usual' : `${hours} h`))],
        rows: AGES.map((age) => [
          String(age),
          ...HOURS.map((hours) =>
            (['alone', 'together'] as const).map((way) => fixed(at(age, hours, way, column), 1)).join(' | '),
          ),
        ]),
      })),
      {
        caption: 'Mean attention that the cohort expects',
        header: ['age', ...HOURS.map((hours) => (hours === undefined ? 'usual' : `${hours} h`))],
        rows: AGES.map((age) => [
          String(age),
          ...HOURS.map((hours) => fixed(find(nights, age, hours)?.expected ?? NaN, 1)),
        ]),
      },
      {
        caption: 'Mean stress by heart rate of the whole night, without history | after five usual nights',
        header: NIGHT_HR.map((bpm) => `${bpm} bpm`),
        rows: [stress.map(({ alone, together }) => `${fixed(alone, 1)} | ${fixed(together, 1)}`)],
      },
    ],
    decisive: {
      'a night without sleep': mean(
        AGES.map((age) => at(age, 0, 'together', 'attention') - at(age, undefined, 'together', 'attention')),
      ),
    },
    figures: [
      {
        file: 'dose-one-night.svg',
        caption: 'Mean attention by hours asleep in the last night, after five usual nights',
        svg: plot({
          title: 'One night',
          x: 'hours asleep',
          y: 'mean attention',
          series: AGES.map((age) => ({
            name: `age ${age}`,
            points: HOURS.flatMap((hours) =>
              hours === undefined ? [] : [[hours, at(age, hours, 'together', 'attention')] as const],
            ),
          })),
        }),
      },
    ],
    notes: [],
  };
}

function find(nights: readonly Night[], age: number, hours: Hours): Night | undefined {
  return nights.find((night) => night.age === age && night.hours === hours);
}

async function nightOf({ world, model }: Context, age: number, hours: Hours): Promise<Night> {
  const population = world.simulate(PEOPLE, DAYS, {
    isComplete: true,
    parameters: { ageMin: age - 0.49, ageMax: age + 0.49, deviceChange: 0 },
    intervene: (day) => (day === LAST && hours !== undefined ? { asleepH: hours } : {}),
  });
  const expected = mean(
    population.people.map((_, i) => population.expected[((i + 1) * DAYS - 1) * 6] ?? NaN),
  );
  return { hours, age, expected, ...(await means(model, population)) };
}

async function means(model: Context['model'], population: Population) {
  const { targets } = await rollOut(model, population);
  const columns = (scores: Float32Array): number[] =>
    Array.from({ length: WIDTH }, (_, column) =>
      mean(population.people.map((_p, person) => scores[person * WIDTH + column] ?? NaN)),
    );
  return {
    alone: columns(await scoreDay(model, population, targets, LAST, 0)),
    together: columns(await scoreDay(model, population, targets, LAST, 5)),
  };
}

type At = (age: number, hours: Hours, way: 'alone' | 'together', column: Column) => number;
const CAPACITIES = ['attention', 'memory', 'reasoning'] as const;

function demandsOf(way: 'alone' | 'together', at: At): Demand[] {
  const setting = way === 'alone' ? 'no history' : 'five sessions';
  const againstOne = AGES.map((age) => at(age, 0, way, 'attention') - at(age, 1, way, 'attention'));
  const costs = AGES.map((age) => at(age, undefined, way, 'attention') - at(age, 0, way, 'attention'));
  const long = CAPACITIES.map((column) =>
    AGES.map((age) => at(age, 12, way, column) - at(age, 8, way, column)),
  );
  const young = Math.min(costs[0] ?? NaN, costs[1] ?? NaN);
  return [
    demand(
      `${setting}: no sleep at least as bad for attention as one hour, at every age`,
      againstOne.map((value) => signed(value, 1)).join(', '),
      againstOne.every((value) => value <= 0),
    ),
    demand(
      `${setting}: no sleep costs 12 to 35 points of attention against the usual night, at every age`,
      costs.map((value) => fixed(value, 1)).join(', '),
      costs.every((value) => isWithin(value, 12, 35)),
    ),
    ...CAPACITIES.map((column, k) =>
      demand(
        `${setting}: ${column} after 12 h between 5 points below and 0.5 above 8 h, at every age`,
        (long[k] ?? []).map((value) => signed(value, 1)).join(', '),
        (long[k] ?? []).every((value) => isWithin(value, -5, 0.5)),
      ),
    ),
    demand(
      `${setting}: at 65 and 80 a night without sleep costs no more than at 20 and 35 (within ${NOISE})`,
      `${costs.slice(3).map((value) => fixed(value, 1)).join(', ')} against ${costs.slice(0, 2).map((value) => fixed(value, 1)).join(', ')}`, // prettier-ignore
      costs.slice(3).every((cost) => cost <= young + NOISE),
    ),
  ];
}

interface Calm {
  readonly alone: number;
  readonly together: number;
}

/** The level of the whole night's heart rate put into the last day. */
async function stressByNightHr({ world, model }: Context): Promise<Calm[]> {
  const population = world.simulate(PEOPLE, DAYS, { isComplete: true });
  const found: Calm[] = [];
  for (const bpm of NIGHT_HR) {
    const { alone, together } = await means(model, withNightHr(population, bpm));
    found.push({ alone: alone[COLUMN.stress] ?? NaN, together: together[COLUMN.stress] ?? NaN });
  }
  return found;
}

function withNightHr(population: Population, bpm: number): Population {
  const rows = population.rows.slice();
  const [value, mask] = [FEATURE_INDEX.get('hr_night') ?? NaN, FEATURE_INDEX.get('hr_night_known') ?? NaN];
  const { centre, scale } = FEATURES[value] ?? { centre: NaN, scale: NaN };
  const scaled = Math.max(-ROW_CLAMP, Math.min(ROW_CLAMP, (bpm - centre) / scale));
  population.people.forEach((_, person) => {
    const at = (person * DAYS + LAST) * FEATURE_COUNT;
    rows[at + value] = scaled;
    rows[at + mask] = 1;
  });
  return { ...population, rows };
}

function calmDemand(stress: readonly Calm[]): Demand {
  const rises = (way: keyof Calm): boolean =>
    stress.every((calm, index) => index === 0 || calm[way] >= (stress[index - 1]?.[way] ?? NaN));
  const [least, most] = [stress[0], stress.at(-1)];
  const told = (way: keyof Calm): string =>
    `${fixed(least?.[way] ?? NaN, 1)} → ${fixed(most?.[way] ?? NaN, 1)}`;
  const isHigher = (way: keyof Calm): boolean => (most?.[way] ?? NaN) >= (least?.[way] ?? NaN) + 10;
  return demand(
    'a night at 180 bpm is not calm: stress never falls from 60 bpm on, and is 10 points higher at 180',
    `${told('alone')} (no history), ${told('together')} (five sessions)`,
    rises('alone') && rises('together') && isHigher('alone') && isHigher('together'),
  );
}
