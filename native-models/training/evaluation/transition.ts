import { TARGET_COUNT } from '#acuity/contract/features.js';
import type { ScoreRecord, Session } from '#acuity/contract/request.js';
import { sessionOf } from '../cohort/session.js';
import { recordOf } from '../served.js';
import { ageBand } from './calibration.js';
import { SCORES, scoreColumn, type Context } from './context.js';
import { openFormer, type Former } from './former.js';
import { followAll, headFigures } from './headFigures.js';
import { withhold } from './oneNorm.js';
import type { Population } from '../cohort/population.js';
import { rollOut, scoreDay, writeTarget, type Rollout } from './rollout.js';
import { scoring } from './scoring.js';
import { demand, fixed, signed, type Section } from './section.js';
import { mean } from './statistics.js';

const PEOPLE = 500;
/** The previous version scores five days; then this one scores five days, and one more. */
const FORMER_DAYS = 5;
const DAYS = FORMER_DAYS + 6;
const AT_ONCE = FORMER_DAYS;
const LATER = DAYS - 1;
const WIDTH = 7;

/** Point 16: callers send back the previous version's scores. */
export async function transition(context: Context): Promise<Section> {
  const former = openFormer(context.version);
  const section = {
    number: 16,
    title: 'The day of a new network',
    about: 'What do callers notice on the day on which the network changes?',
    figures: [],
  };
  if (typeof former === 'string') {
    return {
      ...section,
      demands: [demand('compare with the version before', former, undefined)],
      tables: [],
      notes: [],
    };
  }
  return { ...section, ...(await compare(context, former)) };
}

async function compare(context: Context, former: Former) {
  const { world, model } = context;
  const lives = Array.from({ length: PEOPLE }, (): Session[] => []);
  const population = world.simulate(PEOPLE, DAYS, {
    look: (recording, index) => lives[index]?.push(sessionOf(recording)),
  });
  const said = await followAll(firstDays(lives), former.score);
  const own = await rollOut(model, population);
  const distances = await distancesFrom(context, population, own, said);
  const unsexed = lives.map((sessions) => sessions.map((session) => ({ ...session, sex: null })));
  const shifts = {
    given: shiftsOf(population, said, own),
    withheld: shiftsOf(
      population,
      await followAll(firstDays(unsexed), former.score),
      await rollOut(model, withhold(population, ['sex'])),
    ),
  };
  const versions = new Map([
    [former.version, former.score],
    [context.version, scoring(model)],
  ]);
  const most = (values: readonly number[]): number => Math.max(...values);
  return {
    demands: [
      demand(
        `five past targets of ${former.version}: mean distance to the own roll-out at most 2 at once`,
        told(distances.atOnce),
        most(distances.atOnce) <= 2,
      ),
      demand('at most 1 after five days', told(distances.later), most(distances.later) <= 1),
    ],
    tables: [shiftTable(former.version, population, shifts), await headFigures(world, versions)],
    notes: [
      `${PEOPLE} people of the cohort with their own devices; ${former.version} is built from the repository’s history and scores them by its own code.`,
    ],
  };
}

/** Up to the first day of the new network, which the version before scores too. */
function firstDays(lives: readonly (readonly Session[])[]): Session[][] {
  return lives.map((sessions) => sessions.slice(0, FORMER_DAYS + 1));
}

function told(distances: readonly number[]): string {
  return SCORES.map((name, k) => `${name} ${fixed(distances[k] ?? NaN, 2)}`).join(', ');
}

/** Mean distance of the scores to the own roll-out where the first targets are the former version's. */
async function distancesFrom(
  { model }: Context,
  population: Population,
  own: Rollout,
  said: readonly (readonly ScoreRecord[])[],
) {
  const targets = own.targets.slice();
  const write = (record: ScoreRecord | undefined, person: number, day: number): void => {
    if (record !== undefined) writeTarget(record, targets, (person * DAYS + day) * TARGET_COUNT);
  };
  for (let day = 0; day < FORMER_DAYS; day++)
    said[day]?.forEach((record, person) => write(record, person, day));
  const byDay = new Map<number, number[]>();
  for (let day = AT_ONCE; day <= LATER; day++) {
    const scores = await scoreDay(model, population, targets, day, 5);
    population.people.forEach((_, person) => write(recordOf(scores, person * WIDTH), person, day));
    byDay.set(day, distancesOn(population, own, scores, day));
  }
  return { atOnce: byDay.get(AT_ONCE) ?? [], later: byDay.get(LATER) ?? [] };
}

function distancesOn({ people }: Population, own: Rollout, scores: Float32Array, day: number): number[] {
  return SCORES.map((_, k) =>
    mean(
      people.map((_p, person) =>
        Math.abs(
          (scores[person * WIDTH + scoreColumn(k)] ?? NaN) -
            (own.scores[(person * DAYS + day) * WIDTH + scoreColumn(k)] ?? NaN),
        ),
      ),
    ),
  );
}

type Shifts = readonly (readonly number[])[];

/** This version's score minus the former's, each with its own past scores: [score][person]. */
function shiftsOf({ people }: Population, said: readonly (readonly ScoreRecord[])[], own: Rollout): Shifts {
  return SCORES.map((name, k) =>
    people.map((_, person) => {
      const now = own.scores[(person * DAYS + AT_ONCE) * WIDTH + scoreColumn(k)] ?? NaN;
      return now - (said[AT_ONCE]?.[person]?.[name] ?? NaN);
    }),
  );
}

function shiftTable(version: string, population: Population, shifts: { given: Shifts; withheld: Shifts }) {
  const { people, devices } = population;
  const groups = new Map<string, number[]>([['everybody', people.map((_, person) => person)]]);
  const put = (name: string, person: number): void =>
    void groups.set(name, [...(groups.get(name) ?? []), person]);
  people.forEach(({ age }, person) => put(`age ${ageBand(age)}`, person));
  people.forEach(({ sex }, person) => put(`sex ${sex}`, person));
  devices.forEach(({ habit }, person) => put(`device ${habit}`, person));
  const names = [...groups.keys()].toSorted((a, b) => Number(b === 'everybody') - Number(a === 'everybody') || (a < b ? -1 : 1)); // prettier-ignore
  const text = (of: Shifts, k: number, chosen: readonly number[]): string =>
    signed(mean(chosen.map((person) => of[k]?.[person] ?? NaN)), 1);
  return {
    caption: `Mean shift from ${version}, each version with its own past scores, points: sex given | withheld`,
    header: ['group', 'people', ...SCORES],
    rows: names.map((name) => {
      const chosen = groups.get(name) ?? [];
      return [
        name,
        String(chosen.length),
        ...SCORES.map((_, k) => `${text(shifts.given, k, chosen)} | ${text(shifts.withheld, k, chosen)}`),
      ];
    }),
  };
}
