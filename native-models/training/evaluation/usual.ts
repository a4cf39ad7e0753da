import { CONTRIBUTORS, EXPLANATION } from '#acuity/contract/explanation.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { HALF_LIFE_NIGHTS } from '#acuity/history/longRun.js';
import type { ExplainBundle } from '#acuity/model/bundle.js';
import type { Explanation } from '#acuity/contract/response.js';
import type { Intervention } from '../cohort/intervention.js';
import { Lives } from '../cohort/lives.js';
import type { World } from '../cohort/population.js';
import { NO_EVIDENCE } from '#acuity/pipeline/measured.js';
import { adjustmentsOf, type Adjustments } from '#acuity/pipeline/measuredRow.js';
import { Random } from '../cohort/random.js';
import { ExplainedModel } from '../explained.js';
import type { ServedModel } from '../served.js';
import type { Context } from './context.js';
import { additivity, sayOf } from './explaining.js';
import { lifesnapsLives, truthOf } from './real/lifesnapsUsual.js';
import { demand, fixed, interval, isWithin, type Demand, type Section, type Table } from './section.js';
import { mean, meanEstimate } from './statistics.js';

const PEOPLE = 1_000;
const DAYS = 45;
const DAY = DAYS - 1;
/** Of the same people, apart: days of one week are alike. */
const ORDINARY_DAYS = [30, 37, 44];
const NIGHT_H = 4;
const SHORT_NIGHTS = 5;
/** After so many usual nights the heart beats faster for good. */
const USUAL_NIGHTS = 60;
const RISE_BPM = 5;
const RISE_DAYS = [1, 5, 15, 30] as const;
const RISE_PEOPLE = 300;
const ORDINARY: readonly [low: number, high: number] = [0.08, 0.12];
const ATTENTION = SCORE_FIELDS.indexOf('attention');

const GROUPS = CONTRIBUTORS.map(({ group }) => group);

/** The float of what `group` adds to a score. */
function contributionAt(group: (typeof GROUPS)[number], score: number): number {
  return EXPLANATION.contributors + GROUPS.indexOf(group) * SCORE_FIELDS.length + score;
}

/** Point 19: what is said against usual is true of usual. */
export async function usual({ world, model, explain: bundle }: Context): Promise<Section> {
  if (bundle === undefined) throw new Error('the model folder has no graph that explains');
  const explained = await ExplainedModel.open(model, bundle.graph, bundle.table);
  const people = new UsualPeople(world, { model, explained, bundle }, PEOPLE);
  const real = await realTruth(model, explained);
  const ordinary = await people.said(undefined, ORDINARY_DAYS);
  const first = await people.said(shortNights(1), [DAY]);
  const fifth = await people.sleepAmount(shortNights(SHORT_NIGHTS));
  const plain = await people.lives(undefined);
  const random = new Random(19, 19);
  return {
    number: 19,
    title: 'Usual',
    why: 'Is what is told against usual true of what is usual for the person? The reference day is scored with the same last nights as today: `change` is what today does to the score, and what the nights before did is in `recent`. Score and groups have limits of their own, each met on one ordinary day in ten. LifeSnaps: days without a recording are left out; “told” is in whole points.',
    demands: [
      ...realDemands(real),
      demand(
        `fifth night of ${NIGHT_H} h: sleep_amount takes at least 4 points of attention`,
        interval(meanEstimate(fifth), 2),
        mean(fifth) <= -4,
      ),
      ...notableDemands(ordinary, first),
      await additivity(
        'random requests with a long run, half of them with measurements',
        (index, sessions) => {
          const request = plain.requestWithUsual(index % PEOPLE, DAY, sessions);
          return index % 2 === 0 ? request : { ...request, adjustments: randomMeasurements(random) };
        },
        explained,
        bundle,
      ),
    ],
    tables: [notableTable({ ordinary, [`first night of ${NIGHT_H} h`]: first })],
  };
}

export interface Parts {
  readonly model: ServedModel;
  readonly explained: ExplainedModel;
}

type Intervene = ((day: number) => Intervention) | undefined;

