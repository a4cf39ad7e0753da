import { HOUR_AT_REST } from '#acuity/contract/features.js';
import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { COLUMN, recordOf, type ServedModel } from '../served.js';
import type { Judged } from './context.js';
import { seenBy } from './devices.js';
import { follow, livesOf, scoreAfter } from './requests.js';
import { lastDay } from './rollout.js';
import { demand, fixed, isWithin, signed, type Demand, type Section } from './section.js';
import { mean } from './statistics.js';

const DAYS = 6;
/** Points by which a score may be on the wrong side of its value at +0. */
const TOLERANCE = 0.5;
/** The same for a single made-up person; set after a first fit had reached 0.6 in one of ten. */
const TOLERANCE_ALONE = 1;
/** How far above the usual hour, bpm. */
const RISES: readonly number[] = [0, 5, 8, 10, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80];
/** Breaths a minute for each beat, as an effort takes them. */
const BREATHS_PER_BEAT = 0.2;
const BREATHINGS = ['no day breathing', 'usual breathing', 'breathing up as in exercise'] as const;
const NIGHTS = ['night known', 'no night heart rate'] as const;
/** Equal nights, hours each, and where the best of them lie. */
const HOURS = [4, 5, 6, 7, 7.5, 8, 8.5, 9, 10, 11, 12] as const;
const BEST = [7, 9] as const;
const EQUAL_NIGHTS = 40;
/** Nights outside may be better by so much. */
const NOISE = 0.3;
const SCORES = ['stress', 'attention'] as const;
type Score = (typeof SCORES)[number];

/** People as a caller makes them up to try the service: every series flat, every night the same. */
type TypicalPerson = Readonly<{ age: number; sex: 'F' | 'M' }>;
const TYPICAL_PEOPLE = [20, 34, 50, 65, 80].flatMap((age): TypicalPerson[] => [
  { age, sex: 'F' },
  { age, sex: 'M' },
]);

/** A day of such a person after a night of `asleepH`, an eighth of the time in bed awake. */
export function typicalSession({ age, sex }: TypicalPerson = { age: 20, sex: 'F' }, asleepH = 7): Session {
  const flat = (value: number, count: number): number[] => Array.from({ length: count }, () => value);
  const asleepS = Math.round(asleepH * 60) * 60;
  const [deepS = 0, remS = 0] = [0.16, 0.21].map((share) => Math.round((share * asleepS) / 60) * 60);
  return {
    HR_day_1h: flat(76, 30),
    RR_day_1h: flat(16, 30),
    HR_night: flat(62, 96),
    RR_night: flat(15.5, 96),
    deepSleepSeconds: deepS,
    remSleepSeconds: remS,
    lightSleepSeconds: asleepS - deepS - remS,
    awakeSleepSeconds: Math.round((asleepH * 60) / 8) * 60,
    sleepTimeSeconds: asleepS,
    age,
    sex,
    height_cm: sex === 'M' ? 176 : 163,
    weight_kg: sex === 'M' ? 82 : 68,
  };
}

/** Point 18: a fast heart does not lower stress, and long sleep is not best. */
export async function edges(judged: Judged, peopleCount = 100): Promise<Section> {
  const { world, model } = judged;
  /** Complete days without effort, by a plain watch. */
  const plan = { ...seenBy(), stepMin: 1, parameters: { ...seenBy().parameters, effort: 0 } };
  const people = await sweep(livesOf(world, peopleCount, DAYS, plan), model);
  const weeks = TYPICAL_PEOPLE.map((person) => Array.from({ length: DAYS }, () => typicalSession(person)));
  const typical = await sweep(weeks, model);
  const stressAt = async (bpm: number): Promise<number> => {
    const intervene = (day: number) => (day === DAYS - 1 ? { addDayHr: bpm, addNightHr: bpm } : {});
    return mean(
      (await lastDay(model, world.simulate(peopleCount, DAYS, { ...plan, intervene }))).together[3] ?? [],
    );
  };
  const usual = await stressAt(0);
  const [five, eight] = [(await stressAt(5)) - usual, (await stressAt(8)) - usual];
  return {
    number: 18,
    title: 'Beyond the cohort’s middle',
    why: `Does a racing heart calm, and is more sleep always better? An hour whose heart rate lies more than ${HOUR_AT_REST.aboveNight} bpm above that of the night, or above ${HOUR_AT_REST.most} bpm where no night is known, is taken as not spent at rest, and as missing. Beneath, a faster heart is taken for load, the less the faster it beats: the cohort’s people walk and exercise, too.`,
    demands: [
      ...SCORES.map((score) => sweepDemand(score, people, typical)),
      demand(
        '+5 and +8 bpm at rest, day and night, raise stress by 1 and more, +8 by 3 to 12',
        [five, eight].map((rise) => signed(rise, 2)).join(', '),
        five > 1 && isWithin(eight, 3, 12),
      ),
      await equalNights(model),
      await longNight(model),
    ],
    tables: [],
  };
}

