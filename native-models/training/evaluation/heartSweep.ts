import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { recordOf, type ServedModel } from '../served.js';
import { follow, scoreAfter } from './requests.js';
import { mean } from './statistics.js';

/** How the heart rate of the hour before moves the scores, from its usual value to that of hard exercise. */

/** How far above the usual hour, bpm. */
export const RISES: readonly number[] = [0, 5, 8, 10, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80];
/** Breaths a minute for each beat, as an effort takes them. */
const BREATHS_PER_BEAT = 0.2;

const BREATHINGS = ['no day breathing', 'usual breathing', 'breathing up as in exercise'] as const;
const NIGHTS = ['night known', 'no night heart rate'] as const;

/** One person's usual days and one more. */
export type Week = readonly Session[];

/** One course of a score over the rises: a mean of people, or one of them. */
export interface Sweep {
  readonly breathing: (typeof BREATHINGS)[number];
  readonly night: (typeof NIGHTS)[number];
  /** [rise][person] */
  readonly records: readonly (readonly ScoreRecord[])[];
}

/** Every combination for the same weeks. */
export async function sweep(weeks: readonly Week[], model: ServedModel): Promise<Sweep[]> {
  const sweeps: Sweep[] = [];
  for (const breathing of BREATHINGS) {
    for (const night of NIGHTS) {
      const records = RISES.map((): ScoreRecord[] => []);
      for (const week of weeks) {
        const known = week.map((session) => withheld(session, breathing, night));
        const past = known.slice(0, -1);
        const targets = (await follow(model, past)).map((scores) => recordOf(scores));
        for (const [index, rise] of RISES.entries()) {
          const today = raised(known.at(-1) ?? {}, rise, breathing);
          records[index]?.push(recordOf(await scoreAfter(model, today, past, targets)));
        }
      }
      sweeps.push({ breathing, night, records });
    }
  }
  return sweeps;
}

function withheld(session: Session, breathing: Sweep['breathing'], night: Sweep['night']): Session {
  return {
    ...session,
    ...(breathing === 'no day breathing' ? { RR_day_1h: [] } : {}),
    ...(night === 'no night heart rate' ? { HR_night: [] } : {}),
  };
}

function raised(session: Session, rise: number, breathing: Sweep['breathing']): Session {
  const breaths = breathing === 'breathing up as in exercise' ? BREATHS_PER_BEAT * rise : 0;
  return {
    ...session,
    HR_day_1h: faster(session.HR_day_1h, rise),
    RR_day_1h: faster(session.RR_day_1h, breaths),
  };
}

/** A device's sentinel for a missing sample stays unchanged. */
function faster(series: Session['HR_day_1h'], by: number): number[] {
  return (series ?? []).map((value) => (value > 4 && value < 240 ? value + by : value));
}

/** Mean of a score over people, at each rise. */
export function meanCourse({ records }: Sweep, score: 'attention' | 'stress'): number[] {
  return records.map((people) => mean(people.map((record) => record[score])));
}

/** How far a course falls below (stress) or rises above (attention) its value at +0, at most. */
export function worst(course: readonly number[], score: 'attention' | 'stress'): number {
  const [usual = NaN] = course;
  return Math.max(...course.map((value) => (score === 'stress' ? usual - value : value - usual)));
}
