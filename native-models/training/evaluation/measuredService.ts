import { dateOf } from '#acuity/history/night.js';
import type { Session } from '#acuity/contract/request.js';
import type { MeasuredConstants } from '#acuity/model/manifest.js';
import { MEASURED_FIELDS } from '#rules/fields.js';
import type { World } from '../cohort/population.js';
import { sessionOf } from '../cohort/session.js';
import { COLUMN, type ServedModel } from '../served.js';
import { LABELS, SCORES } from './context.js';
import { MeasuredPeople, testDays, type TestTaken } from './measuredPeople.js';
import { demand, fixed, type Demand } from './section.js';

const PEOPLE = 24;
const DAYS = 36;
const LAST = DAYS - 1;
const TESTS = 5;
const SHARE = 0.55;
/** A history keeps scores in hundredths and their mean in 32 bits. */
const APART_MOST = 0.05;
/** Any day: 2025-01-01. */
const FIRST_NIGHT = 20_089;

/**
 * The same people by the service's own reader and history, night after night, each test sent with its night: what all other
 * figures are judged by says the same.
 */
export async function asServed(
  world: World,
  model: ServedModel,
  constants: MeasuredConstants,
): Promise<Demand> {
  const lives = Array.from({ length: PEOPLE }, (): Session[] => []);
  const population = world.simulate(PEOPLE, DAYS, {
    look: (recording, person) => lives[person]?.push(sessionOf(recording)),
  });
  const people = await MeasuredPeople.of(world, population, model, constants);
  let apart = 0;
  for (const [person, sessions] of lives.entries()) {
    const days = testDays(world.seed, person, LAST, TESTS);
    let history = '';
    for (const [day, current_session] of sessions.entries()) {
      const night = dateOf(FIRST_NIGHT + day);
      const measurements = days.includes(day)
        ? [
            ...SCORES.map((score, k) => ({ score, value: people.truth(person, day, k, SHARE), on: night })),
            ...LABELS.map((score, index) => {
              const value = people.truth(person, day, SCORES.length + index, SHARE);
              return { score, value: value > 50 ? ('High' as const) : ('Low' as const), on: night };
            }),
          ]
        : null;
      const answer = await model.scoreCarried({ current_session, history, night, measurements }, constants);
      history = answer.history;
      for (const [k, field] of MEASURED_FIELDS.entries()) {
        const tests = days
          .filter((taken) => taken <= day)
          .map((taken): TestTaken => ({ day: taken, value: people.truth(person, taken, k, SHARE) }));
        const scale = k < SCORES.length ? 1 : 100;
        const served = scale * (answer.scores[COLUMN[field]] ?? NaN);
        apart = Math.max(apart, Math.abs(served - people.measured(person, day, k, tests)));
      }
    }
  }
  return demand(
    `${PEOPLE} people by the service’s own histories, ${DAYS} nights with ${TESTS} tests of every score: every answer within ${APART_MOST} of what is judged here`,
    `at most ${fixed(apart, 3)} apart`,
    apart <= APART_MOST,
  );
}
