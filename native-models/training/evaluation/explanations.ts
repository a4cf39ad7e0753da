import { CONTRIBUTOR_GROUPS, EXPLANATION } from '#acuity/contract/explanation.js';
import type { Explanation } from '#acuity/contract/response.js';
import type { ExplainTable } from '#acuity/model/manifest.js';
import { explanationOf } from '#acuity/night/explained/explanation.js';
import { NO_EVIDENCE } from '#acuity/night/measured.js';
import { adjustedRow, adjustmentsOf, type Adjustments } from '#acuity/night/measuredRow.js';
import { againstOf } from '#acuity/night/quality.js';
import { reachOf } from '#acuity/night/explained/reach.js';
import { LAYOUT } from '#acuity/night/layout.js';
import type { PredictionRequest } from '#acuity/night/request.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import type { Intervention } from '../cohort/intervention.js';
import { Lives } from '../cohort/lives.js';
import { Random } from '../cohort/random.js';
import { COMPOSITE } from '../explainTable.js';
import { movesOf, type Move } from '../ranges.js';
import type { Explain } from '../served.js';
import type { Judged } from './context.js';
import { demand, fixed, interval, isWithin, type Demand, type Section } from './section.js';
import { mean, meanEstimate } from './statistics.js';

const PEOPLE = 1_000;
const RAISED_PEOPLE = 300;
const RECORDED_PEOPLE = 10_000;
const REQUESTS = 10_000;
/** Shares of days. */
const ORDINARY = [0.08, 0.12] as const;
const SHORT_LEAST = 0.5;
/** Points of attention on the fifth short night, and of stress after a month of a faster heart. */
const FIFTH_MOST = -4;
const STILL_LEAST = 1;

const DAYS = 45;
const DAY = DAYS - 1;
/** Of the same people, apart: days of one week are alike. */
const ORDINARY_DAYS = [30, 37, 44];
const NIGHT_H = 4;
const SHORT_NIGHTS = 5;
/** After so many usual nights the heart beats faster for good, by so much. */
const USUAL_NIGHTS = 60;
const RISE_BPM = 5;
const RISE_DAYS = [1, 30] as const;
/** Recorded by other devices: people outside the trainer's. */
const FIRST_ID = 500_000;
const COVERED: readonly [low: number, high: number] = [0.77, 0.83];
const SESSIONS = [0, 5];
const MISSING = [0, 4, 8];

type ScoreField = (typeof SCORE_FIELDS)[number];
const AGAINST = ['the last nights', 'usual'] as const;
type Against = (typeof AGAINST)[number];

/** A network that explains, and whom it is asked about. */
interface Asked extends Pick<Judged, 'world' | 'model'> {
  readonly table: ExplainTable;
  readonly explain: Explain;
}

/** Point 15: ranges, notable days and contributions hold what they promise. */
export async function explanations({ world, model, bundle: { explain: table } }: Judged): Promise<Section> {
  return {
    number: 15,
    title: 'What is said with a score',
    why: 'Do ranges, notable days and contributions hold what they promise, against the last nights and against what is usual? Another recording is by one of the cohort’s devices with all four series; half of the callers send all that their device has, a quarter never sends some fields, a quarter lacks other ones every day. Nights of 4 h are not rare in the cohort. A slow reference in plain code agrees (`test/model-behaviour/explain.test.ts`).',
    ...(table === undefined
      ? { demands: [demand('explanations', 'the bundle has no table for them', undefined)], tables: [] }
      : await promises({ world, model, table, explain: model.explainer(table) })),
  };
}

async function promises(asked: Asked): Promise<Pick<Section, 'demands' | 'tables'>> {
  const plain = await live(asked, PEOPLE, DAYS);
  const notable = await notableDays(asked, plain);
  return {
    demands: [
      ...(await rangeDemands(asked)),
      ...notable.demands,
      await fifthNight(asked),
      await lastingRise(asked),
      await additivity(asked, plain),
    ],
    tables: notable.tables,
  };
}

async function live(
  { world, model }: Asked,
  people: number,
  days: number,
  intervene: (day: number) => Intervention = () => ({}),
): Promise<Lives> {
  const lives = Lives.simulate(world, people, days, { intervene });
  await lives.rollOut(model);
  return lives;
}

