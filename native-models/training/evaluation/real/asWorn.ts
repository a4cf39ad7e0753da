import type { Session } from '#acuity/contract/request.js';
import type { Day } from '../../cohort/day.js';
import { Wearer, type Device } from '../../cohort/devices.js';
import { parameters } from '../../cohort/parameters.js';
import { drawPerson } from '../../cohort/person.js';
import { COMPLETE } from '../../cohort/population.js';
import { Random } from '../../cohort/random.js';
import { Sensor } from '../../cohort/sensor.js';
import { sessionOf } from '../../cohort/session.js';

/** What a study has of a day: one number for each signal, NaN where it has none. */
export interface Summary {
  readonly dayHr: number;
  readonly nightHr: number;
  readonly nightRr: number;
  readonly asleepH: number;
  readonly awakeH: number;
}

const SEED = 21;
const p = { ...parameters(), ...COMPLETE };
const anybody = drawPerson(0, new Random(SEED), p);
const sensor = new Sensor(SEED, p);
const QUIET = {
  napH: 0,
  deepShare: 0.16,
  remShare: 0.21,
  deepZ: 0,
  awakeAgainstHabitH: 0,
  weekAsleepH: 7,
  beyondNeedH: 0,
  weekBeyondNeedH: 0,
  lapses: 0,
  nightHrDeviation: 0,
  alcoholHr: 0,
  dayHrDeviation: 0,
  nightRrDeviation: 0,
  dayRrDeviation: 0,
  effort: undefined,
} as const;

/** A wrist device as LifeSnaps' people wore: heart rate each minute, one breathing rate a night. */
const WRIST: Device = {
  ...new Wearer(anybody, SEED, p).on(0),
  hrEveryMin: 1,
  nightRrEveryMin: 1,
  dayRrEveryMin: 0,
  smoothMin: 0,
  hrAverages: 0,
  rrAverages: 1,
  hrDigits: 0,
  rrDigits: 1,
  hrSentinel: NaN,
  isRegular: true,
  hrBias: 0,
  rrBias: 0,
  sleepBiasH: 0,
};

let count = 0;

/**
 * The series that such a device would give on a day with these levels; the course around each measured level is
 * simulated.
 */
export function asWorn({ dayHr, nightHr, nightRr, asleepH, awakeH }: Summary): Session {
  const slept = Number.isFinite(asleepH) && asleepH > 0 ? asleepH : 7;
  const person = { ...anybody, dayHr, sleepingHr: nightHr, restingHr: nightHr, nightRr };
  const day: Day = {
    ...QUIET,
    index: count++,
    asleepH: slept,
    awakeH: Number.isFinite(awakeH) ? awakeH : 0.8,
  };
  const { HR_day_1h, HR_night, RR_night } = sessionOf(sensor.record(person, day, WRIST));
  const known = (value: number, series: Session['HR_night']) =>
    Number.isFinite(value) ? (series ?? []) : [];
  const seconds = (hours: number): number | null =>
    Number.isFinite(hours) ? Math.round(hours * 60) * 60 : null;
  return {
    HR_day_1h: known(dayHr, HR_day_1h),
    RR_day_1h: [],
    HR_night: known(nightHr, HR_night),
    RR_night: known(nightRr, RR_night),
    sleepTimeSeconds: seconds(asleepH),
    awakeSleepSeconds: seconds(awakeH),
  };
}
