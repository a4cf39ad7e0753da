import type { Intervention } from '../cohort/intervention.js';
import { NAMES, SCORES, type Judged } from './context.js';
import { lastDay, type LastDay } from './rollout.js';
import { demand, fixed, interval, isWithin, signed, type Demand, type Section } from './section.js';
import { mean, meanEstimate } from './statistics.js';

const NORMAL_DAYS = 8;
const RESTRICTED_NIGHTS = 5;
const AGES = [20, 35, 50, 65, 80] as const;
/** Hours asleep in the night before the scored day; undefined as the person lives. */
const HOURS = [undefined, 0, 1, 2, 4, 6, 8, 10, 12] as const;
type Hours = (typeof HOURS)[number];
/** Tolerance for a mean over some hundred people. */
const NOISE = 0.5;
const WAYS = { alone: 'no history', together: 'five sessions' } as const;
type Way = keyof typeof WAYS;
type Name = (typeof NAMES)[number];

export const DOSE_CAPTION = 'Mean attention by hours asleep in the last night, all ages';

interface Effect {
  readonly name: string;
  readonly from: LastDay;
  readonly to: LastDay;
}

/** Point 6: known causes move the scores the known way, by about the known amount, at every age. */
export async function direction(
  judged: Judged,
  { people = 1_500, peopleOfAge = 120 } = {},
): Promise<Section> {
  const run = (days: number, intervene: (day: number) => Intervention, age?: number) =>
    lastDay(
      judged.model,
      judged.world.simulate(age === undefined ? people : peopleOfAge, days, {
        isComplete: true,
        intervene,
        ...(age !== undefined && { parameters: { ageMin: age - 0.49, ageMax: age + 0.49, deviceChange: 0 } }),
      }),
    );
  const onLastDay = (intervention: Intervention, age?: number) =>
    run(NORMAL_DAYS, (day) => (day === NORMAL_DAYS - 1 ? intervention : {}), age);
  const restricted = (inBedH: number) =>
    run(NORMAL_DAYS + RESTRICTED_NIGHTS, (day) => (day >= NORMAL_DAYS ? { inBedH } : {}));
  const usual = await onLastDay({});
  const effects: Effect[] = [
    { name: 'five nights of 4 h against 8 h', from: await restricted(8), to: await restricted(4) },
    { name: '30 min awake at night', from: usual, to: await onLastDay({ addAwakeH: 0.5 }) },
    { name: 'breathing +3 (fever-like)', from: usual, to: await onLastDay({ addRr: 3 }) },
    { name: 'resting heart rate +5', from: usual, to: await onLastDay({ addDayHr: 5, addNightHr: 5 }) },
  ];
  const nights = new Map<string, LastDay>();
  for (const age of AGES)
    for (const hours of HOURS)
      nights.set(`${age} ${hours}`, await onLastDay(hours === undefined ? {} : { asleepH: hours }, age));
  const at = (way: Way, age: number, hours: Hours, score = 0): number =>
    mean(nights.get(`${age} ${hours}`)?.[way][score] ?? []);
  const [short] = effects;
  return {
    number: 6,
    title: 'Direction and dose',
    why: `Do scores move the way, and as far, as studies say, and what does one night of 0 to 12 h do? A served change below the expected one: the sensor is noisy, or shows the cause in part only. ${peopleOfAge} people of each age.`,
    demands: [...effectDemands(effects), ...doseDemands(at)],
    tables: [
      {
        caption:
          'Mean change, served [95 %] (expected by the cohort); labels as probability of High; past sessions and rolled-out targets included',
        header: ['', ...NAMES],
        rows: effects.map((effect) => [
          effect.name,
          ...NAMES.map((_, k) => {
            const digits = k < SCORES.length ? 1 : 3;
            return `${interval(meanEstimate(change(effect, k)), digits)} (${signed(mean(change(effect, k, 'expected')), digits)})`;
          }),
        ]),
      },
      {
        caption: DOSE_CAPTION,
        header: ['', ...HOURS.map((hours) => (hours === undefined ? 'usual' : `${hours} h`))],
        rows: (['alone', 'together'] as const).map((way) => [
          WAYS[way],
          ...HOURS.map((hours) => fixed(mean(AGES.map((age) => at(way, age, hours))), 1)),
        ]),
      },
    ],
    figures: [
      [
        'Five nights of 4 h in place of 8 h: attention, points',
        signed(short === undefined ? NaN : mean(change(short, 0)), 1),
      ],
      [
        'A night without sleep: attention, points',
        signed(mean(AGES.map((age) => at('together', age, 0) - at('together', age, undefined))), 1),
      ],
    ],
  };
}

