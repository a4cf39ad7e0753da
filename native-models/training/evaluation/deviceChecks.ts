import { dayColumn, SCORES, type Context } from './context.js';
import { boutShare, OTHER_DEVICES, seenBy, type OtherDevice } from './otherDevices.js';
import type { Population } from '../cohort/population.js';
import { rollOut, scoreDay, type Rollout } from './rollout.js';
import { demand, fixed, signed, type Demand, type Section, type Table } from './section.js';
import { mean } from './statistics.js';

const PEOPLE = 800;
const DAYS = 6;
const LAST = DAYS - 1;
const SEED = 23;
const SHIFT_MOST = 1.5;
const AVERAGED_SHIFT_MOST = 2;
const DISTANCE_MOST = 2;

/** How scores differ from those of the plain device, by score. */
interface Difference {
  readonly shift: readonly number[];
  readonly distance: readonly number[];
  readonly tail: readonly number[];
}

/** What is seen by which device: the day that is scored, and the five sessions before it. */
const SETTINGS = [
  'without history',
  'with five sessions of that device',
  'on the day of the change to it',
  'on the day of the change from it',
] as const;
type Setting = (typeof SETTINGS)[number];

interface Seen {
  readonly population: Population;
  readonly rollout: Rollout;
}

/** Point 12: the same people and nights through other devices get the same scores. */
export async function deviceChecks(context: Context): Promise<Section> {
  const plain = await see(context, seenBy());
  const rows: { other: OtherDevice; by: Map<Setting, Difference> }[] = [];
  for (const other of OTHER_DEVICES) {
    rows.push({ other, by: await differences(context, plain, await see(context, seenBy(other))) });
  }
  return {
    number: 12,
    title: 'The device is not the person',
    about: 'Does another device give the same night the same score?',
    demands: SETTINGS.flatMap((setting) => demandsOf(setting, rows)),
    tables: [...SETTINGS.map((setting) => tableOf(setting, rows)), await biasTable(context, plain)],
    figures: [],
    decisive: decisiveOf(rows),
    notes: [
      `The same ${PEOPLE} people and nights, simulated every 12 s, with bouts of waking at +15 bpm in ${fixed(100 * boutShare(SEED, 400), 1)} % of the night. Past targets are rolled out with the device of the past sessions.`,
      'A device that reads a beat too high can’t be told from a heart that beats faster. On the day of such a change it looks as if the person had changed. Five sessions later it is the person’s own level.',
    ],
  };
}

async function see({ world, model }: Context, plan: ReturnType<typeof seenBy>): Promise<Seen> {
  const population = world.simulate(PEOPLE, DAYS, plan);
  return { population, rollout: await rollOut(model, population) };
}

async function differences({ model }: Context, plain: Seen, other: Seen): Promise<Map<Setting, Difference>> {
  const alone = (seen: Seen) => scoreDay(model, seen.population, seen.rollout.targets, LAST, 0);
  const withPast = (seen: Seen) => scoreDay(model, seen.population, seen.rollout.targets, LAST, LAST);
  const before = await withPast(plain);
  return new Map<Setting, Difference>([
    ['without history', compare(await alone(plain), await alone(other))],
    ['with five sessions of that device', compare(before, await withPast(other))],
    ['on the day of the change to it', compare(before, await withPast(changed(plain, other)))],
    ['on the day of the change from it', compare(before, await withPast(changed(other, plain)))],
  ]);
}

/** The last day by another device than those before it. */
function changed(past: Seen, last: Seen): Seen {
  const { population, rollout } = past;
  const rows = population.rows.slice();
  const width = rows.length / (PEOPLE * DAYS);
  for (let person = 0; person < PEOPLE; person++) {
    const at = (person * DAYS + LAST) * width;
    rows.set(last.population.rows.subarray(at, at + width), at);
  }
  return { population: { ...population, rows }, rollout };
}

function compare(plain: Float32Array, other: Float32Array): Difference {
  const byScore = SCORES.map((_, k) => {
    const [from, to] = [dayColumn(plain, k), dayColumn(other, k)];
    return Float64Array.from(to, (value, index) => value - (from[index] ?? NaN));
  });
  return {
    shift: byScore.map((values) => mean(values)),
    distance: byScore.map((values) => mean(values.map(Math.abs))),
    tail: byScore.map((values) => values.map(Math.abs).toSorted()[Math.floor(0.95 * values.length)] ?? NaN),
  };
}

