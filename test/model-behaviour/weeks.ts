import { fileURLToPath } from 'node:url';
import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { Life } from '#training/cohort/day.js';
import type { Intervention } from '#training/cohort/intervention.js';
import { Wearer, type Device } from '#training/cohort/devices.js';
import { parameters, type Parameters } from '#training/cohort/parameters.js';
import { drawPerson, type Person } from '#training/cohort/person.js';
import { Random } from '#training/cohort/random.js';
import { Sensor } from '#training/cohort/sensor.js';
import { sessionOf } from '#training/cohort/session.js';
import { STREAM } from '#training/cohort/streams.js';
import { COMPLETE } from '#training/cohort/population.js';
import { COLUMN, recordOf, ServedModel, type Column } from '#training/served.js';

/** The network that the repository ships, scored in this thread through the service's own stages. */
export const model = await ServedModel.open(
  fileURLToPath(new URL('../../../native-models/acuity-base', import.meta.url)),
);

const SEED = 41;

export interface Plan {
  readonly days?: number;
  readonly change?: (person: Person) => Person;
  readonly intervene?: (day: number) => Intervention;
  readonly device?: (own: Device, person: Person, day: number) => Device;
  readonly parameters?: Partial<Parameters>;
  readonly stepMin?: number;
}

/** Sessions of simulated people, day by day, nothing lost; two plans share all their noise. */
export function simulate(people: number, plan: Plan = {}): Session[][] {
  const { days = 6, change, intervene, device } = plan;
  const p = { ...parameters(), ...COMPLETE, ...plan.parameters };
  const sensor = new Sensor(SEED, p, plan.stepMin);
  return Array.from({ length: people }, (_, id) => {
    const drawn = drawPerson(id, new Random(SEED, id, STREAM.traits), p);
    const person = change?.(drawn) ?? drawn;
    const life = new Life(person, SEED, p);
    const wearer = new Wearer(person, SEED, p);
    return Array.from({ length: days }, (_day, day) => {
      const own = wearer.on(day);
      return sessionOf(
        sensor.record(person, life.next(intervene?.(day) ?? {}), device?.(own, person, day) ?? own),
      );
    });
  });
}

/** A person's sessions and what the service said of each, its own scores fed back. */
export interface Course {
  readonly sessions: readonly Session[];
  readonly records: readonly ScoreRecord[];
  readonly last: Float32Array;
}

export async function follow(sessions: readonly Session[]): Promise<Course> {
  const records: ScoreRecord[] = [];
  let last = new Float32Array();
  for (const [day, current] of sessions.entries()) {
    last = new Float32Array(await scoreAfter(current, sessions.slice(0, day), records));
    records.push(recordOf(last));
  }
  return { sessions, records, last };
}

/** Scores `current` with the newest five of what went before. */
export function scoreAfter(
  current: Session,
  past: readonly Session[],
  targets: readonly ScoreRecord[],
): Promise<Float32Array> {
  if (past.length === 0) return model.score({ current_session: current });
  return model.score({
    current_session: current,
    past_sessions: past.slice(-5),
    past_targets: targets.slice(-5),
  });
}

/** Mean of every output over people after their last day: [7]. */
export async function meanLast(weeks: readonly (readonly Session[])[]): Promise<Float32Array> {
  const sums = new Float32Array(7);
  for (const week of weeks) {
    const { last } = await follow(week);
    for (let column = 0; column < sums.length; column++) {
      sums[column] = (sums[column] ?? NaN) + (last[column] ?? NaN) / weeks.length;
    }
  }
  return sums;
}

export const scoreOf = (scores: Float32Array, column: Column): number => scores[COLUMN[column]] ?? NaN;