/** The last `count` of the nights are short. */
export function shortNights(count: number): Intervene {
  return (day) => (day > DAY - count ? { asleepH: NIGHT_H } : {});
}

/** People who are followed for weeks, and what is said of their days against what is usual for them. */
export class UsualPeople {
  constructor(
    private readonly world: World,
    private readonly parts: Parts & { readonly bundle: ExplainBundle },
    private readonly count: number,
  ) {}

  async lives(intervene: Intervene): Promise<Lives> {
    const lives = Lives.simulate(this.world, this.count, DAYS, intervene && { intervene });
    await lives.rollOut(this.parts.model);
    return lives;
  }

  async said(intervene: Intervene, days: readonly number[]): Promise<Explanation[]> {
    const { explained, bundle } = this.parts;
    const lives = await this.lives(intervene);
    const found: Explanation[] = [];
    for (let person = 0; person < this.count; person++) {
      for (const day of days) {
        found.push(await sayOf(explained, lives.requestWithUsual(person, day, PAST_MAX), bundle.table));
      }
    }
    return found;
  }

  /** What the amount of sleep adds to attention on the last day. */
  async sleepAmount(intervene: Intervene): Promise<Float64Array> {
    const lives = await this.lives(intervene);
    const found = new Float64Array(this.count);
    for (let person = 0; person < this.count; person++) {
      const { floats } = await this.parts.explained.explain(lives.requestWithUsual(person, DAY, PAST_MAX)); // prettier-ignore
      found[person] = floats[contributionAt('sleep_amount', ATTENTION)] ?? NaN;
    }
    return found;
  }
}

async function realTruth(model: ServedModel, explained: ExplainedModel) {
  const folder = process.env['VALIDATION_DATA'] ?? '';
  const people = folder === '' ? undefined : lifesnapsLives(folder);
  return people && truthOf(people, { model, explained }, ['last nights', HALF_LIFE_NIGHTS]);
}

type Real = Awaited<ReturnType<typeof realTruth>>;

/** Of any scores, of any size. */
function randomMeasurements(random: Random): Adjustments | undefined {
  const composite = { attention: 0.4, memory: 0.3, reasoning: 0.3 };
  return adjustmentsOf(
    () => {
      if (random.chance(0.4)) return NO_EVIDENCE;
      const precision = 4 * random.uniform();
      const weight = 0.1 + random.uniform();
      const [shares, own] = [weight * (0.05 + 0.9 * random.uniform()), precision * random.uniform()];
      return { pull: precision * random.normal(0, 1.5), precision, own, shares, weight };
    },
    { composite },
  );
}

function percent(share: number): string {
  return `${fixed(100 * share, 1)} %`;
}

function realDemands(real: Real): Demand[] {
  const chosen = real?.find(({ against }) => against === HALF_LIFE_NIGHTS);
  const nights = real?.find(({ against }) => against === 'last nights');
  if (chosen === undefined || nights === undefined) {
    return [demand('LifeSnaps: days against the own median', 'skipped: VALIDATION_DATA names no folder with it', undefined)]; // prettier-ignore
  }
  return [
    demand(
      'LifeSnaps: of days at least 5 points below the own median of the last 20 at most 10 % are told to be above usual',
      `${percent(chosen.toldBetter)} of ${chosen.worse}`,
      chosen.toldBetter <= 0.1,
      `a coin 50 %; against the last nights ${percent(nights.toldBetter)}`,
    ),
    demand(
      'LifeSnaps: correlation of `change` with that deviation at least .6',
      fixed(chosen.correlation, 2),
      chosen.correlation >= 0.6,
      `a coin 0; against the last nights ${fixed(nights.correlation, 2)}`,
    ),
  ];
}

type Named = (typeof SCORE_FIELDS)[number];

/** How often a score, or a group for it, is notable. */
export function notableShares(days: readonly Explanation[], field: Named) {
  const share = (is: (day: Explanation) => boolean): number => mean(days.map((day) => (is(day) ? 1 : 0)));
  return {
    score: share(({ scores }) => scores[field].notable),
    groups: GROUPS.map((_, index) => share(({ contributors }) => contributors[index]?.notable.includes(field) === true)), // prettier-ignore
    either: share(({ scores, contributors }) => scores[field].notable || contributors.some(({ notable }) => notable.includes(field))), // prettier-ignore
  };
}

