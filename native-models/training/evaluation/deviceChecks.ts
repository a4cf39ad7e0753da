import type { Population } from '../cohort/population.js';
import { dayColumn, SCORES, type Context } from './context.js';
import { OTHER_DEVICES, seenBy, type OtherDevice } from './otherDevices.js';
import { rollOut, scoreDay } from './rollout.js';
import { demand, fixed, signed, type Demand, type Section } from './section.js';
import { mean, quantile } from './statistics.js';

const PEOPLE = 800;
const DAYS = 6;
const LAST = DAYS - 1;
const SHIFT_MOST = 1.5;
const AVERAGED_SHIFT_MOST = 2;
const DISTANCE_MOST = 2;

/** What is seen by which device: the day that is scored, and the five sessions before it. */
const SETTINGS = [
  'without history',
  'with five sessions of that device',
  'on the day of the change to it',
  'on the day of the change from it',
] as const;
type Setting = (typeof SETTINGS)[number];

/** A device that reads too high looks like a faster heart: shown, not demanded. */
const BIASES: readonly OtherDevice[] = [
  { name: 'heart rate 2 bpm too high', device: { hrBias: 2 } },
  { name: 'breathing 0.5 too fast', device: { rrBias: 0.5 } },
  { name: 'time asleep half an hour too short', device: { sleepBiasH: -0.5 } },
];

interface Seen {
  readonly population: Population;
  readonly targets: Float32Array;
}
/** How far scores lie from those of the plain device. */
interface Difference {
  readonly other: OtherDevice;
  readonly setting: Setting;
  readonly score: string;
  readonly shift: number;
  readonly distance: number;
  readonly tail: number;
}

/** Point 12: the same people and nights through other devices get the same scores. */
export async function deviceChecks(context: Context): Promise<Section> {
  const plain = await see(context);
  const all: Difference[] = [];
  for (const other of [...OTHER_DEVICES, ...BIASES]) all.push(...(await differences(context, plain, other)));
  const sampled = all.filter(({ other }) => other.isAveraged !== true && !BIASES.includes(other));
  const averaged = all.filter(({ other }) => other.isAveraged === true);
  return {
    number: 12,
    title: 'The device is not the person',
    why: `Does another device give the same night the same score? The same ${PEOPLE} people and nights, past targets rolled out with the device of the past sessions. A device that reads a beat too high can’t be told from a heart that beats faster: on the day of such a change it looks as if the person had changed, five sessions later it is the person’s own level (last three lines).`,
    demands: SETTINGS.flatMap((setting) => {
      const at = (of: readonly Difference[]) => of.filter((one) => one.setting === setting);
      return [
        mostOf(`${setting}: mean shift of every score`, at(sampled), 'shift', SHIFT_MOST),
        mostOf(`${setting}: mean distance`, at(sampled), 'distance', DISTANCE_MOST),
        mostOf(`${setting}: one average or three in place of a series, mean shift`, at(averaged), 'shift', AVERAGED_SHIFT_MOST), // prettier-ignore
      ];
    }),
    tables: [
      {
        caption: `Scores of another device against the plain one (every 2 min, no smoothing): mean shift ${SETTINGS.slice(0, 3).join(' | ')} (95th percentile of the distance on that day)`,
        header: ['device', ...SCORES],
        rows: [...OTHER_DEVICES, ...BIASES].map((device) => [
          device.name,
          ...SCORES.map((name) => {
            const of = all.filter(({ other, score }) => other === device && score === name).slice(0, 3);
            return `${of.map(({ shift }) => signed(shift, 1)).join(' | ')} (${fixed(of.at(-1)?.tail ?? NaN, 1)})`;
          }),
        ]),
      },
    ],
    decisive: { 'device distance': Math.max(...sampled.map(({ distance }) => distance)) },
  };
}

function mostOf(what: string, of: readonly Difference[], by: 'shift' | 'distance', most: number): Demand {
  const [worst] = of.toSorted((a, b) => Math.abs(b[by]) - Math.abs(a[by]));
  if (worst === undefined) throw new Error(`nothing seen: ${what}`);
  const found = `largest ${signed(worst[by], 2)} (${worst.score}, ${worst.other.name})`;
  return demand(`${what} at most ${most}`, found, Math.abs(worst[by]) <= most);
}

async function see({ world, model }: Context, other?: OtherDevice): Promise<Seen> {
  const population = world.simulate(PEOPLE, DAYS, seenBy(other));
  return { population, targets: (await rollOut(model, population)).targets };
}

async function differences(context: Context, plain: Seen, other: OtherDevice): Promise<Difference[]> {
  const seen = await see(context, other);
  const scores = ({ population, targets }: Seen, sessions: number) =>
    scoreDay(context.model, population, targets, LAST, sessions);
  const before = await scores(plain, LAST);
  const pairs = [
    [await scores(plain, 0), await scores(seen, 0)],
    [before, await scores(seen, LAST)],
    [before, await scores(changed(plain, seen), LAST)],
    [before, await scores(changed(seen, plain), LAST)],
  ] as const;
  return SETTINGS.flatMap((setting, index) =>
    SCORES.map((score, k) => {
      const [from, to] = (pairs[index] ?? []).map((of) => dayColumn(of, k));
      const moves = Float64Array.from(to ?? [], (value, person) => value - (from?.[person] ?? NaN));
      const distances = moves.map(Math.abs);
      return { other, setting, score, shift: mean(moves), distance: mean(distances), tail: quantile(distances, 0.95) }; // prettier-ignore
    }),
  );
}

/** The last day by another device than those before it. */
function changed({ population, targets }: Seen, last: Seen): Seen {
  const rows = population.rows.slice();
  const width = rows.length / (PEOPLE * DAYS);
  for (let person = 0; person < PEOPLE; person++) {
    const at = (person * DAYS + LAST) * width;
    rows.set(last.population.rows.subarray(at, at + width), at);
  }
  return { population: { ...population, rows }, targets };
}
