import type { Device } from '../cohort/devices.js';
import type { Parameters } from '../cohort/parameters.js';
import type { Plan } from '../cohort/population.js';

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
const BOUTS: Partial<Parameters> = { wakeMoved: 0.75, wakeMovedHr: 15 };
const UNDAMAGED: Partial<Parameters> = {
  ...BOUTS,
  wildSeries: 0,
  halfLost: 0,
  burstShareMin: 0,
  burstShareMax: 0,
};

/** Another device, or another accident, for the same people and nights. */
export interface OtherDevice {
  readonly name: string;
  /** Averages in the place of a series may shift the scores a little more. */
  readonly isAveraged?: boolean;
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

export const OTHER_DEVICES: readonly OtherDevice[] = [
  { name: 'moving average of 3 min', device: { smoothMin: 3 } },
  { name: 'moving average of 5 min', device: { smoothMin: 5 } },
  { name: 'moving average of 10 min', device: { smoothMin: 10 } },
  { name: 'moving average of 15 min', device: { smoothMin: 15 } },
  { name: 'moving average of 5 min, every 5 min', device: { ...every(5), smoothMin: 5 } },
  { name: 'every 5 min', device: every(5) },
  { name: 'every 10 min', device: every(10) },
  { name: 'ten times as dense', device: every(0.2) },
  { name: 'tenths of a beat, whole breaths', device: { hrDigits: 1, rrDigits: 0 } },
  { name: 'one sample of 150 bpm, one breath of 45, in each series', parameters: wild(150) },
  { name: 'one sample of 190 bpm, one breath of 45, in each series', parameters: wild(190) },
  {
    name: 'a seventh of the samples lost in bursts, sentinels in their place',
    device: { hrSentinel: 0, rrSentinel: -1 },
    parameters: { burstShareMin: 0.14, burstShareMax: 0.15 },
  },
  { name: 'half of the night lost', parameters: { halfLost: 1 } },
  { name: 'three averages a series', isAveraged: true, device: { hrAverages: 3, rrAverages: 3 } },
  { name: 'one average a series', isAveraged: true, device: { hrAverages: 1, rrAverages: 1 } },
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