function notableDemands(ordinary: readonly Explanation[], first: readonly Explanation[]): Demand[] {
  const shares = SCORE_FIELDS.map((field) => notableShares(ordinary, field));
  const scores = shares.map(({ score }) => score);
  const mostOfGroup = Math.max(...shares.flatMap(({ groups }) => groups));
  const [usually, short] = [notableShares(ordinary, 'attention'), notableShares(first, 'attention')];
  return [
    demand(
      'ordinary days are notable 8 to 12 times in 100, for each score',
      `${fixed(100 * Math.min(...scores), 1)} to ${fixed(100 * Math.max(...scores), 1)}`,
      scores.every((share) => isWithin(share, ...ORDINARY)),
    ),
    demand(
      'ordinary days: no group is notable for a score more than 12 times in 100',
      `${fixed(100 * mostOfGroup, 1)} at most`,
      mostOfGroup <= ORDINARY[1],
    ),
    demand(
      `a first night of ${NIGHT_H} h, after nights as people live: attention is notable, as a score or by a group, at least 50 times in 100`,
      `${fixed(100 * short.either, 1)} (score ${fixed(100 * short.score, 1)}, sleep_amount ${fixed(100 * (short.groups[0] ?? NaN), 1)})`,
      short.either >= 0.5,
      `ordinary days: ${fixed(100 * usually.either, 1)}`,
    ),
  ];
}

function notableTable(kinds: Readonly<Record<string, readonly Explanation[]>>): Table {
  return {
    caption: 'Notable against usual, times in 100, with five past sessions',
    header: ['day', 'score', 'the score itself', ...GROUPS, 'either'],
    rows: Object.entries(kinds).flatMap(([name, days]) =>
      SCORE_FIELDS.map((field) => {
        const { score, groups, either } = notableShares(days, field);
        return [name, field, ...[score, ...groups, either].map((share) => fixed(100 * share, 1))];
      }),
    ),
  };
}

/**
 * What the heart by night adds to stress on each of `RISE_DAYS`, less what it adds in the same people unchanged: [days,
 * people].
 */
export async function raisedHeart(
  world: World,
  { model, explained }: Parts,
  count: number,
): Promise<Float64Array[]> {
  const days = USUAL_NIGHTS + Math.max(...RISE_DAYS);
  const rise: Intervention = { addNightHr: RISE_BPM, addDayHr: RISE_BPM };
  const raised = Lives.simulate(world, count, days, { intervene: (day) => (day < USUAL_NIGHTS ? {} : rise) });
  const plain = Lives.simulate(world, count, days);
  const at = contributionAt('night_heart_rate', SCORE_FIELDS.indexOf('stress'));
  for (const lives of [raised, plain]) await lives.rollOut(model);
  const added = async (lives: Lives, person: number, day: number): Promise<number> =>
    (await explained.explain(lives.requestWithUsual(person, day, PAST_MAX))).floats[at] ?? NaN;
  const found: Float64Array[] = [];
  for (const riseDay of RISE_DAYS) {
    const day = USUAL_NIGHTS + riseDay - 1;
    const gains = new Float64Array(count);
    for (let person = 0; person < count; person++) {
      gains[person] = (await added(raised, person, day)) - (await added(plain, person, day));
    }
    found.push(gains);
  }
  return found;
}

/** Of point 18. */
export async function raisedHeartDemand({ world, model, explain: bundle }: Context): Promise<Demand> {
  const what = `+${RISE_BPM} bpm for 30 days after ${USUAL_NIGHTS} usual nights, with a history: on day 30 night_heart_rate still adds at least 1 point of stress against usual`;
  if (bundle === undefined) return demand(what, 'no graph that explains', undefined);
  const explained = await ExplainedModel.open(model, bundle.graph, bundle.table);
  const last = (await raisedHeart(world, { model, explained }, RISE_PEOPLE)).at(-1) ?? new Float64Array();
  return demand(what, interval(meanEstimate(last), 2), mean(last) >= 1);
}