/** [rise][person], in one combination of what is known. */
type Sweep = readonly (readonly ScoreRecord[])[];

/** How the heart rate of the hour before moves the scores, from its usual value to that of hard exercise. */
async function sweep(weeks: readonly (readonly Session[])[], model: ServedModel): Promise<Sweep[]> {
  const sweeps: Sweep[] = [];
  for (const breathing of BREATHINGS)
    for (const night of NIGHTS) {
      const records = RISES.map((): ScoreRecord[] => []);
      for (const week of weeks) {
        const known = week.map((session) => ({
          ...session,
          ...(breathing === 'no day breathing' && { RR_day_1h: [] }),
          ...(night === 'no night heart rate' && { HR_night: [] }),
        }));
        const past = known.slice(0, -1);
        const targets = (await follow(model, past)).map((scores) => recordOf(scores));
        for (const [index, rise] of RISES.entries()) {
          const { HR_day_1h, RR_day_1h, ...session } = known.at(-1) ?? {};
          const breaths = breathing === 'breathing up as in exercise' ? BREATHS_PER_BEAT * rise : 0;
          const today = {
            ...session,
            HR_day_1h: faster(HR_day_1h, rise),
            RR_day_1h: faster(RR_day_1h, breaths),
          };
          records[index]?.push(recordOf(await scoreAfter(model, today, past, targets)));
        }
      }
      sweeps.push(records);
    }
  return sweeps;
}

/** A device's sentinel for a missing sample stays unchanged. */
function faster(series: Session['HR_day_1h'], by: number): number[] {
  return (series ?? []).map((value) => (value > 4 && value < 240 ? value + by : value));
}

/** Mean of a score over people, at each rise. */
function meanCourse(records: Sweep, score: Score): number[] {
  return records.map((people) => mean(people.map((record) => record[score])));
}

/** How far a course falls below (stress) or rises above (attention) its value at +0, at most. */
function worst(course: readonly number[], score: Score): number {
  const [usual = NaN] = course;
  return Math.max(0, ...course.map((value) => (score === 'stress' ? usual - value : value - usual)));
}

function sweepDemand(score: Score, people: readonly Sweep[], typical: readonly Sweep[]): Demand {
  const most = Math.max(
    ...[...people, ...typical].map((records) => worst(meanCourse(records, score), score)),
  );
  const alone = Math.max(
    ...typical.flatMap((records) =>
      TYPICAL_PEOPLE.map((_, person) =>
        worst(
          records.map((rise) => rise[person]?.[score] ?? NaN),
          score,
        ),
      ),
    ),
  );
  return demand(
    `heart rate by day +0 to +80, with and without breathing and night: ${score === 'stress' ? 'stress never falls below' : 'attention never rises above'} its value at +0 by more than ${TOLERANCE}, mean of people, and by more than ${TOLERANCE_ALONE} in any made-up person`,
    `${fixed(most, 2)}, ${fixed(alone, 2)} at most`,
    most <= TOLERANCE && alone <= TOLERANCE_ALONE,
  );
}

/** Made-up people whose nights are all of one length. */
async function equalNights(model: ServedModel): Promise<Demand> {
  let most = -Infinity;
  for (const person of TYPICAL_PEOPLE) {
    const last: Float32Array[] = [];
    for (const hours of HOURS) {
      const nights = Array.from({ length: EQUAL_NIGHTS }, () => typicalSession(person, hours));
      last.push((await follow(model, nights)).at(-1) ?? new Float32Array());
    }
    for (const [score, sign] of [
      ['attention', 1],
      ['stress', -1],
    ] as const) {
      const best = (isBest: boolean): number =>
        Math.max(
          ...last
            .filter((_, at) => isWithin(HOURS[at] ?? NaN, ...BEST) === isBest)
            .map((scores) => sign * (scores[COLUMN[score]] ?? NaN)),
        );
      most = Math.max(most, best(false) - best(true));
    }
  }
  return demand(
    `${EQUAL_NIGHTS} nights of ${HOURS[0]} to ${HOURS.at(-1)} h, made-up people: attention and stress best between ${BEST.join(' and ')} h (within ${NOISE})`,
    `outside better by ${signed(most, 2)} at most`,
    most <= NOISE,
  );
}

/** Made-up people, one night, no history. */
async function longNight(model: ServedModel): Promise<Demand> {
  const gains: number[] = [];
  for (const person of TYPICAL_PEOPLE) {
    const at = async (hours: number) =>
      (await model.score({ current_session: typicalSession(person, hours) }))[COLUMN.attention] ?? NaN;
    gains.push((await at(12)) - (await at(8)));
  }
  return demand(
    `made-up people, alone: attention after 12 h between 5 points below and ${TOLERANCE} above that after 8 h`,
    `${signed(Math.min(...gains), 2)} to ${signed(Math.max(...gains), 2)}`,
    gains.every((gain) => isWithin(gain, -5, TOLERANCE)),
  );
}
