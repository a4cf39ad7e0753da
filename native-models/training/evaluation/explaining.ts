import { CONTRIBUTORS, EXPLANATION } from '#acuity/contract/explanation.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import type { ExplainBundle } from '#acuity/model/bundle.js';
import { explanationOf } from '#acuity/pipeline/explanation.js';
import { adjustedRow } from '#acuity/pipeline/measuredRow.js';
import { againstOf } from '#acuity/pipeline/quality.js';
import { LAYOUT } from '#acuity/records/layout.js';
import type { PredictionRequest } from '#acuity/records/request.js';
import type { Intervention } from '../cohort/intervention.js';
import { Lives } from '../cohort/lives.js';
import { Random } from '../cohort/random.js';
import { ExplainedModel } from '../explained.js';
import type { Context } from './context.js';
import { ranges } from './ranges.js';
import { demand, fixed, interval, isWithin, type Demand, type Section } from './section.js';
import { mean, meanEstimate } from './statistics.js';

const PEOPLE = 1_500;
/** Days on which notable changes are counted: two for each person. */
const ORDINARY_DAYS = [5, 6];
const RESTED_H = 8;
const DAYS = 7;
const DAY = DAYS - 1;
const NIGHT_H = 4;
const REQUESTS = 10_000;
const RISE_BPM = 8;
const ORDINARY: readonly [low: number, high: number] = [0.08, 0.12];
const SHORT_LEAST = 0.5;

/** Point 15: explanations. */
export async function explaining(context: Context): Promise<Section> {
  const { world, model, explain: bundle } = context;
  if (bundle === undefined) throw new Error('the model folder has no graph that explains');
  const explained = await ExplainedModel.open(model, bundle.graph, bundle.table);
  const { demands, table } = await ranges(context, explained);
  const ordinary = await live(world, model);
  const short = await live(world, model, { asleepH: NIGHT_H });
  const rested = await live(world, model, { asleepH: NIGHT_H }, { asleepH: RESTED_H });
  const fast = await live(world, model, { addDayHr: RISE_BPM, addNightHr: RISE_BPM });
  const notable = [
    { day: 'ordinary', shares: await notableShares(ordinary, explained, bundle, ORDINARY_DAYS) },
    { day: `first night of ${NIGHT_H} h, as people live`, shares: await notableShares(short, explained, bundle, [DAY]) }, // prettier-ignore
    { day: `first night of ${NIGHT_H} h, after ${RESTED_H} h each`, shares: await notableShares(rested, explained, bundle, [DAY]) }, // prettier-ignore
  ];
  return {
    number: 15,
    title: 'What is said with a score',
    why: 'Do ranges, notable days and reasons hold what they promise? Another recording is by one of the cohort’s devices with all four series, in which nothing is lost; half of the callers send all that their device has, a quarter never sends some fields, a quarter lacks other ones every day. Nights of 4 h are not rare in the cohort, and such days set where a change is notable. A slow reference in plain code agrees (`test/model-behaviour/explain.test.ts`).',
    demands: [
      ...demands,
      ...notableDemands(notable.map(({ shares }) => shares)),
      await additivity('random requests', (index, sessions) => ordinary.request(index % PEOPLE, DAY, sessions), explained, bundle), // prettier-ignore
      ...(await directions(ordinary, short, fast, explained)),
    ],
    tables: [
      table,
      {
        caption: 'Notable with five past sessions, times in 100',
        header: ['day', ...SCORE_FIELDS],
        rows: notable.map(({ day, shares }) => [
          day,
          ...(shares[PAST_MAX] ?? []).map((share) => fixed(100 * share, 1)),
        ]),
      },
    ],
  };
}

async function live(
  world: Context['world'],
  model: Context['model'],
  last: Intervention = {},
  before: Intervention = {},
): Promise<Lives> {
  const intervene = (day: number): Intervention => (day === DAY ? last : before);
  const lives = Lives.simulate(world, PEOPLE, DAYS, { intervene });
  await lives.rollOut(model);
  return lives;
}

/** By number of sessions, by score: how often these days are notable. */
async function notableShares(
  lives: Lives,
  explained: ExplainedModel,
  { table }: ExplainBundle,
  days: readonly number[],
): Promise<number[][]> {
  const shares: number[][] = [];
  for (let sessions = 0; sessions <= PAST_MAX; sessions++) {
    const counts = SCORE_FIELDS.map(() => 0);
    for (let person = 0; person < PEOPLE; person++) {
      for (const day of days) {
        const said = await sayOf(explained, lives.request(person, day, sessions), table);
        SCORE_FIELDS.forEach((field, score) => {
          if (said.scores[field].notable) counts[score] = (counts[score] ?? 0) + 1;
        });
      }
    }
    shares.push(counts.map((count) => count / (PEOPLE * days.length)));
  }
  return shares;
}

