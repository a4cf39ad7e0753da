import type { Parameters } from './parameters.js';
import type { Random } from './random.js';

/** How a device samples. Intervals in minutes; 0 means that the device has no such series. */
export interface Device {
  readonly name: string;
  readonly share: number;
  readonly hrEveryMin: number;
  readonly nightRrEveryMin: number;
  readonly dayRrEveryMin: number;
  /** What it writes where it has no sample; NaN leaves the sample out. */
  readonly hrSentinel: number;
  readonly rrSentinel: number;
  readonly regular: boolean;
}

/** Habits of wearables, after their public documentation and the shapes of example payloads. */
export const DEVICES: readonly Device[] = [
  { name: 'watch-2min', share: 0.4, hrEveryMin: 2, nightRrEveryMin: 2, dayRrEveryMin: 2, hrSentinel: NaN, rrSentinel: NaN, regular: true }, // prettier-ignore
  { name: 'watch-1min', share: 0.15, hrEveryMin: 1, nightRrEveryMin: 1, dayRrEveryMin: 1, hrSentinel: 0, rrSentinel: -1, regular: true }, // prettier-ignore
  { name: 'watch-15s-day', share: 0.1, hrEveryMin: 1.5, nightRrEveryMin: 3, dayRrEveryMin: 3, hrSentinel: 255, rrSentinel: -2, regular: true }, // prettier-ignore
  { name: 'ring-5min', share: 0.15, hrEveryMin: 5, nightRrEveryMin: 5, dayRrEveryMin: 0, hrSentinel: NaN, rrSentinel: NaN, regular: true }, // prettier-ignore
  { name: 'phone-irregular', share: 0.1, hrEveryMin: 1.4, nightRrEveryMin: 5, dayRrEveryMin: 0, hrSentinel: NaN, rrSentinel: NaN, regular: false }, // prettier-ignore
  { name: 'nightly-summary', share: 0.1, hrEveryMin: 2, nightRrEveryMin: 1000, dayRrEveryMin: 0, hrSentinel: NaN, rrSentinel: NaN, regular: true }, // prettier-ignore
];
const DEVICE_SHARES = DEVICES.map((device) => device.share);

/** One person of the cohort: what stays the same from day to day. */
export interface Person {
  readonly id: number;
  readonly age: number;
  readonly sex: 'M' | 'F';
  readonly heightCm: number;
  readonly weightKg: number;
  readonly bmi: number;
  /** Vagal tone, in SD. */
  readonly vagal: number;
  readonly restingHr: number;
  /** Resting heart rate against what age, sex and BMI let expect, in SD. */
  readonly restingHrZ: number;
  readonly sleepingHr: number;
  readonly dayHr: number;
  readonly dayHrWithin: number;
  readonly nightHrWithin: number;
  readonly nightRr: number;
  readonly nightRrSd: number;
  readonly dayRr: number;
  readonly sleepH: number;
  /** Habitual sleep against age and sex, in hours. */
  readonly sleepAgainstGroupH: number;
  readonly needH: number;
  readonly efficiency: number;
  /** Habitual efficiency against age, in SD. */
  readonly efficiencyZ: number;
  readonly deepShare: number;
  readonly remShare: number;
  readonly device: Device;
  readonly hrBias: number;
  readonly rrBias: number;
  /** How the device's app words sleep: percent points or fractions, total with or without awake time. */
  readonly percentPoints: boolean;
  readonly totalWithAwake: boolean;
}

const MIDDLE_AGE = 45;

