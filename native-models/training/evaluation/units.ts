import type { Session } from '#acuity/contract/request.js';
import { createReader, isBodyProblem } from '#acuity/read/read.js';
import { SHARES, STAGES } from '#rules/contradictions.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { World } from '../cohort/population.js';
import { without } from '../cohort/recordings.js';
import { numberOf, readCsv, type Row } from './real/dataSet.js';
import { lifesnapsLives } from './real/lifesnaps.js';
import { demand, fixed, type Section } from './section.js';

const SEED = 37;
const PEOPLE = 300;
const DAYS = 6;

/** A night as a set has it; all in seconds. */
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
interface Told {
  readonly set: string;
  readonly wording: string;
  readonly isRight: boolean;
  readonly requests: number;
  readonly refused: number;
}

/** Point 9: a right night is never refused, and most wrong ones are. That wordings score the same is tested apart. */
export function units(people = PEOPLE): Section {
  const told = toldNights(people);
  const sum = (isRight: boolean, name: 'requests' | 'refused'): number =>
    told.reduce((total, one) => total + (one.isRight === isRight ? one[name] : 0), 0);
  const caught = told
    .filter(({ isRight, requests }) => !isRight && requests > 0)
    .map(({ refused, requests }) => refused / requests);
  const sets = [...new Set(told.map(({ set }) => set))];
  return {
    number: 9,
    title: 'Units',
    why: 'Is a night refused where its units are right, and where they are wrong? Nights of four open sets, where they are at hand, and of the cohort, as apps write them. That the same night in another right wording gets the same score is `test/model-behaviour/network.test.ts`.',
    demands: [
      demand(
        'no night in right units is refused',
        `${sum(true, 'refused')} of ${sum(true, 'requests')}`,
        sum(true, 'refused') === 0,
      ),
      demand(
        'of nights in wrong units most are, in every wording and set at least 3 in 10',
        `${sum(false, 'refused')} of ${sum(false, 'requests')}, at least ${fixed(100 * Math.min(...caught), 1)} %`,
        sum(false, 'refused') > sum(false, 'requests') / 2 && caught.every((share) => share > 0.3),
      ),
    ],
    tables: [
      {
        caption: 'Refused, in percent of the requests',
        header: ['told in', ...sets],
        rows: [...new Set(told.map(({ wording }) => wording))].map((wording) => [
          wording,
          ...sets.map((set) => {
            const { refused = 0, requests = 0 } =
              told.find((one) => one.set === set && one.wording === wording) ?? {};
            return requests === 0 ? '–' : fixed((100 * refused) / requests, 1);
          }),
        ]),
      },
    ],
  };
}

/** What the service says of each night of each set, in each wording; real sets where `VALIDATION_DATA` has them. */
function toldNights(people: number): Told[] {
  const folder = process.env['VALIDATION_DATA'] ?? '';
  const real =
    folder === ''
      ? []
      : Object.entries(REAL).flatMap(([set, { file, night }]) => {
          const rows = readCsv(folder, file);
          return rows === undefined ? [] : [{ set, nights: rows.map(night).filter(isKnown) }];
        });
  const lifesnaps = folder === '' ? undefined : lifesnapsLives(folder);
  const sets = [...real, { set: 'simulated', nights: simulatedNights(people) }];
  return [
    ...(lifesnaps === undefined
      ? []
      : [
          {
            set: 'LifeSnaps',
            wording: 'seconds without stages, and series',
            isRight: true,
            ...counted(lifesnaps.flat()),
          },
        ]),
    ...sets.flatMap(({ set, nights }) =>
      WORDINGS.map(({ wording, isRight, word }) => ({
        set,
        wording,
        isRight,
        ...counted(nights.flatMap(word)),
      })),
    ),
  ];
}

const seconds = (row: Row, ...names: readonly string[]): number =>
  Math.round(names.reduce((sum, name) => sum + 60 * numberOf(row, name), 0));
/** Sets with stages, in minutes or in percent of the time asleep. */
const REAL: Readonly<Record<string, { readonly file: string; readonly night: (row: Row) => Night }>> = {
  BOAS: {
    file: 'boas/boas_nights.csv',
    night: (row) => ({
      deepS: seconds(row, 'n3'),
      remS: seconds(row, 'rem'),
      lightS: seconds(row, 'n1', 'n2'),
      awakeS: seconds(row, 'waso'),
      aroundS: Math.max(0, seconds(row, 'wake') - seconds(row, 'waso')),
    }),
  },
  PMData: {
    file: 'pmdata/days.csv',
    night: (row) => ({
      deepS: seconds(row, 'deep'),
      remS: seconds(row, 'rem'),
      lightS: seconds(row, 'light'),
      awakeS: seconds(row, 'minutes_awake'),
      aroundS: 0,
    }),
  },
  SleepyBrain: {
    file: 'sleepy_brain/sessions.csv',
    night: (row) => {
      const percent = (...names: readonly string[]): number =>
        Math.round((seconds(row, ...names) * numberOf(row, 'psg_tst_min')) / 100);
      return {
        deepS: percent('psg_n3_pct'),
        remS: percent('psg_rem_pct'),
        lightS: percent('psg_n1_pct', 'psg_n2_pct'),
        awakeS: seconds(row, 'psg_waso_min'),
        aroundS: Math.max(0, seconds(row, 'psg_tib_min') - seconds(row, 'psg_tst_min', 'psg_waso_min')),
      };
    },
  },
};

