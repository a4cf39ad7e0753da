import type { Intervention } from '../cohort/intervention.js';
import { lastDayScores, SCORES, type Context } from './context.js';
import { plot } from './plot.js';
import type { Population } from '../cohort/population.js';
import { demand, fixed, interval, isWithin, signed, type Section } from './section.js';
import { mean, meanEstimate, type Estimate } from './statistics.js';

const PEOPLE = 1_500;
const NORMAL_DAYS = 8;
const RESTRICTED_NIGHTS = 5;
const HOURS_IN_BED = [3, 4, 5, 6, 7, 8, 9] as const;
const NAMES = [...SCORES, 'valence', 'arousal'] as const;

interface Effect {
  readonly name: string;
  readonly served: readonly Estimate[];
  readonly expected: readonly number[];
}

/** Point 6: known causes move the scores the known way, by about the known amount. */
export async function direction(context: Context): Promise<Section> {
  const nights = new Map<number, { scores: readonly Float64Array[]; population: Population }>();
  for (const inBedH of HOURS_IN_BED) nights.set(inBedH, await restricted(context, inBedH));
  const effect = (name: string, from: Outcome | undefined, to: Outcome | undefined): Effect => {
    if (from === undefined || to === undefined) throw new Error(`nothing to compare for ${name}`);
    return compare(name, from, to);
  };
  const short = effect('five nights of 4 h against 8 h', nights.get(8), nights.get(4));
  const usual = await lastDay(context, {});
  const awake = effect('30 min awake at night', usual, await lastDay(context, { addAwakeH: 0.5 }));
  const fever = effect('breathing +3 (fever-like)', usual, await lastDay(context, { addRr: 3 }));
  const heart = effect(
    'resting heart rate +5',
    usual,
    await lastDay(context, { addDayHr: 5, addNightHr: 5 }),
  );
  const effects = [short, awake, fever, heart];
  const at = ({ served }: Effect, k: number): number => served[k]?.value ?? NaN;
  const [attention, memory, reasoning] = [at(short, 0), at(short, 1), at(short, 2)];
  return {
    number: 6,
    title: 'Direction and size',
    about: 'Do scores move the way, and as far, as studies say?',
    demands: [
      demand(
        'five nights of 4 h against 8 h: attention −8 to −25',
        interval(short.served[0] ?? nothing, 2),
        isWithin(attention, -25, -8),
      ),
      demand(
        'memory less, reasoning least',
        [attention, memory, reasoning].map((value) => signed(value, 2)).join(' / '),
        attention < memory && memory < reasoning && reasoning < 0,
      ),
      demand('and more stress', signed(at(short, 3), 2), at(short, 3) > 0),
      demand(
        '30 min awake: attention lower, stress higher',
        pair(awake),
        at(awake, 0) < 0 && at(awake, 3) > 0,
      ),
      demand(
        'breathing +3: stress higher, valence lower',
        `${signed(at(fever, 3), 2)}, ${signed(at(fever, 4), 3)}`,
        at(fever, 3) > 0 && at(fever, 4) < 0,
      ),
      demand(
        'heart rate +5: stress and arousal higher',
        `${signed(at(heart, 3), 2)}, ${signed(at(heart, 5), 3)}`,
        at(heart, 3) > 0 && at(heart, 5) > 0,
      ),
      demand(
        'heart rate +5: no mean slope on valence (within 0.02)',
        signed(at(heart, 4), 3),
        Math.abs(at(heart, 4)) <= 0.02,
      ),
    ],
    tables: [
      {
        caption:
          'Mean change, served [95 %] (expected by the cohort); labels as probability of High; past sessions and rolled-out targets included',
        header: ['', ...NAMES],
        rows: effects.map(({ name, served, expected }) => [
          name,
          ...NAMES.map((_, k) => {
            const digits = k < 4 ? 1 : 3;
            return `${interval(served[k] ?? nothing, digits)} (${signed(expected[k] ?? NaN, digits)})`;
          }),
        ]),
      },
    ],
    figures: [doseResponse(nights)],
    decisive: { 'five nights of 4 h': attention },
    notes: [
      'A served change below the expected one: the sensor is noisy, or shows the cause in part only. Above it: the network takes something of what was imposed for a habit, and adds what goes with that habit.',
      'An earlier cohort fell short here: reasoning fell more than memory. Its penalties of habitual short sleep were then brought down to the size that the source gives, and runs of imposed short nights were added.',
    ],
  };
}

type Outcome = { readonly scores: readonly Float64Array[]; readonly population: Population };
const nothing: Estimate = { value: NaN, low: NaN, high: NaN };

function pair(effect: Effect): string {
  return `${signed(effect.served[0]?.value ?? NaN, 2)}, ${signed(effect.served[3]?.value ?? NaN, 2)}`;
}

/** Everybody after five nights of `inBedH` hours in bed. */
async function restricted(context: Context, inBedH: number): Promise<Outcome> {
  const days = NORMAL_DAYS + RESTRICTED_NIGHTS;
  return outcomeOf(context, days, (day) => (day >= NORMAL_DAYS ? { inBedH } : {}));
}

/** Everybody on a day with `intervention`, after days as they live. */
async function lastDay(context: Context, intervention: Intervention): Promise<Outcome> {
  return outcomeOf(context, NORMAL_DAYS, (day) => (day === NORMAL_DAYS - 1 ? intervention : {}));
}

async function outcomeOf({ world, model }: Context, days: number, intervene: (day: number) => Intervention) {
  const population = world.simulate(PEOPLE, days, { isComplete: true, intervene });
  return { population, scores: await lastDayScores(model, population) };
}

function compare(name: string, from: Outcome, to: Outcome): Effect {
  return {
    name,
    served: NAMES.map((_, k) => {
      const before = from.scores[k] ?? new Float64Array(0);
      return meanEstimate(Float64Array.from(to.scores[k] ?? [], (value, i) => value - (before[i] ?? NaN)));
    }),
    expected: NAMES.map((_, k) => meanExpected(to.population, k) - meanExpected(from.population, k)),
  };
}

function meanExpected({ people, days, expected }: Population, k: number): number {
  return mean(people.map((_, index) => expected[((index + 1) * days - 1) * 6 + k] ?? NaN));
}

function doseResponse(nights: ReadonlyMap<number, Outcome>) {
  const lines = SCORES.flatMap((name, k) => [
    { name, colour: k, points: [...nights].map(([h, { scores }]) => [h, mean(scores[k] ?? [])] as const) },
    {
      name: `${name}, expected`,
      colour: k,
      style: 'dashed' as const,
      points: [...nights].map(([h, { population }]) => [h, meanExpected(population, k)] as const),
    },
  ]);
  return {
    file: 'dose-response.svg',
    caption: `Mean scores after five nights by hours in bed (${fixed(PEOPLE, 0)} people)`,
    svg: plot({
      title: 'Five nights of sleep restriction',
      x: 'hours in bed',
      y: 'mean score',
      series: lines,
    }),
  };
}