type Rows = readonly { readonly other: OtherDevice; readonly by: ReadonlyMap<Setting, Difference> }[];

function demandsOf(setting: Setting, rows: Rows): Demand[] {
  const of = (isAveraged: boolean) => rows.filter(({ other }) => (other.isAveraged === true) === isAveraged);
  const [sampled, averaged] = [of(false), of(true)];
  const shift = worst(setting, sampled, 'shift');
  const distance = worst(setting, sampled, 'distance');
  const averagedShift = worst(setting, averaged, 'shift');
  return [
    demand(
      `${setting}: mean shift of every score at most ${SHIFT_MOST}`,
      told(shift),
      Math.abs(shift.value) <= SHIFT_MOST,
    ),
    demand(
      `${setting}: mean distance at most ${DISTANCE_MOST}`,
      told(distance),
      distance.value <= DISTANCE_MOST,
    ),
    demand(
      `${setting}: one average or three in place of a series, mean shift at most ${AVERAGED_SHIFT_MOST}`,
      told(averagedShift),
      Math.abs(averagedShift.value) <= AVERAGED_SHIFT_MOST,
    ),
  ];
}

function decisiveOf(rows: Rows): Record<string, number> {
  const most = (of: 'shift' | 'distance', isAveraged: boolean): number =>
    Math.max(
      ...SETTINGS.map((setting) => {
        const chosen = rows.filter(({ other }) => (other.isAveraged === true) === isAveraged);
        return Math.abs(worst(setting, chosen, of).value);
      }),
    );
  return {
    'device shift': most('shift', false),
    'device distance': most('distance', false),
    'averages shift': most('shift', true),
  };
}

interface Worst {
  readonly value: number;
  readonly where: string;
}

function worst(setting: Setting, rows: Rows, of: 'shift' | 'distance'): Worst {
  const all = rows.flatMap(({ other, by }) =>
    (by.get(setting)?.[of] ?? []).map((value, k) => ({ value, where: `${SCORES[k] ?? ''}, ${other.name}` })),
  );
  return all.toSorted((a, b) => Math.abs(b.value) - Math.abs(a.value))[0] ?? { value: NaN, where: '' };
}

function told({ value, where }: Worst): string {
  return `largest ${signed(value, 2)} (${where})`;
}

function tableOf(setting: Setting, rows: Rows): Table {
  return {
    caption: `Scores of another device against the plain one (every 2 min, no smoothing), ${setting}: mean shift (mean distance, its 95th percentile)`,
    header: ['device', ...SCORES],
    rows: rows.map(({ other, by }) => {
      const { shift, distance, tail } = by.get(setting) ?? { shift: [], distance: [], tail: [] };
      return [
        other.name,
        ...SCORES.map(
          (_, k) =>
            `${signed(shift[k] ?? NaN, 1)} (${fixed(distance[k] ?? NaN, 1)}, ${fixed(tail[k] ?? NaN, 1)})`,
        ),
      ];
    }),
  };
}

const BIASES: readonly OtherDevice[] = [
  { name: 'heart rate 2 bpm too high', device: { hrBias: 2 } },
  { name: 'breathing 0.5 too fast', device: { rrBias: 0.5 } },
  { name: 'time asleep half an hour too short', device: { sleepBiasH: -0.5 } },
];

async function biasTable(context: Context, plain: Seen): Promise<Table> {
  const rows: { other: OtherDevice; by: Map<Setting, Difference> }[] = [];
  for (const other of BIASES) {
    rows.push({ other, by: await differences(context, plain, await see(context, seenBy(other))) });
  }
  const settings = SETTINGS.slice(0, 3);
  return {
    caption: `Errors of level: mean shift ${settings.join(' | ')}`,
    header: ['device', ...SCORES],
    rows: rows.map(({ other, by }) => [
      other.name,
      ...SCORES.map((_, k) =>
        settings.map((setting) => signed(by.get(setting)?.shift[k] ?? NaN, 1)).join(' | '),
      ),
    ]),
  };
}