/** The service's explanation of a request, and its scores. */
export async function sayOf(
  explained: ExplainedModel,
  request: PredictionRequest,
  table: ExplainBundle['table'],
) {
  const { scores, floats } = await explained.explain(request);
  const quality = {
    sessions: request.pastCount,
    against: againstOf(request),
    missing: [],
    implausible: [],
    notAtRest: [],
    series: [],
  };
  const { adjustments } = request;
  const told = adjustments === undefined ? scores : adjustedRow(adjustments, scores, 0);
  const unmeasured = adjustments && { scores, offset: 0, adjustments };
  return { ...explanationOf({ scores: told, offset: 0, floats, unmeasured }, quality, table), own: told };
}

type Shares = readonly (readonly number[])[];

function notableDemands([ordinary = [], short = [], rested = []]: readonly Shares[]): Demand[] {
  const all = ordinary.flat();
  const often = (what: string, shares: Shares): Demand => {
    const share = shares[PAST_MAX]?.[SCORE_FIELDS.indexOf('attention')] ?? NaN;
    const told = `${what}: attention is notable at least 50 times in 100`;
    return demand(told, fixed(100 * share, 1), share >= SHORT_LEAST);
  };
  return [
    demand(
      'ordinary days are notable 8 to 12 times in 100, for each score and number of sessions',
      `${fixed(100 * Math.min(...all), 1)} to ${fixed(100 * Math.max(...all), 1)}`,
      all.every((share) => isWithin(share, ...ORDINARY)),
    ),
    often(`a first night of ${NIGHT_H} h after five of ${RESTED_H} h`, rested),
    often(`a first night of ${NIGHT_H} h after five as people live`, short),
  ];
}

/** With any fields missing and any values, contributions add up to the change, to the last digit. */
export async function additivity(
  what: string,
  requestOf: (index: number, sessions: number) => PredictionRequest,
  explained: ExplainedModel,
  { table }: ExplainBundle,
): Promise<Demand> {
  const random = new Random(15, 15);
  let differing = 0;
  for (let index = 0; index < REQUESTS; index++) {
    const request = spoiled(requestOf(index, Math.floor(random.uniform() * (PAST_MAX + 1))), random);
    const said = await sayOf(explained, request, table);
    const isExact = SCORE_FIELDS.every((field, score) => {
      const { change, reference } = said.scores[field];
      const sum = said.contributors.reduce((total, part) => total + Math.round(100 * part[field]), 0);
      return sum === Math.round(100 * change) && Math.round(100 * reference) + sum === Math.round(100 * (said.own[score] ?? NaN)); // prettier-ignore
    });
    if (!isExact) differing++;
  }
  return demand(`${REQUESTS} ${what}: contributions add up to change, change to score less reference`, `${differing} differ`, differing === 0); // prettier-ignore
}

/** Removes numbers from the records, and replaces others by numbers of any size. */
function spoiled(request: PredictionRequest, random: Random): PredictionRequest {
  const lost = random.uniform();
  for (let at = 0; at < request.records.length; at++) {
    const place = at % LAYOUT.RECORD_LENGTH;
    const isScalar = place < LAYOUT.SCALARS;
    if (isScalar && random.chance(lost / 2)) request.records[at] = NaN;
    else if (isScalar && place !== LAYOUT.SEX && random.chance(0.05)) request.records[at] = random.uniform() * 1e5;
    else if (!isScalar && (place - LAYOUT.SCALARS) % LAYOUT.SUMMARY_LENGTH === LAYOUT.COUNT && random.chance(lost / 2)) request.records[at] = 0; // prettier-ignore
  }
  return request;
}

async function directions(
  ordinary: Lives,
  short: Lives,
  fast: Lives,
  explained: ExplainedModel,
): Promise<Demand[]> {
  const gain = async (
    lives: Lives,
    group: string,
    field: (typeof SCORE_FIELDS)[number],
  ): Promise<Float64Array> => {
    const at = EXPLANATION.contributors + CONTRIBUTORS.findIndex((entry) => entry.group === group) * SCORE_FIELDS.length + SCORE_FIELDS.indexOf(field); // prettier-ignore
    const values = new Float64Array(PEOPLE);
    for (let person = 0; person < PEOPLE; person++) {
      const before = await explained.explain(ordinary.request(person, DAY, PAST_MAX));
      const after = await explained.explain(lives.request(person, DAY, PAST_MAX));
      values[person] = (after.floats[at] ?? NaN) - (before.floats[at] ?? NaN);
    }
    return values;
  };
  const amount = await gain(short, 'sleep_amount', 'attention');
  const night = await gain(fast, 'night_heart_rate', 'stress');
  const share = (values: Float64Array, sign: number): string => `${fixed(100 * mean(values.map((value) => (sign * value >= 0 ? 1 : 0))), 1)} %`; // prettier-ignore
  return [
    demand(`a night of ${NIGHT_H} h: sleep_amount lowers attention`, `${interval(meanEstimate(amount), 2)}, of ${share(amount, -1)}`, mean(amount) < 0), // prettier-ignore
    demand(`${RISE_BPM} bpm more: night_heart_rate raises stress`, `${interval(meanEstimate(night), 2)}, of ${share(night, 1)}`, mean(night) > 0), // prettier-ignore
  ];
}
