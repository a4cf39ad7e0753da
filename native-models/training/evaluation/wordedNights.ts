import { join } from 'node:path';
import type { Session } from '#acuity/contract/request.js';
import { isBodyProblem, createReader } from '#acuity/reading/read.js';
import { SHARES, STAGES } from '#rules/contradictions.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { World } from '../cohort/population.js';
import { numberOf, readCsv, type Row } from './real/csv.js';
import { lifesnapsLives } from './real/lifesnapsUsual.js';
import { demand, fixed, type Section } from './section.js';

/** Nights, told as apps tell them: in seconds, which must be scored, and in wrong units, which should be refused. */

const SEED = 37;
const PEOPLE = 300;
const DAYS = 6;

/** Point 9: a right night is never refused, and most wrong ones are. That wordings score the same is tested apart. */
export function units(): Section {
  const folder = process.env['VALIDATION_DATA'] ?? '';
  const real = folder === '' ? new Map<string, readonly Night[] | undefined>() : realNights(folder);
  const simulated = simulatedNights(new World(SEED), PEOPLE, DAYS);
  const lifesnaps = folder === '' ? undefined : tellLifesnaps(folder);
  const told = [...(lifesnaps === undefined ? [] : [lifesnaps]), ...tellNights(new Map([...real, ['simulated', simulated]]))]; // prettier-ignore
  const sum = (isRight: boolean, name: 'requests' | 'refused'): number =>
    told.reduce((total, one) => total + (one.isRight === isRight ? one[name] : 0), 0);
  const [requests, refused] = [sum(false, 'requests'), sum(false, 'refused')];
  return {
    number: 9,
    title: 'Units',
    why: 'Is a night refused where its units are right, and where they are wrong? Nights of four open sets, where they are at hand, and of the cohort, as apps write them. That the same night in another right wording gets the same score is `test/model-behaviour/units.test.ts`.',
    demands: [
      demand(
        'no night in right units is refused',
        `${sum(true, 'refused')} of ${sum(true, 'requests')}`,
        sum(true, 'refused') === 0,
      ),
      demand('of nights in wrong units most are', `${refused} of ${requests}`, refused > requests / 2),
    ],
    tables: [
      {
        caption: 'Refused, in percent of the requests',
        header: ['told in', ...new Set(told.map(({ set }) => set))],
        rows: [...new Set(told.map(({ wording }) => wording))].map((wording) => [
          wording,
          ...[...new Set(told.map(({ set }) => set))].map((set) => {
            const one = told.find((other) => other.set === set && other.wording === wording);
            return one === undefined || one.requests === 0
              ? '–'
              : fixed((100 * one.refused) / one.requests, 1);
          }),
        ]),
      },
    ],
  };
}

/** A night of one set; all in seconds. */
interface Night {
  readonly deepS: number;
  readonly remS: number;
  readonly lightS: number;
  /** Awake after falling asleep. */
  readonly awakeS: number;
  /** In bed and awake before or after: apps count it as sleep time, or as awake, or not at all. */
  readonly aroundS: number;
}

/** Requests of one set in one wording. */
export interface Told {
  readonly set: string;
  readonly wording: string;
  readonly isRight: boolean;
  readonly requests: number;
  readonly refused: number;
}

/** Undefined where the data are not in the folder. */
export function realNights(folder: string): ReadonlyMap<string, readonly Night[] | undefined> {
  const of = (path: string, night: (row: Row) => Night): readonly Night[] | undefined =>
    readCsv(join(folder, path))?.map(night).filter(isKnown);
  const minutes = (row: Row, name: string): number => Math.round(60 * numberOf(row, name));
  return new Map([
    ['BOAS', of('boas/boas_nights.csv', (row) => boas((name) => minutes(row, name)))],
    [
      'PMData',
      of('pmdata/days.csv', (row) => ({
        deepS: minutes(row, 'deep'),
        remS: minutes(row, 'rem'),
        lightS: minutes(row, 'light'),
        awakeS: minutes(row, 'minutes_awake'),
        aroundS: 0,
      })),
    ],
    ['SleepyBrain', of('sleepy_brain/sessions.csv', sleepyBrain)],
  ]);
}

function boas(seconds: (name: string) => number): Night {
  const awakeS = seconds('waso');
  return {
    deepS: seconds('n3'),
    remS: seconds('rem'),
    lightS: seconds('n1') + seconds('n2'),
    awakeS,
    aroundS: Math.max(0, seconds('wake') - awakeS),
  };
}

function sleepyBrain(row: Row): Night {
  const asleepMin = numberOf(row, 'psg_tst_min');
  const awakeMin = numberOf(row, 'psg_waso_min');
  const seconds = (...names: readonly string[]): number =>
    Math.round(names.reduce((sum, name) => sum + 0.6 * numberOf(row, name), 0) * asleepMin);
  return {
    deepS: seconds('psg_n3_pct'),
    remS: seconds('psg_rem_pct'),
    lightS: seconds('psg_n1_pct', 'psg_n2_pct'),
    awakeS: Math.round(60 * awakeMin),
    aroundS: Math.max(0, Math.round(60 * (numberOf(row, 'psg_tib_min') - asleepMin - awakeMin))),
  };
}

