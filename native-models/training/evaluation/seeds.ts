import type { Population, World } from '../cohort/population.js';
import type { Intervention } from '../cohort/intervention.js';
import type { ServedModel } from '../served.js';
import { columnOf, rollOut } from './rollout.js';
import { expectedOf, lastDayScores, scoreColumn, SCORES, type Context } from './context.js';
import { BREATHINGS, NIGHTS, sweep, worst } from './heartSweep.js';
import { scoring } from './scoring.js';
import { demand, fixed, type Section } from './section.js';
import { auc, explained, mean, slope } from './statistics.js';
import { gainOfTypicalPeople } from './steadyStates.js';
import { TYPICAL_PEOPLE, typicalSession } from './typicalPeople.js';

/** Enough for a figure's second digit. */
const PEOPLE = 6_000;
const PAIRED = 500;
const DAYS = 13;
const NIGHTS_OF_4H = 5;
const SWEEP_DAYS = 6;
/** As point 18 has it for single people. */
const TOLERANCE = 1;
const [ATTENTION, STRESS, VALENCE, AROUSAL] = [0, 3, 4, 5] as const;

interface Figure {
  readonly name: string;
  readonly digits: number;
  readonly value: number;
}

/** The same cohort and choices, fitted from three seeds: how much the card's figures depend on chance. */
export async function seeds(context: Context): Promise<Section> {
  const models: readonly (readonly [name: string, model: ServedModel])[] = [
    ['seed 1 (served)', context.model],
    ['seed 2', context.rivals.seed2],
    ['seed 3', context.rivals.seed3],
  ];
  const found: Figure[][] = [];
  for (const [, model] of models) found.push(await figuresOf(context, model));
  const [first = []] = found;
  const of = (index: number): number[] => found.map((figures) => figures[index]?.value ?? NaN);
  return {
    number: 21,
    title: 'Three training seeds',
    about: 'How far do the figures hang on the seed of the fit?',
    demands: [
      demand(
        'every seed: a faster heart never calms, and the best nights have 7 to 9 h (made-up people)',
        found
          .map((figures) =>
            figures
              .slice(-3)
              .map(({ value }) => fixed(value, 2))
              .join(' / '),
          )
          .join(', '),
        found.every((figures) => figures.slice(-3).every(({ value }) => value <= TOLERANCE)),
      ),
    ],
    tables: [
      {
        caption: `Figures of the card for networks of three seeds (${PEOPLE} people; changes: ${PAIRED}), and how far they lie apart`,
        header: ['', ...models.map(([name]) => name), 'largest less smallest'],
        rows: first.map(({ name, digits }, index) => [
          name,
          ...of(index).map((value) => fixed(value, digits)),
          fixed(Math.max(...of(index)) - Math.min(...of(index)), digits),
        ]),
      },
    ],
    figures: [],
    notes: ['Seed 1 was set before; it is not the best of three.'],
  };
}

async function figuresOf(context: Context, model: ServedModel): Promise<Figure[]> {
  return [
    ...(await shares(context, model)),
    ...(await changes(context.world, model)),
    ...(await edgesOf(model)),
  ];
}

async function shares(context: Context, model: ServedModel): Promise<Figure[]> {
  const { day } = context;
  const people = firstOf(context.people, PEOPLE);
  const { scores } = await rollOut(model, people);
  const column = (k: number): Float64Array => columnOf(scores, 7, scoreColumn(k), people, day);
  const expected = (k: number): Float64Array => expectedOf({ people, day }, k);
  const labels = (k: number): Float64Array => columnOf(people.truth, 6, k, people, day);
  return [
    ...SCORES.map((name, k) => ({
      name: `${name}: explained share, five sessions`,
      digits: 4,
      value: explained(expected(k), column(k)),
    })),
    ...SCORES.map((name, k) => ({
      name: `${name}: slope of the expected on the served`,
      digits: 2,
      value: slope(column(k), expected(k)),
    })),
    { name: 'valence: AUC', digits: 3, value: auc(column(VALENCE), labels(VALENCE)) },
    { name: 'arousal: AUC', digits: 3, value: auc(column(AROUSAL), labels(AROUSAL)) },
  ];
}

function firstOf(population: Population, count: number): Population {
  return { ...population, people: population.people.slice(0, count) };
}

async function changes(world: World, model: ServedModel): Promise<Figure[]> {
  const last = async (intervene: (day: number) => Intervention): Promise<readonly Float64Array[]> =>
    lastDayScores(model, world.simulate(PAIRED, DAYS, { isComplete: true, intervene }));
  const onLast = (intervention: Intervention) => (day: number) => (day === DAYS - 1 ? intervention : {});
  const nights = (inBedH: number) => (day: number) => (day >= DAYS - NIGHTS_OF_4H ? { inBedH } : {});
  const usual = await last(() => ({}));
  const [short, full] = [await last(nights(4)), await last(nights(8))];
  const sleepless = await last(onLast({ asleepH: 0 }));
  const fast = await last(onLast({ addDayHr: 8, addNightHr: 8 }));
  const change = (to: readonly Float64Array[], from: readonly Float64Array[], k: number): number =>
    mean(to[k] ?? []) - mean(from[k] ?? []);
  return [
    { name: 'five nights of 4 h against 8 h: attention', digits: 1, value: change(short, full, ATTENTION) },
    { name: 'five nights of 4 h against 8 h: stress', digits: 1, value: change(short, full, STRESS) },
    { name: 'a night without sleep: attention', digits: 1, value: change(sleepless, usual, ATTENTION) },
    { name: '+8 bpm, day and night: stress', digits: 1, value: change(fast, usual, STRESS) },
  ];
}

async function edgesOf(model: ServedModel): Promise<Figure[]> {
  const weeks = TYPICAL_PEOPLE.map((person) =>
    Array.from({ length: SWEEP_DAYS }, () => typicalSession(person)),
  );
  const sweeps = await sweep(weeks, scoring(model));
  const most = (score: 'stress' | 'attention'): number =>
    Math.max(
      ...sweeps.flatMap(({ records }) =>
        TYPICAL_PEOPLE.map((_, person) =>
          worst(
            records.map((rise) => rise[person]?.[score] ?? NaN),
            score,
          ),
        ),
      ),
    );
  const of = `heart rate +0 to +80 (${BREATHINGS.length} ways of breathing, ${NIGHTS.length} of nights)`;
  return [
    { name: `${of}: stress falls by at most`, digits: 2, value: most('stress') },
    { name: `${of}: attention rises by at most`, digits: 2, value: most('attention') },
    {
      name: 'forty equal nights: better outside of 7 to 9 h by',
      digits: 2,
      value: await gainOfTypicalPeople(scoring(model)),
    },
  ];
}
