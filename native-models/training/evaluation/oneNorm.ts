import { SCORE_FIELDS } from '#rules/fields.js';
import { FEATURE_COUNT, FEATURE_INDEX } from '#acuity/contract/features.js';
import type { Context } from './context.js';
import type { Population } from '../cohort/population.js';
import { rollOut, scoreDay } from './rollout.js';
import { demand, signed, type Demand, type Section } from './section.js';
import { mean } from './statistics.js';

const AGES = [20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85] as const;
const PEOPLE = 500;
const DAYS = 6;
const LAST = DAYS - 1;
const WIDTH = 7;

type Withheld = 'sex' | 'age' | 'both';
const GROUPS: Readonly<Record<Withheld, readonly string[]>> = {
  sex: ['sex'],
  age: ['age'],
  both: ['age', 'sex'],
};
const MOST: Readonly<Record<'sex' | 'age', number>> = { sex: 1, age: 4 };

interface Shift {
  readonly age: number;
  readonly sex: 'F' | 'M';
  readonly withheld: Withheld;
  readonly sessions: number;
  /** Mean over the people, by column. */
  readonly by: readonly number[];
}

/** Point 13: withholding a field changes what is known, not who a person is compared with. */
export async function oneNorm(context: Context): Promise<Section> {
  const shifts: Shift[] = [];
  for (const age of AGES) shifts.push(...(await shiftsAt(context, age)));
  return {
    number: 13,
    title: 'One norm',
    about: 'Is everybody compared with people of their own age and sex, also where these are withheld?',
    demands: (['sex', 'age'] as const).flatMap((withheld) =>
      [0, LAST].map((sessions) => demandOf(withheld, sessions, shifts)),
    ),
    tables: (['sex', 'age', 'both'] as const).map((withheld) => ({
      caption: `${withheld === 'both' ? 'Age and sex' : withheld} withheld: mean shift in points, without history | with five sessions`,
      header: ['', ...SCORE_FIELDS],
      rows: AGES.flatMap((age) =>
        (['F', 'M'] as const).map((sex) => [
          `${sex} ${age}`,
          ...SCORE_FIELDS.map(
            (_, column) =>
            [0, LAST].map((sessions) => signed(find(shifts, age, sex, withheld, sessions)[column] ?? NaN, 1)).join(' | '), // prettier-ignore
          ),
        ]),
      ),
    })),
    figures: [],
    notes: [
      `${PEOPLE} people of each age, women and men apart; withheld in all sessions, past targets rolled out without it.`,
    ],
  };
}

async function shiftsAt({ world, model }: Context, age: number): Promise<Shift[]> {
  const population = world.simulate(PEOPLE, DAYS, {
    isComplete: true,
    parameters: { ageMin: age - 0.49, ageMax: age + 0.49 },
  });
  const given = await scored(model, population);
  const shifts: Shift[] = [];
  for (const withheld of ['sex', 'age', 'both'] as const) {
    const without = await scored(model, withhold(population, GROUPS[withheld]));
    for (const sessions of [0, LAST]) {
      for (const sex of ['F', 'M'] as const) {
        const chosen = population.people.flatMap((person, index) => (person.sex === sex ? [index] : []));
        const by = SCORE_FIELDS.map((_, column) =>
          mean(chosen.map((i) => at(without, sessions, i, column) - at(given, sessions, i, column))),
        );
        shifts.push({ age, sex, withheld, sessions, by });
      }
    }
  }
  return shifts;
}

type Scored = ReadonlyMap<number, Float32Array>;

/** The last day without history and with five sessions. */
async function scored(model: Context['model'], population: Population): Promise<Scored> {
  const { targets } = await rollOut(model, population);
  return new Map([
    [0, await scoreDay(model, population, targets, LAST, 0)],
    [LAST, await scoreDay(model, population, targets, LAST, LAST)],
  ]);
}

function at(scored: Scored, sessions: number, person: number, column: number): number {
  return scored.get(sessions)?.[person * WIDTH + column] ?? NaN;
}

/** The same sessions without some groups of features, as the reader treats absent fields. */
export function withhold(population: Population, groups: readonly string[]): Population {
  const rows = population.rows.slice();
  const features = groups.flatMap((group) => [FEATURE_INDEX.get(`${group}_known`), FEATURE_INDEX.get(group)]);
  for (let row = 0; row < rows.length; row += FEATURE_COUNT) {
    for (const feature of features) if (feature !== undefined) rows[row + feature] = 0;
  }
  return { ...population, rows };
}

function find(shifts: readonly Shift[], age: number, sex: 'F' | 'M', withheld: Withheld, sessions: number) {
  const found = shifts.find(
    (shift) =>
      shift.age === age && shift.sex === sex && shift.withheld === withheld && shift.sessions === sessions,
  );
  return found?.by ?? [];
}

function demandOf(withheld: 'sex' | 'age', sessions: number, shifts: readonly Shift[]): Demand {
  const all = shifts
    .filter((shift) => shift.withheld === withheld && shift.sessions === sessions)
    .flatMap(({ age, sex, by }) =>
      by.map((value, column) => ({ value, where: `${SCORE_FIELDS[column] ?? ''}, ${sex} ${age}` })),
    )
    .toSorted((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const { value, where } = all[0] ?? { value: NaN, where: '' };
  return demand(
    `${withheld} withheld, ${sessions === 0 ? 'no history' : 'five sessions'}: no score moves by more than ${MOST[withheld]} on average, at any age, for women and men`,
    `largest ${signed(value, 2)} (${where})`,
    Math.abs(value) <= MOST[withheld],
  );
}