export function drawPerson(id: number, random: Random, p: Parameters): Person {
  const age = drawAge(random, p);
  const sex = random.chance(0.5) ? 'M' : 'F';
  const woman = sex === 'F' ? 1 : -1;
  const heightCm = random.normal(sex === 'M' ? p.heightMen : p.heightWomen, p.heightSd);
  const bmi = clamp(p.bmiMedian * Math.exp(random.normal(0, p.bmiLnSd)), 16, 55);
  const vagal = random.normal();
  const over = Math.max(0, bmi - 25);
  const restingOwn = p.restingHrVagal * vagal + random.normal(0, Math.sqrt(p.restingHrSd ** 2 - p.restingHrVagal ** 2)); // prettier-ignore
  const restingHr = clamp(
    p.restingHr + 1 + p.restingHrSex * woman + p.restingHrAge * (age - p.restingHrPeak) ** 2 + p.restingHrBmi * (over - 2.4) + restingOwn, // prettier-ignore
    40,
    109,
  );
  const sleepingHr = restingHr + random.normal(p.sleepingHrOffset, p.sleepingHrOffsetSd);
  const nightRr = clamp(
    p.nightRr + p.nightRrHr * (sleepingHr - 61) + p.nightRrBmi * Math.min(200, (bmi - 25) ** 2) - 0.2 + p.nightRrAge * (age - MIDDLE_AGE) + (age < 50 ? (p.nightRrWomen / 2) * woman : 0) + random.normal(0, p.nightRrSd), // prettier-ignore
    9,
    26,
  );
  const decades = (age - MIDDLE_AGE) / 10;
  const sleepOwnH = p.sleepBmiH * (over - 2.4) + random.normal(0, p.sleepSdH);
  const efficiencyZ = random.normal();
  return {
    id,
    age,
    sex,
    heightCm,
    weightKg: bmi * (heightCm / 100) ** 2,
    bmi,
    vagal,
    restingHr,
    restingHrZ: restingOwn / p.restingHrSd,
    sleepingHr,
    dayHr: restingHr + random.normal(p.dayHrOffset, p.dayHrOffsetSd),
    dayHrWithin: p.dayHrWithin * Math.exp(random.normal(p.withinVagal * vagal, p.withinLnSd)),
    nightHrWithin: p.nightHrWithin * Math.exp(random.normal(p.withinVagal * vagal, p.withinLnSd)),
    nightRr,
    nightRrSd:
      nightRr * p.nightRrCv * Math.exp(p.nightRrCvAge * (age - 22) + random.normal(0, p.nightRrCvLnSd)),
    dayRr: clamp(0.5 * p.dayRr + 0.5 * nightRr + 0.3 + random.normal(0, p.dayRrSd * 0.85), 9, 28),
    sleepH: clamp(p.sleepH + p.sleepWomenH * woman + p.sleepDecadeH * decades + sleepOwnH, 4, 10),
    sleepAgainstGroupH: sleepOwnH,
    needH: p.needH + p.needHabit * sleepOwnH + random.normal(0, p.needSdH) + 0.6 * p.sleepDecadeH * decades,
    efficiency: clamp(p.efficiency + p.efficiencyDecade * decades + p.efficiencySd * efficiencyZ, 0.6, 0.97),
    efficiencyZ,
    deepShare: clamp(p.deepShare + p.deepDecade * decades + p.deepWomen * woman + random.normal(0, p.deepSd), 0.03, 0.32), // prettier-ignore
    remShare: clamp(p.remShare + p.remDecade * decades + random.normal(0, p.remSd), 0.06, 0.36),
    device: DEVICES[random.pick(DEVICE_SHARES)] ?? firstDevice(),
    hrBias: random.normal(0, p.hrBiasSd),
    rrBias: random.normal(0, p.rrBiasSd),
    percentPoints: random.chance(0.5),
    totalWithAwake: random.chance(0.5),
  };
}

function firstDevice(): Device {
  const [device] = DEVICES;
  if (device === undefined) throw new Error('no devices');
  return device;
}

function drawAge(random: Random, p: Parameters): number {
  for (;;) {
    const age = random.normal(p.ageMean, p.ageSd);
    if (age >= p.ageMin && age <= p.ageMax) return Math.round(age);
  }
}

export function clamp(value: number, low: number, high: number): number {
  return value < low ? low : value > high ? high : value;
}