function change({ from, to }: Effect, k: number, of: 'together' | 'expected' = 'together'): Float64Array {
  return Float64Array.from(to[of][k] ?? [], (value, person) => value - (from[of][k]?.[person] ?? NaN));
}

function effectDemands(effects: readonly Effect[]): Demand[] {
  const [short, awake, fever, heart] = effects.map(
    (effect) => (name: Name) => mean(change(effect, NAMES.indexOf(name))),
  );
  const moves = (
    what: string,
    of: ((name: Name) => number) | undefined,
    wanted: Partial<Record<Name, readonly [number, number]>>,
  ) => {
    const entries = Object.entries(wanted) as [Name, readonly [number, number]][];
    const found = entries.map(([name]) => of?.(name) ?? NaN);
    return demand(
      `${what}: ${entries.map(([name, [low, high]]) => `${name} ${signed(low, 2)} to ${signed(high, 2)}`).join(', ')}`,
      found.map((value) => signed(value, 3)).join(', '),
      entries.every(([, bounds], index) => isWithin(found[index] ?? NaN, ...bounds)),
    );
  };
  const order = (['attention', 'memory', 'reasoning'] as const).map((name) => short?.(name) ?? NaN);
  return [
    moves('five nights of 4 h against 8 h', short, { attention: [-25, -8], stress: [1, 25] }),
    demand(
      'the same: memory less than attention, reasoning least',
      order.map((value) => signed(value, 2)).join(', '),
      [...order, 0].every((value, index) => index === 0 || value > (order[index - 1] ?? NaN)),
    ),
    moves('30 min awake', awake, { attention: [-5, -0.1], stress: [0.1, 5] }),
    moves('breathing +3', fever, { stress: [1, 15], valence: [-0.2, -0.01] }),
    moves('heart rate +5', heart, { stress: [1, 10], arousal: [0.01, 0.2], valence: [-0.02, 0.02] }),
  ];
}

type At = (way: Way, age: number, hours: Hours, score?: number) => number;

function doseDemands(at: At): Demand[] {
  const byWay = (
    what: string,
    of: (way: Way) => readonly number[],
    holds: (values: readonly number[]) => boolean,
  ) => {
    const found = [of('alone'), of('together')];
    const told = found.map((values) => values.map((value) => fixed(value, 1)).join(', '));
    return demand(`${Object.values(WAYS).join(' | ')}: ${what}`, told.join(' | '), found.every(holds));
  };
  const byAge = (what: string, of: (way: Way, age: number) => number, low: number, high: number): Demand =>
    byWay(
      `${what}, at ${AGES.join(', ')}`,
      (way) => AGES.map((age) => of(way, age)),
      (values) => values.every((value) => isWithin(value, low, high)),
    );
  const cost = (way: Way, age: number): number => at(way, age, undefined) - at(way, age, 0);
  return [
    byAge('no sleep costs 12 to 35 points of attention', cost, 12, 35),
    byAge(
      'and is at least as bad as one hour',
      (way, age) => at(way, age, 0) - at(way, age, 1),
      -Infinity,
      0,
    ),
    ...SCORES.slice(0, 3).map((name, k) =>
      byAge(
        `${name} after 12 h between 5 points below and 0.5 above 8 h`,
        (way, age) => at(way, age, 12, k) - at(way, age, 8, k),
        -5,
        0.5,
      ),
    ),
    byWay(
      `a night without sleep costs no more at 65 and 80 than at 20 and 35 (within ${NOISE}; cost at 20, 35, 65, 80)`,
      (way) => [20, 35, 65, 80].map((age) => cost(way, age)),
      ([a = NaN, b = NaN, ...old]) => old.every((value) => value <= Math.min(a, b) + NOISE),
    ),
    byWay(
      'attention rises from 0 to 2, 4, 6 and 8 h',
      (way) => ([0, 2, 4, 6, 8] as const).map((hours) => mean(AGES.map((age) => at(way, age, hours)))),
      (values) => values.every((value, index) => index === 0 || value > (values[index - 1] ?? NaN)),
    ),
  ];
}
