import { FEATURE_COUNT } from '#acuity/contract/features.js';
import type { Device } from '../cohort/devices.js';
import type { Parameters } from '../cohort/parameters.js';
import type { Plan, Population } from '../cohort/population.js';
import { SCORES, type Judged } from './context.js';
import { outcomesOf, rollOut, scoreDay } from './rollout.js';
import { demand, fixed, signed, type Demand, type Section } from './section.js';
import { mean } from './statistics.js';

const DAYS = 6;
const LAST = DAYS - 1;
const SHIFT_MOST = 1.5;
const AVERAGED_SHIFT_MOST = 2;
const DISTANCE_MOST = 2;

/** A plain watch without bias: the reference for all others. */
const PLAIN: Device = {
  habit: 'plain',
  hrEveryMin: 2,
  nightRrEveryMin: 2,
  dayRrEveryMin: 2,
  smoothMin: 0,
  hrAverages: 0,
  rrAverages: 0,
  hrDigits: 0,
  rrDigits: 1,
  hrSentinel: NaN,
  rrSentinel: NaN,
  isRegular: true,
  hrBias: 0,
  rrBias: 0,
  sleepBiasH: 0,
  deepBias: 0,
  remBias: 0,
  hasPercentPoints: true,
  isTotalWithAwake: false,
  countsNaps: false,
};
/** Bodies are simulated in the steps of the densest of these devices, so that all of them see the same heartbeats. */
const STEP_MIN = 0.2;
/** Bouts of waking with a faster heart, in some 8 % of the night: a median of few averages is sensitive to them. */
const UNDAMAGED: Partial<Parameters> = {
  wakeMoved: 0.75,
  wakeMovedHr: 15,
  wildSeries: 0,
  halfLost: 0,
  burstShareMin: 0,
  burstShareMax: 0,
};

/** Another device, or another accident, for the same people and nights. */
export interface OtherDevice {
  readonly name: string;
  /** Averages in the place of a series may shift the scores a little more; errors of level are shown, not demanded. */
  readonly kind?: 'averages' | 'bias';
  readonly device?: Partial<Device>;
  readonly parameters?: Partial<Parameters>;
}

const every = (everyMin: number): Partial<Device> => ({
  hrEveryMin: everyMin,
  nightRrEveryMin: everyMin,
  dayRrEveryMin: everyMin,
});
const wild = (bpm: number): Partial<Parameters> => ({
  wildSeries: 1,
  wildHrLeast: bpm,
  wildHrMost: bpm,
  wildRrLeast: 45,
  wildRrMost: 45,
});

const OTHERS: readonly OtherDevice[] = [
  ...[3, 5, 10, 15].map((min) => ({ name: `moving average of ${min} min`, device: { smoothMin: min } })),
  { name: 'moving average of 5 min, every 5 min', device: { ...every(5), smoothMin: 5 } },
  ...[5, 10, STEP_MIN].map((min) => ({ name: `every ${min} min`, device: every(min) })),
  { name: 'tenths of a beat, whole breaths', device: { hrDigits: 1, rrDigits: 0 } },
  ...[150, 190].map((bpm) => ({
    name: `one sample of ${bpm} bpm, one breath of 45, in each series`,
    parameters: wild(bpm),
  })),
  {
    name: 'a seventh of the samples lost in bursts, sentinels in their place',
    device: { hrSentinel: 0, rrSentinel: -1 },
    parameters: { burstShareMin: 0.14, burstShareMax: 0.15 },
  },
  { name: 'half of the night lost', parameters: { halfLost: 1 } },
  { name: 'three averages a series', kind: 'averages', device: { hrAverages: 3, rrAverages: 3 } },
  { name: 'one average a series', kind: 'averages', device: { hrAverages: 1, rrAverages: 1 } },
  { name: 'heart rate 2 bpm too high', kind: 'bias', device: { hrBias: 2 } },
  { name: 'breathing 0.5 too fast', kind: 'bias', device: { rrBias: 0.5 } },
  { name: 'time asleep half an hour too short', kind: 'bias', device: { sleepBiasH: -0.5 } },
];

/** The same people and nights, seen by the plain device or by `other`. */
export function seenBy(other: OtherDevice = { name: 'plain' }): Plan {
  return {
    isComplete: true,
    stepMin: STEP_MIN,
    device: () => ({ ...PLAIN, ...other.device }),
    parameters: { ...UNDAMAGED, ...other.parameters },
  };
}