export function simulatedNights(world: World, people: number, days: number): Night[] {
  const nights: Night[] = [];
  world.simulate(people, days, {
    wear: (session) => {
      nights.push({
        deepS: session.deepSleepSeconds ?? NaN,
        remS: session.remSleepSeconds ?? NaN,
        lightS: session.lightSleepSeconds ?? NaN,
        awakeS: session.awakeSleepSeconds ?? NaN,
        aroundS: 0,
      });
      return session;
    },
  });
  return nights.filter(isKnown);
}

/** Some sleep, all of it staged. */
function isKnown({ deepS, remS, lightS, awakeS, aroundS }: Night): boolean {
  return deepS + remS + lightS > 0 && awakeS + aroundS >= 0;
}

type Word = (night: Night) => readonly Session[];

/** Every way of telling a night in seconds: what the sleep time holds, what is told beside it, and what is left out. */
const inSeconds: Word = (night) => {
  const asleepS = asleepOf(night);
  const totals = [asleepS, asleepS + night.awakeS, asleepS + night.awakeS + night.aroundS];
  const awakes = [undefined, night.awakeS, night.awakeS + night.aroundS];
  return [...new Set(totals)].flatMap((sleepTimeSeconds) =>
    [...new Set(awakes)].map((awakeSleepSeconds) => ({
      sleepTimeSeconds,
      ...stagesOf(night),
      ...(awakeSleepSeconds !== undefined && { awakeSleepSeconds }),
    })),
  );
};

const withShares: Word = (night) =>
  [0.01, 1].flatMap((scale) =>
    inSeconds(night).flatMap((session) => {
      const told = { ...session, ...sharesOf(night, () => scale) };
      return [told, ...STAGES.map((field) => without(told, [field])), without(told, STAGES)];
    }),
  );

const WORDINGS: readonly { readonly name: string; readonly isRight: boolean; readonly word: Word }[] = [
  { name: 'seconds', isRight: true, word: inSeconds },
  { name: 'seconds and shares, a stage or all left out', isRight: true, word: withShares },
  { name: 'seconds without a sleep time', isRight: true, word: (night) => [stagesOf(night)] },
  { name: 'all in hours', isRight: false, word: scaled(3_600) },
  { name: 'all in minutes', isRight: false, word: scaled(60) },
  {
    name: 'stages in minutes beside seconds',
    isRight: false,
    word: (night) => inSeconds(night).map((session) => ({ ...session, ...inMinutes(night, STAGES) })),
  },
  ...STAGES.map((field) => ({
    name: `${field} in minutes`,
    isRight: false,
    word: (night: Night) =>
      (stagesOf(night)[field] ?? 0) < 60
        ? []
        : inSeconds(night).map((session) => ({ ...session, ...inMinutes(night, [field]) })),
  })),
  {
    name: 'shares on two scales',
    isRight: false,
    word: (night) =>
      SHARES.filter((field) => (sharesOf(night, () => 1)[field] ?? 0) > 0).map((small) => ({
        sleepTimeSeconds: asleepOf(night),
        ...sharesOf(night, (field) => (field === small ? 0.01 : 1)),
      })),
  },
];

/** What the service says of each night of each set, in each wording. */
export function tellNights(sets: ReadonlyMap<string, readonly Night[] | undefined>): Told[] {
  return [...sets].flatMap(([set, nights]) =>
    WORDINGS.map(({ name, isRight, word }) => ({
      set,
      wording: name,
      isRight,
      ...counted((nights ?? []).flatMap(word)),
    })),
  );
}

/** The nights of LifeSnaps as they are: a sleep time, awake time and series, no stages. */
export function tellLifesnaps(folder: string): Told | undefined {
  const people = lifesnapsLives(folder);
  if (people === undefined) return undefined;
  return {
    set: 'LifeSnaps',
    wording: 'seconds without stages, and series',
    isRight: true,
    ...counted(people.flat()),
  };
}

const read = createReader(DEFAULT_SERIES_LIMITS);

function counted(sessions: readonly Session[]): { requests: number; refused: number } {
  const refused = sessions.filter((session) =>
    isBodyProblem(read(Buffer.from(JSON.stringify({ current_session: session })))),
  );
  return { requests: sessions.length, refused: refused.length };
}

function asleepOf({ deepS, remS, lightS }: Night): number {
  return deepS + remS + lightS;
}

function stagesOf({ deepS, remS, lightS }: Night): Session {
  return { deepSleepSeconds: deepS, remSleepSeconds: remS, lightSleepSeconds: lightS };
}

function inMinutes(night: Night, fields: readonly (typeof STAGES)[number][]): Session {
  const stages = stagesOf(night);
  return Object.fromEntries(fields.map((field) => [field, Math.round((stages[field] ?? 0) / 60)]));
}

/** Shares as percent points, each times its scale, with two decimals. */
function sharesOf(night: Night, scale: (field: (typeof SHARES)[number]) => number): Session {
  const stages = stagesOf(night);
  const asleepS = asleepOf(night);
  return Object.fromEntries(
    SHARES.map((field, index) => {
      const stage = stages[STAGES[index] ?? STAGES[0]] ?? 0;
      return [field, Number(((100 * scale(field) * stage) / asleepS).toFixed(scale(field) === 1 ? 2 : 4))];
    }),
  );
}

function scaled(unitS: number): Word {
  return (night) =>
    inSeconds(night).map((session) =>
      Object.fromEntries(
        Object.entries(session).map(([field, value]) => [field, Math.round(Number(value) / unitS)]),
      ),
    );
}

function without(session: Session, fields: readonly string[]): Session {
  return Object.fromEntries(Object.entries(session).filter(([field]) => !fields.includes(field)));
}