/** Which days are notable: of people as they live, and their first short night. */
async function notableDays(asked: Asked, plain: Lives): Promise<Pick<Section, 'demands' | 'tables'>> {
  const short = await live(asked, PEOPLE, DAYS, (day) => (day === DAY ? { asleepH: NIGHT_H } : {}));
  const bySessions: Explanation[][] = [];
  for (let sessions = 0; sessions <= PAST_MAX; sessions++)
    bySessions.push(await said(asked, plain, ORDINARY_DAYS, 'the last nights', sessions));
  const ordinary = {
    'the last nights': bySessions.at(-1) ?? [],
    usual: await said(asked, plain, ORDINARY_DAYS, 'usual'),
  };
  const first = {
    'the last nights': await said(asked, short, [DAY], 'the last nights'),
    usual: await said(asked, short, [DAY], 'usual'),
  };
  return {
    demands: [
      ordinaryDemand('the last nights, for each number of sessions', bySessions),
      ordinaryDemand('usual', [ordinary.usual]),
      ...AGAINST.map((against) => shortDemand(against, first[against], ordinary[against])),
    ],
    tables: [
      {
        caption: 'Notable with five past sessions, times in 100',
        header: ['day', ...SCORE_FIELDS, 'attention or a group for it'],
        rows: Object.entries({ ordinary, [`first night of ${NIGHT_H} h`]: first }).flatMap(([what, days]) =>
          AGAINST.map((against) => [
            `${what}, against ${against}`,
            ...SCORE_FIELDS.map((field) => fixed(100 * isNotable(days[against], field), 1)),
            fixed(100 * isEither(days[against]), 1),
          ]),
        ),
      },
    ],
  };
}

/** What is said of everybody's days. */
async function said(
  asked: Asked,
  lives: Lives,
  days: readonly number[],
  against: Against,
  sessions = PAST_MAX,
): Promise<Explanation[]> {
  const found: Explanation[] = [];
  for (let person = 0; person < lives.count; person++)
    for (const day of days) {
      const request =
        against === 'usual'
          ? lives.requestWithUsual(person, day, sessions)
          : lives.request(person, day, sessions);
      found.push((await sayOf(asked, request)).said);
    }
  return found;
}

async function fifthNight(asked: Asked): Promise<Demand> {
  const short = await live(asked, PEOPLE, DAYS, (day) =>
    day > DAY - SHORT_NIGHTS ? { asleepH: NIGHT_H } : {},
  );
  const fifth = await added(asked, short, DAY, 'sleep_amount', 'attention');
  return demand(
    `fifth night of ${NIGHT_H} h, against usual: sleep_amount takes at least ${-FIFTH_MOST} points of attention`,
    interval(meanEstimate(fifth), 2),
    mean(fifth) <= FIFTH_MOST,
  );
}

async function lastingRise(asked: Asked): Promise<Demand> {
  const days = USUAL_NIGHTS + Math.max(...RISE_DAYS);
  const raised = await live(asked, RAISED_PEOPLE, days, (night) =>
    night < USUAL_NIGHTS ? {} : { addNightHr: RISE_BPM, addDayHr: RISE_BPM },
  );
  const calm = await live(asked, RAISED_PEOPLE, days);
  const gains: number[] = [];
  for (const riseDay of RISE_DAYS) {
    const of = async (lives: Lives): Promise<number> =>
      mean(await added(asked, lives, USUAL_NIGHTS + riseDay - 1, 'night_heart_rate', 'stress'));
    gains.push((await of(raised)) - (await of(calm)));
  }
  const [first = NaN, last = NaN] = gains;
  return demand(
    `+${RISE_BPM} bpm for 30 days after ${USUAL_NIGHTS} usual nights: on day 30 night_heart_rate still adds at least ${STILL_LEAST} point of stress against usual, half a point less than on the first`,
    `${fixed(last, 2)}, ${fixed(first, 2)}`,
    last >= STILL_LEAST && first > last + 0.5,
  );
}

/** The service's explanation of a request, and the scores that it explains. */
async function sayOf({ explain, table }: Asked, request: PredictionRequest) {
  const { scores, floats } = await explain(request);
  const quality = {
    sessions: request.pastCount,
    against: againstOf(request),
    missing: [],
    implausible: [],
    notAtRest: [],
    series: [],
  };
  const { adjustments } = request;
  const own = adjustments === undefined ? scores : adjustedRow(adjustments, scores, 0);
  const unmeasured = adjustments && { scores, offset: 0, adjustments };
  return { said: explanationOf({ scores: own, offset: 0, floats, unmeasured }, quality, table), own };
}

/** What a group adds to a score of everybody's day, against usual. */
async function added(
  { explain }: Asked,
  lives: Lives,
  day: number,
  group: (typeof CONTRIBUTOR_GROUPS)[number],
  field: ScoreField,
): Promise<Float64Array> {
  const at =
    EXPLANATION.contributors +
    CONTRIBUTOR_GROUPS.indexOf(group) * SCORE_FIELDS.length +
    SCORE_FIELDS.indexOf(field);
  const found = new Float64Array(lives.count);
  for (const person of found.keys())
    found[person] = (await explain(lives.requestWithUsual(person, day, PAST_MAX))).floats[at] ?? NaN;
  return found;
}

function share<T>(among: readonly T[], is: (one: T) => boolean): number {
  return mean(among.map((one) => (is(one) ? 1 : 0)));
}

function isNotable(days: readonly Explanation[], field: ScoreField): number {
  return share(days, ({ scores }) => scores[field].notable);
}

/** Attention, or a group for it. */
function isEither(days: readonly Explanation[]): number {
  return share(
    days,
    ({ scores, contributors }) =>
      scores.attention.notable || contributors.some(({ notable }) => notable.includes('attention')),
  );
}

