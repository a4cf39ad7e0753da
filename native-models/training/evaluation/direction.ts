import type { Intervention } from '../cohort/intervention.js';
import { expectedOf, LABELS, lastDayScores, SCORES, type Context } from './context.js';
import { demand, interval, isWithin, signed, type Section } from './section.js';
import { mean, meanEstimate, type Estimate } from './statistics.js';

const PEOPLE = 1_500;
const NORMAL_DAYS = 8;
const RESTRICTED_NIGHTS = 5;
const NAMES = [...SCORES, ...LABELS] as const;

interface Outcome {
  readonly scores: readonly Float64Array[];
  readonly expected: readonly Float64Array[];
}
interface Effect {
  readonly name: string;
  readonly served: readonly Estimate[];
  readonly expected: readonly number[];
}

/** Point 6: known causes move the scores the known way, by about the known amount. */
export async function direction(context: Context): Promise<Section> {
  const usual = await lastDay(context, {});
  const [eight, four] = [await restricted(context, 8), await restricted(context, 4)];
  const short = compare('five nights of 4 h against 8 h', eight, four);
  const awake = compare('30 min awake at night', usual, await lastDay(context, { addAwakeH: 0.5 }));
  const fever = compare('breathing +3 (fever-like)', usual, await lastDay(context, { addRr: 3 }));
  const faster = await lastDay(context, { addDayHr: 5, addNightHr: 5 });
  const heart = compare('resting heart rate +5', usual, faster);
  const of = ({ served }: Effect, name: (typeof NAMES)[number]): number =>
    served[NAMES.indexOf(name)]?.value ?? NaN;
  const moves = (what: string, effect: Effect, signs: Partial<Record<(typeof NAMES)[number], 1 | -1>>) => {
    const entries = Object.entries(signs) as [(typeof NAMES)[number], 1 | -1][];
    const found = entries.map(([name]) => signed(of(effect, name), 3)).join(', ');
    const wanted = entries.map(([name, sign]) => `${name} ${sign > 0 ? 'higher' : 'lower'}`).join(', ');
    return demand(`${what}: ${wanted}`, found, entries.every(([name, sign]) => sign * of(effect, name) > 0)); // prettier-ignore
  };
  const [attention, memory, reasoning] = [
    of(short, 'attention'),
    of(short, 'memory'),
    of(short, 'reasoning'),
  ];
  return {
    number: 6,
    title: 'Direction and size',
    why: 'Do scores move the way, and as far, as studies say? A served change below the expected one: the sensor is noisy, or shows the cause in part only.',
    demands: [
      demand('five nights of 4 h against 8 h: attention −8 to −25', signed(attention, 2), isWithin(attention, -25, -8)), // prettier-ignore
      demand(
        'memory less, reasoning least',
        [attention, memory, reasoning].map((value) => signed(value, 2)).join(' / '),
        attention < memory && memory < reasoning && reasoning < 0,
      ),
      moves('the same', short, { stress: 1 }),
      moves('30 min awake', awake, { attention: -1, stress: 1 }),
      moves('breathing +3', fever, { stress: 1, valence: -1 }),
      moves('heart rate +5', heart, { stress: 1, arousal: 1 }),
      demand('heart rate +5: no mean slope on valence (within 0.02)', signed(of(heart, 'valence'), 3), Math.abs(of(heart, 'valence')) <= 0.02), // prettier-ignore
    ],
    tables: [
      {
        caption:
          'Mean change, served [95 %] (expected by the cohort); labels as probability of High; past sessions and rolled-out targets included',
        header: ['', ...NAMES],
        rows: [short, awake, fever, heart].map(({ name, served, expected }) => [
          name,
          ...served.map((estimate, k) => {
            const digits = k < SCORES.length ? 1 : 3;
            return `${interval(estimate, digits)} (${signed(expected[k] ?? NaN, digits)})`;
          }),
        ]),
      },
    ],
    decisive: { 'five nights of 4 h': attention },
  };
}

/** Everybody after five nights of `inBedH` hours in bed. */
function restricted(context: Context, inBedH: number): Promise<Outcome> {
  const days = NORMAL_DAYS + RESTRICTED_NIGHTS;
  return outcomeOf(context, days, (day) => (day >= NORMAL_DAYS ? { inBedH } : {}));
}

/** Everybody on a day with `intervention`, after days as they live. */
function lastDay(context: Context, intervention: Intervention): Promise<Outcome> {
  return outcomeOf(context, NORMAL_DAYS, (day) => (day === NORMAL_DAYS - 1 ? intervention : {}));
}

async function outcomeOf({ world, model }: Context, days: number, intervene: (day: number) => Intervention) {
  const people = world.simulate(PEOPLE, days, { isComplete: true, intervene });
  const expected = NAMES.map((_, k) => expectedOf({ people, day: days - 1 }, k));
  return { scores: await lastDayScores(model, people), expected };
}

function compare(name: string, from: Outcome, to: Outcome): Effect {
  const change = (way: keyof Outcome, k: number): Float64Array =>
    Float64Array.from(to[way][k] ?? [], (value, person) => value - (from[way][k]?.[person] ?? NaN));
  return {
    name,
    served: NAMES.map((_, k) => meanEstimate(change('scores', k))),
    expected: NAMES.map((_, k) => mean(change('expected', k))),
  };
}
