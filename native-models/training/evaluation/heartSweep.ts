import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { PAST_MAX } from '#rules/fields.js';
import type { ScoreAll } from './former.js';
import { followAll } from './headFigures.js';
import { mean } from './statistics.js';

/** How the heart rate of the hour before moves the scores, from its usual value to that of hard exercise. */

/** How far above the usual hour, bpm. */
export const RISES: readonly number[] = [0, 5, 8, 10, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80];
/** Breaths a minute for each beat, as an effort takes them. */
const BREATHS_PER_BEAT = 0.2;

export const BREATHINGS = ['no day breathing', 'usual breathing', 'breathing up as in exercise'] as const;
export const NIGHTS = ['night known', 'no night heart rate'] as const;

/** One person's usual days and one more. */
export type Week = readonly Session[];

/** One course of a score over the rises: a mean of people, or one of them. */
export interface Sweep {
  readonly breathing: (typeof BREATHINGS)[number];
  readonly night: (typeof NIGHTS)[number];
  /** [rise][person] */
  readonly records: readonly (readonly ScoreRecord[])[];
}

/** Every combination for the same weeks, scored by `scoreAll`. */
export async function sweep(weeks: readonly Week[], scoreAll: ScoreAll): Promise<Sweep[]> {
  const sweeps: Sweep[] = [];
  for (const breathing of BREATHINGS) {
    for (const night of NIGHTS) {
      const known = weeks.map((week) => week.map((session) => withheld(session, breathing, night)));
      const days = await followAll(known, scoreAll);
      // All in one call, since the former version starts a process for each call.
      const bodies = RISES.flatMap((rise) =>
        known.map((week, person) => raised(week, days, person, rise, breathing)),
      );
      const scored = await scoreAll(bodies);
      const records = RISES.map((_, rise) => scored.slice(rise * weeks.length, (rise + 1) * weeks.length));
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

function raised(
  week: Week,
  days: readonly (readonly ScoreRecord[])[],
  person: number,
  rise: number,
  breathing: Sweep['breathing'],
) {
  // prettier-ignore
  const last = week.length - 1;
  const first = Math.max(0, last - PAST_MAX);
  const session = week[last] ?? {};
  const breaths = breathing === 'breathing up as in exercise' ? BREATHS_PER_BEAT * rise : 0;
  return {
    current_session: {
      ...session,
      HR_day_1h: faster(session.HR_day_1h, rise),
      RR_day_1h: faster(session.RR_day_1h, breaths),
    },
    past_sessions: week.slice(first, last),
    past_targets: days.slice(first, last).map((records) => targetOf(records[person])),
  };
}

function targetOf(record: ScoreRecord | undefined): ScoreRecord {
  if (record === undefined) throw new Error('a day without scores');
  const { C_SCORE, attention, memory, reasoning, stress, valence, arousal } = record;
  return { C_SCORE, attention, memory, reasoning, stress, valence, arousal };
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
