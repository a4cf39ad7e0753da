/**
 * The Unified Model of Performance (Ramakrishnan et al. 2016, with Rajdev et al. 2013): two homeostats S
 * (hours) and L (days) and a circadian term give the expected number of lapses. Times in hours.
 */
export interface Homeostats {
  readonly s: number;
  readonly l: number;
}

export const RESTED: Homeostats = { s: 0, l: 0 };

const CEILING = 24.12;
const TAU_WAKE_H = 40;
const TAU_SLEEP_H = 1;
const TAU_DEBT_H = 97.4;
const CIRCADIAN_GAIN = 4.13;
const CIRCADIAN_PHASE_H = 2.02;
const HARMONICS = [0.97, 0.22, 0.07, 0.03, 0.0001] as const;

/** After `hours` awake. */
export function wake({ s, l }: Homeostats, hours: number): Homeostats {
  const debt = Math.exp(-hours / TAU_DEBT_H);
  return {
    s: CEILING - (CEILING - s) * Math.exp(-hours / TAU_WAKE_H),
    l: l * debt + CEILING * (1 - debt),
  };
}

/** After `hours` asleep. */
export function sleep({ s, l }: Homeostats, hours: number): Homeostats {
  const debt = Math.exp(-hours / TAU_DEBT_H);
  const pressure = Math.exp(-hours / TAU_SLEEP_H);
  const asymptote = -2 * CEILING;
  return {
    l: l * debt + asymptote * (1 - debt),
    s:
      s * pressure +
      asymptote * (1 - pressure) +
      ((l + 2 * CEILING) * TAU_DEBT_H * (debt - pressure)) / (TAU_DEBT_H - TAU_SLEEP_H),
  };
}

/** Expected lapses of a ten-minute vigilance test at the clock hour; never below zero (the clamp is ours). */
export function lapses({ s }: Homeostats, clockH: number): number {
  return Math.max(0, s + CIRCADIAN_GAIN * circadian(clockH));
}

function circadian(clockH: number): number {
  let sum = 0;
  HARMONICS.forEach((amplitude, index) => {
    sum += amplitude * Math.sin(((index + 1) * 2 * Math.PI * (clockH + CIRCADIAN_PHASE_H)) / 24);
  });
  return sum;
}

const DAY_HOURS = [9, 11, 13, 15, 17, 19, 21] as const;
const DAY_CIRCADIAN = DAY_HOURS.map((clockH) => CIRCADIAN_GAIN * circadian(clockH));
export const WAKE_CLOCK_H = 7;

/** A nap ends at this hour. */
const NAP_END_H = 15;

/** Mean lapses from 09 to 21 h of a day that began with `morning` at 07 h, with a nap of `napH` in the afternoon. */
export function daytimeLapses(morning: Homeostats, napH = 0): number {
  const rested = napH > 0 ? afterNap(morning, napH) : morning;
  let sum = 0;
  for (let index = 0; index < DAY_HOURS.length; index++) {
    const clockH = DAY_HOURS[index] ?? 0;
    const [from, sinceH] = napH > 0 && clockH >= NAP_END_H ? [rested, clockH - NAP_END_H] : [morning, clockH - WAKE_CLOCK_H]; // prettier-ignore
    const s = CEILING - (CEILING - from.s) * Math.exp(-sinceH / TAU_WAKE_H);
    sum += Math.max(0, s + (DAY_CIRCADIAN[index] ?? 0));
  }
  return sum / DAY_HOURS.length;
}

function afterNap(morning: Homeostats, napH: number): Homeostats {
  return sleep(wake(morning, NAP_END_H - WAKE_CLOCK_H - napH), napH);
}

/** The next morning: awake for the rest of the day, a nap apart, then `asleepH` hours of sleep up to 07 h. */
export function nextMorning(morning: Homeostats, asleepH: number, napH = 0): Homeostats {
  if (napH === 0) return sleep(wake(morning, 24 - asleepH), asleepH);
  const sinceNapH = 24 - asleepH - (NAP_END_H - WAKE_CLOCK_H);
  return sleep(wake(afterNap(morning, napH), sinceNapH), asleepH);
}
