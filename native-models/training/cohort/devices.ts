import { STREAM } from './streams.js';
import type { Parameters } from './parameters.js';
import type { Person } from './person.js';
import { Random } from './random.js';

/** How a device samples, smooths and formats its data, and its own bias for this person. Times in minutes. */
export interface Device {
  readonly habit: string;
  /** Between samples; 0 means that the device has no such series. */
  readonly hrEveryMin: number;
  readonly nightRrEveryMin: number;
  readonly dayRrEveryMin: number;
  /** Each sample is the mean over this time before it; 0 for none. */
  readonly smoothMin: number;
  /** Number of averages of the whole time in place of a series; 0 for a series. */
  readonly hrAverages: number;
  readonly rrAverages: number;
  readonly hrDigits: number;
  readonly rrDigits: number;
  /** The value it writes for a missing sample; NaN leaves the sample out. */
  readonly hrSentinel: number;
  readonly rrSentinel: number;
  readonly isRegular: boolean;
  readonly hrBias: number;
  readonly rrBias: number;
  readonly sleepBiasH: number;
  readonly deepBias: number;
  readonly remBias: number;
  /** How its app gives sleep: percent points or fractions, total with or without awake time, naps included or not. */
  readonly hasPercentPoints: boolean;
  readonly isTotalWithAwake: boolean;
  readonly countsNaps: boolean;
}

type Choice = readonly [weight: number, value: number];

interface Habit {
  readonly name: string;
  readonly share: number;
  readonly everyMin: readonly Choice[];
  readonly smoothMin: readonly Choice[];
  readonly averages: readonly Choice[];
  /** Probabilities of breathing data: none, one average a night, a series by night only, series by night and day. */
  readonly breathing: readonly [none: number, average: number, night: number, both: number];
  readonly isRegular: boolean;
}

const A_SERIES: readonly Choice[] = [[1, 0]];
const SECOND = 1 / 60;

/** Habits of wearables and aggregators, after their public documentation (V17–V20) and series met in practice. */
export const HABITS: readonly Habit[] = [
  { name: 'dense-watch', share: 0.18, everyMin: [[0.1, SECOND], [0.25, 5 * SECOND], [0.3, 15 * SECOND], [0.35, 30 * SECOND]], smoothMin: [[0.5, 0], [0.2, 1], [0.15, 3], [0.15, 5]], averages: A_SERIES, breathing: [0.15, 0.25, 0.25, 0.35], isRegular: true }, // prettier-ignore
  { name: 'watch', share: 0.34, everyMin: [[0.35, 1], [0.4, 2], [0.25, 3]], smoothMin: [[0.4, 0], [0.1, 1], [0.15, 3], [0.15, 5], [0.1, 10], [0.1, 15]], averages: A_SERIES, breathing: [0.1, 0.25, 0.2, 0.45], isRegular: true }, // prettier-ignore
  { name: 'ring', share: 0.18, everyMin: [[1, 5]], smoothMin: [[0.2, 0], [0.6, 5], [0.2, 10]], averages: A_SERIES, breathing: [0.1, 0.5, 0.4, 0], isRegular: true }, // prettier-ignore
  { name: 'slow-band', share: 0.07, everyMin: [[1, 10]], smoothMin: [[0.4, 0], [0.4, 10], [0.2, 15]], averages: A_SERIES, breathing: [0.5, 0.3, 0.2, 0], isRegular: true }, // prettier-ignore
  { name: 'irregular-phone', share: 0.08, everyMin: [[0.5, 1.4], [0.5, 4]], smoothMin: [[1, 0]], averages: A_SERIES, breathing: [0.3, 0.2, 0.5, 0], isRegular: false }, // prettier-ignore
  { name: 'averages', share: 0.15, everyMin: [[1, 2]], smoothMin: [[1, 0]], averages: [[0.7, 1], [0.3, 3]], breathing: [0.3, 0.7, 0, 0], isRegular: true }, // prettier-ignore
];

const HR_SENTINELS: readonly Choice[] = [[0.6, NaN], [0.25, 0], [0.15, 255]]; // prettier-ignore
const RR_SENTINELS: readonly Choice[] = [[0.6, NaN], [0.25, -1], [0.15, -2]]; // prettier-ignore

/** A person's devices from day to day: one for a long time, sometimes replaced by another, or by another firmware. */
export class Wearer {
  private readonly random = new Random();
  private device: Device;
  private index: number;

  constructor(
    private readonly person: Person,
    private readonly seed: number,
    private readonly p: Parameters,
  ) {
    this.index = 0;
    this.device = this.draw(0);
  }

  /** The device worn on day `index`; call it with ascending days. */
  on(index: number): Device {
    if (index < this.index) throw new RangeError(`day ${index} is past`);
    while (this.index < index) {
      this.index++;
      this.random.reseed(this.seed, this.person.id, STREAM.device, this.index);
      if (this.random.chance(this.p.deviceChange)) this.device = this.draw(this.index);
    }
    return this.device;
  }

  private draw(index: number): Device {
    const { random, p } = this;
    random.reseed(this.seed, this.person.id, STREAM.newDevice, index);
    const habit = HABITS[random.pick(HABITS.map(({ share }) => share))] ?? firstHabit();
    const everyMin = choose(habit.everyMin, random);
    const hrAverages = choose(habit.averages, random);
    const breathing = random.pick(habit.breathing);
    const rrEveryMin = Math.max(everyMin, random.chance(0.5) ? 1 : 3);
    return {
      habit: habit.name,
      hrEveryMin: everyMin,
      nightRrEveryMin: breathing > 0 ? rrEveryMin : 0,
      dayRrEveryMin: breathing === 3 ? rrEveryMin : 0,
      smoothMin: choose(habit.smoothMin, random),
      hrAverages,
      rrAverages: breathing === 1 ? Math.max(1, hrAverages) : 0,
      hrDigits: random.chance(0.75) ? 0 : 1,
      rrDigits: random.chance(0.35) ? 0 : 1,
      hrSentinel: choose(HR_SENTINELS, random),
      rrSentinel: choose(RR_SENTINELS, random),
      isRegular: habit.isRegular,
      hrBias: random.normal(0, p.hrBiasSd),
      rrBias: random.normal(0, p.rrBiasSd),
      sleepBiasH: random.normal(0, p.sleepBiasSdH),
      deepBias: random.normal(0, p.stageBiasSd),
      remBias: random.normal(0, p.stageBiasSd),
      hasPercentPoints: random.chance(0.5),
      isTotalWithAwake: random.chance(0.5),
      countsNaps: random.chance(p.napsCounted),
    };
  }
}

function choose(choices: readonly Choice[], random: Random): number {
  return choices[random.pick(choices.map(([weight]) => weight))]?.[1] ?? NaN;
}

function firstHabit(): Habit {
  const [habit] = HABITS;
  if (habit === undefined) throw new Error('no devices');
  return habit;
}
