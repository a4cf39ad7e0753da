import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { Life } from '#training/cohort/day.js';
import { Wearer } from '#training/cohort/devices.js';
import { parameters } from '#training/cohort/parameters.js';
import { drawPerson } from '#training/cohort/person.js';
import { COMPLETE, type Plan } from '#training/cohort/population.js';
import { Random } from '#training/cohort/random.js';
import { Sensor } from '#training/cohort/sensor.js';
import { sessionOf } from '#training/cohort/session.js';
import { STREAM } from '#training/cohort/streams.js';
import * as requests from '#training/evaluation/requests.js';
import { COLUMN, recordOf, ServedModel, type Column } from '#training/served.js';
import { MODEL } from '../fixtures/model.js';

/** The network that the repository ships, scored in this thread through the service's own stages. */
export const model = await ServedModel.open(MODEL);
export const bundle = await loadBundle(MODEL);

const SEED = 41;

/** Sessions of simulated people, day by day, nothing lost, without the norms of a `World`; two plans share all their noise. */
export function simulate(people: number, plan: Plan & { readonly days?: number } = {}): Session[][] {
  const { days = 6, change, intervene, device } = plan;
  const p = { ...parameters(), ...COMPLETE, ...plan.parameters };
  const sensor = new Sensor(SEED, p, plan.stepMin);
  return Array.from({ length: people }, (_, id) => {
    const drawn = drawPerson(id, new Random(SEED, id, STREAM.traits), p);
    const person = change?.(drawn) ?? drawn;
    const [life, wearer] = [new Life(person, SEED, p), new Wearer(person, SEED, p)];
    return Array.from({ length: days }, (_day, day) => {
      const own = wearer.on(day);
      return sessionOf(sensor.record(person, life.next(intervene?.(day) ?? {}), device?.(own, person, day) ?? own)); // prettier-ignore
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
  const scores = await requests.follow(model, sessions);
  return { sessions, records: scores.map((one) => recordOf(one)), last: scores.at(-1) ?? new Float32Array() };
}

/** Scores `current` with the newest five of what went before. */
export function scoreAfter(current: Session, past: readonly Session[], targets: readonly ScoreRecord[]) {
  return requests.scoreAfter(model, current, past, targets);
}

/** Mean of every output over people after their last day: [7]. */
export async function meanLast(weeks: readonly (readonly Session[])[]): Promise<Float32Array> {
  const sums = new Float32Array(7);
  for (const week of weeks) {
    const { last } = await follow(week);
    for (const column of sums.keys())
      sums[column] = (sums[column] ?? NaN) + (last[column] ?? NaN) / weeks.length;
  }
  return sums;
}

export const scoreOf = (scores: Float32Array, column: Column): number => scores[COLUMN[column]] ?? NaN;
