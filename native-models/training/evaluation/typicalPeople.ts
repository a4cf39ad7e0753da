import type { Session } from '#acuity/contract/request.js';

/** People as a caller makes them up to try the service: every series flat, every night the same. */
export interface TypicalPerson {
  readonly age: number;
  readonly sex: 'M' | 'F';
}

export const TYPICAL_PEOPLE: readonly TypicalPerson[] = [20, 34, 50, 65, 80].flatMap((age) => [
  { age, sex: 'F' as const },
  { age, sex: 'M' as const },
]);

const NIGHT_SAMPLES = 96;
const DAY_SAMPLES = 30;
const flat = (value: number, count: number): number[] => Array.from({ length: count }, () => value);

/** A day of such a person after a night of `asleepH`, an eighth of the time in bed awake. */
export function typicalSession({ age, sex }: TypicalPerson, asleepH = 7): Session {
  const asleepS = Math.round(asleepH * 60) * 60;
  const [deepS, remS] = [0.16, 0.21].map((share) => Math.round((share * asleepS) / 60) * 60);
  return {
    HR_day_1h: flat(76, DAY_SAMPLES),
    RR_day_1h: flat(16, DAY_SAMPLES),
    HR_night: flat(62, NIGHT_SAMPLES),
    RR_night: flat(15.5, NIGHT_SAMPLES),
    deepSleepSeconds: deepS ?? 0,
    remSleepSeconds: remS ?? 0,
    lightSleepSeconds: asleepS - (deepS ?? 0) - (remS ?? 0),
    awakeSleepSeconds: Math.round((asleepH * 60) / 8) * 60,
    sleepTimeSeconds: asleepS,
    age,
    sex,
    height_cm: sex === 'M' ? 176 : 163,
    weight_kg: sex === 'M' ? 82 : 68,
  };
}