function simulatedNights(people: number): Night[] {
  const nights: Night[] = [];
  new World(SEED).simulate(people, DAYS, {
    wear: (session) => {
      const of = (field: Stage | 'awakeSleepSeconds'): number => session[field] ?? NaN;
      nights.push({
        deepS: of('deepSleepSeconds'),
        remS: of('remSleepSeconds'),
        lightS: of('lightSleepSeconds'),
        awakeS: of('awakeSleepSeconds'),
        aroundS: 0,
      });
      return session;
    },
  });
  return nights.filter(isKnown);
}

/** Some sleep, all of it staged. */
function isKnown(night: Night): boolean {
  return asleepOf(night) > 0 && night.awakeS + night.aroundS >= 0;
}

type Word = (night: Night) => readonly Session[];
type Stage = (typeof STAGES)[number];

/** Every way of telling a night in seconds: what the sleep time holds, what is told beside it, and what is left out. */
const inSeconds: Word = (night) => {
  const [asleepS, withAwakeS] = [asleepOf(night), night.awakeS + night.aroundS];
  return [...new Set([asleepS, asleepS + night.awakeS, asleepS + withAwakeS])].flatMap((sleepTimeSeconds) =>
    [...new Set([undefined, night.awakeS, withAwakeS])].map((awakeSleepSeconds) => ({
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
      return [[], ...STAGES.map((field) => [field]), STAGES].map((left) => without(told, left));
    }),
  );

/** All of a night in another unit. */
function scaled(unitS: number): Word {
  return (night) =>
    inSeconds(night).map((session) =>
      Object.fromEntries(
        Object.entries(session).map(([field, value]) => [field, Math.round(Number(value) / unitS)]),
      ),
    );
}

/** Some stages in minutes, the rest in seconds. */
function inMinutes(fields: readonly Stage[]): Word {
  return (night) => {
    const stages = stagesOf(night);
    const told = Object.fromEntries(fields.map((field) => [field, Math.round(stages[field] / 60)]));
    return fields.length === 1 && fields.some((field) => stages[field] < 60)
      ? []
      : inSeconds(night).map((session) => ({ ...session, ...told }));
  };
}

/** One share as a fraction, the others as percent points. */
const onTwoScales: Word = (night) =>
  SHARES.filter((field) => sharesOf(night, () => 1)[field] > 0).map((small) => ({
    sleepTimeSeconds: asleepOf(night),
    ...sharesOf(night, (field) => (field === small ? 0.01 : 1)),
  }));

const WORDINGS: readonly { readonly wording: string; readonly isRight: boolean; readonly word: Word }[] = [
  { wording: 'seconds', isRight: true, word: inSeconds },
  { wording: 'seconds and shares, a stage or all left out', isRight: true, word: withShares },
  { wording: 'seconds without a sleep time', isRight: true, word: (night) => [stagesOf(night)] },
  { wording: 'all in hours', isRight: false, word: scaled(3_600) },
  { wording: 'all in minutes', isRight: false, word: scaled(60) },
  { wording: 'stages in minutes beside seconds', isRight: false, word: inMinutes(STAGES) },
  ...STAGES.map((field) => ({ wording: `${field} in minutes`, isRight: false, word: inMinutes([field]) })),
  { wording: 'shares on two scales', isRight: false, word: onTwoScales },
];

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

function stagesOf({ deepS, remS, lightS }: Night): Record<Stage, number> {
  return { deepSleepSeconds: deepS, remSleepSeconds: remS, lightSleepSeconds: lightS };
}

/** Shares as percent points, each times its scale, with two decimals. */
function sharesOf(
  night: Night,
  scale: (field: (typeof SHARES)[number]) => number,
): Record<(typeof SHARES)[number], number> {
  const [deep, rem, light] = [night.deepS, night.remS, night.lightS].map(
    (stageS) => (100 * stageS) / asleepOf(night),
  );
  const of = (field: (typeof SHARES)[number], share = NaN): number =>
    Number((share * scale(field)).toFixed(scale(field) === 1 ? 2 : 4));
  return {
    deepPercentage: of('deepPercentage', deep),
    remPercentage: of('remPercentage', rem),
    lightPercentage: of('lightPercentage', light),
  };
}