function ordinaryDemand(against: string, kinds: readonly (readonly Explanation[])[]): Demand {
  const shares = kinds.flatMap((days) => SCORE_FIELDS.map((field) => isNotable(days, field)));
  return demand(
    `ordinary days are notable ${ORDINARY.map((one) => 100 * one).join(' to ')} times in 100 against ${against}, for each score`,
    `${fixed(100 * Math.min(...shares), 1)} to ${fixed(100 * Math.max(...shares), 1)}`,
    shares.every((one) => isWithin(one, ...ORDINARY)),
  );
}

function shortDemand(
  against: Against,
  days: readonly Explanation[],
  ordinary: readonly Explanation[],
): Demand {
  const [found, usually] = [isEither(days), isEither(ordinary)];
  return demand(
    `a first night of ${NIGHT_H} h, after nights as people live, against ${against}: attention is notable, as a score or by a group, at least ${100 * SHORT_LEAST} times in 100, and twice as often as on ordinary days`,
    `${fixed(100 * found, 1)}; ordinary days ${fixed(100 * usually, 1)}`,
    found >= SHORT_LEAST && found >= 2 * usually,
  );
}

/** With any fields missing, any values, a long run and measurements, contributions add up to the change, to the last digit. */
async function additivity(asked: Asked, lives: Lives): Promise<Demand> {
  const random = new Random(15, 15);
  let differing = 0;
  for (let index = 0; index < REQUESTS; index++) {
    const [person, sessions] = [index % lives.count, Math.floor(random.uniform() * (PAST_MAX + 1))];
    const usual = lives.requestWithUsual(person, DAY, sessions);
    const kinds = [
      lives.request(person, DAY, sessions),
      usual,
      { ...usual, adjustments: randomMeasurements(random) },
    ];
    const { said, own } = await sayOf(asked, spoiled(kinds[index % 3] ?? usual, random));
    const isExact = SCORE_FIELDS.every((field, score) => {
      const { change, reference } = said.scores[field];
      const sum = said.contributors.reduce((total, part) => total + Math.round(100 * part[field]), 0);
      return (
        sum === Math.round(100 * change) &&
        Math.round(100 * reference) + sum === Math.round(100 * (own[score] ?? NaN))
      );
    });
    if (!isExact) differing++;
  }
  return demand(
    `${REQUESTS} random requests, with and without a long run and measurements: contributions add up to change, change to score less reference`,
    `${differing} differ`,
    differing === 0,
  );
}

/** Of any scores, of any size. */
function randomMeasurements(random: Random): Adjustments | undefined {
  return adjustmentsOf(
    () => {
      if (random.chance(0.4)) return NO_EVIDENCE;
      const precision = 4 * random.uniform();
      const weight = 0.1 + random.uniform();
      const [shares, own] = [weight * (0.05 + 0.9 * random.uniform()), precision * random.uniform()];
      return { pull: precision * random.normal(0, 1.5), precision, own, shares, weight };
    },
    { composite: COMPOSITE },
  );
}

/** Removes numbers from the records, and replaces others by numbers of any size. */
function spoiled(request: PredictionRequest, random: Random): PredictionRequest {
  const lost = random.uniform();
  for (let at = 0; at < request.records.length; at++) {
    const place = at % LAYOUT.RECORD_LENGTH;
    const isCount =
      place >= LAYOUT.SCALARS && (place - LAYOUT.SCALARS) % LAYOUT.SUMMARY_LENGTH === LAYOUT.COUNT;
    if (isCount && random.chance(lost / 2)) request.records[at] = 0;
    else if (place < LAYOUT.SCALARS && random.chance(lost / 2)) request.records[at] = NaN;
    else if (place < LAYOUT.SCALARS && place !== LAYOUT.SEX && random.chance(0.05))
      request.records[at] = random.uniform() * 1e5;
  }
  return request;
}

/** How often another recording of the same days falls into the ranges. */
async function rangeDemands({ world, model, table }: Asked): Promise<Demand[]> {
  const moves = await movesOf(model, world, RECORDED_PEOPLE, FIRST_ID);
  const isHeld = ({ sessions, missing, points }: Move, score: number): boolean => {
    const reach = reachOf(table, sessions, missing);
    const [below = NaN, above = NaN] = [reach[score], reach[SCORE_FIELDS.length + score]];
    return isWithin(points[score] ?? NaN, -below, above);
  };
  const demandOf = (name: string, is: (move: Move) => boolean): Demand => {
    const among = moves.filter(is);
    const shares = SCORE_FIELDS.map((_, score) => share(among, (one) => isHeld(one, score)));
    return demand(
      `ranges hold another recording 77 to 83 times in 100, ${name}`,
      SCORE_FIELDS.map((field, score) => `${field} ${fixed(100 * (shares[score] ?? NaN), 1)}`).join(', '),
      shares.every((one) => isWithin(one, ...COVERED)),
    );
  };
  return [
    demandOf('all requests', () => true),
    ...SESSIONS.map((known) => demandOf(`${known} sessions`, ({ sessions }) => sessions === known)),
    ...MISSING.map((known) => demandOf(`${known} fields missing`, ({ missing }) => missing === known)),
  ];
}