/** What is seen by which device: the day that is scored, and the five sessions before it. */
const SETTINGS = [
  'without history',
  'with five sessions of that device',
  'on the day of the change to it',
  'on the day of the change from it',
] as const;

interface Seen {
  readonly population: Population;
  readonly targets: Float32Array;
}
/** How far a score lies from that of the plain device. */
interface Difference {
  readonly other: OtherDevice;
  readonly setting: (typeof SETTINGS)[number];
  readonly score: string;
  readonly shift: number;
  readonly distance: number;
}

/** Point 12: the same people and nights through other devices get the same scores. */
export async function devices(judged: Judged, people = 800): Promise<Section> {
  const see = async (other?: OtherDevice): Promise<Seen> => {
    const population = judged.world.simulate(people, DAYS, seenBy(other));
    return { population, targets: (await rollOut(judged.model, population)).targets };
  };
  const plain = await see();
  const all: Difference[] = [];
  for (const other of OTHERS) all.push(...(await differences(judged, plain, await see(other), other)));
  const sampled = all.filter(({ other }) => other.kind === undefined);
  const averaged = all.filter(({ other }) => other.kind === 'averages');
  return {
    number: 12,
    title: 'The device is not the person',
    why: `Does another device give the same night the same score? The same ${people} people and nights, past targets rolled out with the device of the past sessions. A device that reads a beat too high can’t be told from a heart that beats faster.`,
    demands: [
      mostOf('mean shift of every score', sampled, 'shift', SHIFT_MOST),
      mostOf('mean distance', sampled, 'distance', DISTANCE_MOST),
      mostOf('one average or three in place of a series: mean shift', averaged, 'shift', AVERAGED_SHIFT_MOST),
    ],
    tables: [
      {
        caption: `Devices with an error of level against the plain one (every 2 min, no smoothing): mean shift ${SETTINGS.join(' | ')}`,
        header: ['device', ...SCORES],
        rows: OTHERS.filter(({ kind }) => kind === 'bias').map((device) => [
          device.name,
          ...SCORES.map((name) =>
            all
              .filter(({ other, score }) => other === device && score === name)
              .map(({ shift }) => signed(shift, 1))
              .join(' | '),
          ),
        ]),
      },
    ],
    figures: [
      [
        'Another ordinary device: how far it moves a score on average, points',
        fixed(Math.max(...sampled.map(({ distance }) => distance)), 1),
      ],
    ],
  };
}

function mostOf(what: string, among: readonly Difference[], by: 'shift' | 'distance', most: number): Demand {
  const [worst] = among.toSorted((a, b) => Math.abs(b[by]) - Math.abs(a[by]));
  const value = worst?.[by] ?? NaN;
  return demand(
    `${what} at most ${most}, ${SETTINGS.join(', ')}`,
    `largest ${signed(value, 2)} (${worst?.score}, ${worst?.other.name}, ${worst?.setting})`,
    Math.abs(value) <= most,
  );
}

async function differences(
  { model }: Judged,
  plain: Seen,
  seen: Seen,
  other: OtherDevice,
): Promise<Difference[]> {
  const scores = async ({ population, targets }: Seen, sessions: number) =>
    outcomesOf(await scoreDay(model, population, targets, LAST, sessions));
  const before = await scores(plain, LAST);
  const pairs = [
    [await scores(plain, 0), await scores(seen, 0)],
    [before, await scores(seen, LAST)],
    [before, await scores(changed(plain, seen), LAST)],
    [before, await scores(changed(seen, plain), LAST)],
  ] as const;
  return SETTINGS.flatMap((setting, index) =>
    SCORES.map((score, k) => {
      const [from, to] = (pairs[index] ?? []).map((of) => of[k]);
      const moves = Float64Array.from(to ?? [], (value, person) => value - (from?.[person] ?? NaN));
      return { other, setting, score, shift: mean(moves), distance: mean(moves.map(Math.abs)) };
    }),
  );
}

/** The last day by another device than those before it. */
function changed({ population, targets }: Seen, last: Seen): Seen {
  const rows = population.rows.slice();
  for (const person of population.people.keys()) {
    const at = (person * DAYS + LAST) * FEATURE_COUNT;
    rows.set(last.population.rows.subarray(at, at + FEATURE_COUNT), at);
  }
  return { population: { ...population, rows }, targets };
}
