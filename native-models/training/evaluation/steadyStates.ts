import { COLUMN, type ServedModel } from '../served.js';
import type { Context } from './context.js';
import { follow } from './requests.js';
import { rollOut } from './rollout.js';
import { demand, fixed, isWithin, signed, type Demand, type Table } from './section.js';
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
const SCORES = ['attention', 'stress'] as const;

/** By hours of sleep. */
interface Course {
  readonly of: string;
  readonly attention: readonly number[];
  readonly stress: readonly number[];
}

export async function steadyStates(context: Context): Promise<{ demands: Demand[]; tables: Table[] }> {
  const courses: Course[] = [];
  for (const age of AGES) courses.push(await courseOf(context, age));
  const made = await madeUpCourses(context.model);
  return {
    demands: [
      bestDemand(`people of ${AGES.join(', ')}`, courses),
      bestDemand('made-up people', made),
      await aloneDemand(context.model),
    ],
    tables: [
      {
        caption: `Mean attention | stress on the last of ${DAYS} days with so many hours of sleep each night (${PEOPLE} people of each age)`,
        header: ['', ...HOURS.map((hours) => `${hours} h`)],
        rows: courses.map((course) => [
          course.of,
          ...HOURS.map((_, index) =>
            SCORES.map((score) => fixed(course[score][index] ?? NaN, 1)).join(' | '),
          ),
        ]),
      },
    ],
  };
}

async function courseOf({ world, model }: Context, age: number): Promise<Course> {
  const found = { attention: [] as number[], stress: [] as number[] };
  for (const asleepH of HOURS) {
    const { people, ...population } = world.simulate(PEOPLE, DAYS, {
      isComplete: true,
      parameters: { ageMin: age - 0.49, ageMax: age + 0.49, deviceChange: 0 },
      intervene: () => ({ asleepH }),
    });
    const { scores } = await rollOut(model, { people, ...population });
    for (const score of SCORES)
      found[score].push(mean(people.map((_, person) => scores[((person + 1) * DAYS - 1) * 7 + COLUMN[score]] ?? NaN))); // prettier-ignore
  }
  return { of: `age ${age}`, ...found };
}

async function madeUpCourses(model: ServedModel): Promise<Course[]> {
  const courses: Course[] = [];
  for (const person of TYPICAL_PEOPLE) courses.push(await madeUpCourse(person, model));
  return courses;
}

async function madeUpCourse(person: TypicalPerson, model: ServedModel): Promise<Course> {
  const found = { attention: [] as number[], stress: [] as number[] };
  for (const hours of HOURS) {
    const nights = Array.from({ length: DAYS }, () => typicalSession(person, hours));
    const last = (await follow(model, nights)).at(-1);
    for (const score of SCORES) found[score].push(last?.[COLUMN[score]] ?? NaN);
  }
  return { of: `${person.sex} ${person.age}`, ...found };
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
export async function gainOfTypicalPeople(model: ServedModel): Promise<number> {
  return largestGain(await madeUpCourses(model));
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
  const best = (isBest: boolean): number =>
    Math.max(...course.filter((_, index) => isWithin(HOURS[index] ?? NaN, ...BEST) === isBest));
  return best(false) - best(true);
}

/** The outside check: made-up people, one night, no history. */
async function aloneDemand(model: ServedModel): Promise<Demand> {
  const gains: number[] = [];
  for (const person of TYPICAL_PEOPLE) {
    const [long = NaN, usual = NaN] = [
      (await model.score({ current_session: typicalSession(person, 12) }))[COLUMN.attention],
      (await model.score({ current_session: typicalSession(person, 8) }))[COLUMN.attention],
    ];
    gains.push(long - usual);
  }
  const most = Math.max(...gains);
  return demand(`made-up people, alone: attention after 12 h at most ${LONG_MOST} above that after 8 h`, signed(most, 2), most <= LONG_MOST); // prettier-ignore
}
