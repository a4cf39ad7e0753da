import type { World } from '../cohort/population.js';
import { COLUMN, type ServedModel } from '../served.js';
import type { ScoreAll } from './former.js';
import { followAll } from './headFigures.js';
import { plot } from './plot.js';
import { rollOut } from './rollout.js';
import { scoring } from './scoring.js';
import { demand, fixed, isWithin, signed, type Demand, type Section } from './section.js';
import { mean } from './statistics.js';
import { TYPICAL_PEOPLE, typicalSession, type TypicalPerson } from './typicalPeople.js';

/** The scores after many nights of the same length. */

const AGES = [20, 35, 50, 65, 80] as const;
const PEOPLE = 60;
const DAYS = 40;
const HOURS = [4, 5, 6, 7, 7.5, 8, 8.5, 9, 10, 11, 12] as const;
/** The best nights lie here. */
const BEST = [7, 9] as const;
/** Tolerance for a mean of sixty people, and for a made-up person's course. */
const NOISE = 0.3;
/** One night of 12 h alone may be better than one of 8 h by so much. */
const LONG_MOST = 0.5;

interface Course {
  readonly of: string;
  readonly attention: readonly number[];
  readonly stress: readonly number[];
}

export async function steadyStates(
  world: World,
  model: ServedModel,
): Promise<Pick<Section, 'demands' | 'tables' | 'figures'>> {
  const courses: Course[] = [];
  for (const age of AGES) courses.push(await courseOf(world, model, age));
  const made: Course[] = [];
  for (const person of TYPICAL_PEOPLE) made.push(await madeUpCourse(person, scoring(model)));
  return {
    demands: [
      bestDemand(`people of ${AGES.join(', ')}`, courses),
      bestDemand('made-up people', made),
      await aloneDemand(scoring(model)),
    ],
    tables: (['attention', 'stress'] as const).map((score) => ({
      caption: `Mean ${score} on the last of ${DAYS} days with so many hours of sleep each night (${PEOPLE} people of each age; below, single made-up people)`,
      header: ['', ...HOURS.map((hours) => `${hours} h`)],
      rows: [...courses, ...made].map((course) => [
        course.of,
        ...course[score].map((value) => fixed(value, 1)),
      ]),
    })),
    figures: (['attention', 'stress'] as const).map((score) => ({
      file: `steady-${score}.svg`,
      caption: `Mean ${score} after ${DAYS} days, by hours of sleep each night`,
      svg: plot({
        title: 'The same night for forty days',
        x: 'hours asleep each night',
        y: `mean ${score}`,
        series: courses.map((course) => ({
          name: course.of,
          points: HOURS.map((hours, index) => [hours, course[score][index] ?? NaN] as const),
        })),
      }),
    })),
  };
}

async function courseOf(world: World, model: ServedModel, age: number): Promise<Course> {
  const found: { attention: number; stress: number }[] = [];
  for (const asleepH of HOURS) {
    const population = world.simulate(PEOPLE, DAYS, {
      isComplete: true,
      parameters: { ageMin: age - 0.49, ageMax: age + 0.49, deviceChange: 0 },
      intervene: () => ({ asleepH }),
    });
    const { scores } = await rollOut(model, population);
    const last = (column: 'attention' | 'stress'): number =>
      mean(
        population.people.map((_, person) => scores[((person + 1) * DAYS - 1) * 7 + COLUMN[column]] ?? NaN),
      );
    found.push({ attention: last('attention'), stress: last('stress') });
  }
  return {
    of: `age ${age}`,
    attention: found.map(({ attention }) => attention),
    stress: found.map(({ stress }) => stress),
  };
}

async function madeUpCourse(person: TypicalPerson, scoreAll: ScoreAll): Promise<Course> {
  const weeks = HOURS.map((hours) => Array.from({ length: DAYS }, () => typicalSession(person, hours)));
  const last = (await followAll(weeks, scoreAll)).at(-1) ?? [];
  return {
    of: `${person.sex} ${person.age}`,
    attention: last.map(({ attention }) => attention),
    stress: last.map(({ stress }) => stress),
  };
}

function bestDemand(who: string, courses: readonly Course[]): Demand {
  const most = largestGain(courses);
  return demand(
    `${DAYS} nights of ${HOURS[0]} to ${HOURS.at(-1)} h, ${who}: attention and stress best between ${BEST.join(' and ')} h (within ${NOISE})`,
    `outside better by ${signed(most, 2)} at most`,
    most <= NOISE,
  );
}

/** Of any made-up person, by how much nights outside of the best hours are better, at most. */
export async function gainOfTypicalPeople(scoreAll: ScoreAll): Promise<number> {
  const courses: Course[] = [];
  for (const person of TYPICAL_PEOPLE) courses.push(await madeUpCourse(person, scoreAll));
  return largestGain(courses);
}

function largestGain(courses: readonly Course[]): number {
  return Math.max(
    ...courses.flatMap(({ attention, stress }) => [
      gainOutside(attention),
      gainOutside(stress.map((value) => -value)),
    ]),
  );
}

/** How much better the best night outside the best hours is than the best one within. */
function gainOutside(course: readonly number[]): number {
  const within = course.filter((_, index) => isWithin(HOURS[index] ?? NaN, ...BEST));
  const outside = course.filter((_, index) => !isWithin(HOURS[index] ?? NaN, ...BEST));
  return Math.max(...outside) - Math.max(...within);
}

/** The outside check: made-up people, one night, no history. */
async function aloneDemand(scoreAll: ScoreAll): Promise<Demand> {
  const of = async (hours: number): Promise<number[]> =>
    (
      await scoreAll(TYPICAL_PEOPLE.map((person) => ({ current_session: typicalSession(person, hours) })))
    ).map(({ attention }) => attention);
  const [long, usual] = [await of(12), await of(8)];
  const most = Math.max(...long.map((value, index) => value - (usual[index] ?? NaN)));
  return demand(
    `made-up people, alone: attention after 12 h at most ${LONG_MOST} above that after 8 h`,
    signed(most, 2),
    most <= LONG_MOST,
  );
}
