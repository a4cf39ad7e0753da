import { CONTRIBUTORS, EXPLANATION, TYPICAL_FEATURES } from '#acuity/contract/explanation.js';
import { FEATURES, FEATURE_COUNT, featureAt } from '#acuity/contract/features.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import type { ExplainTable, Limits, Typical } from '#acuity/model/manifest.js';
import type { PredictionRequest } from '#acuity/night/request.js';
import { Lives } from './cohort/lives.js';
import { World, type Population } from './cohort/population.js';
import { lastDay, lastOutcomes } from './evaluation/rollout.js';
import { quantile, rms, variance } from './evaluation/statistics.js';
import { reachTable } from './ranges.js';
import { POOLING } from './recency.js';
import type { Explain, ServedModel } from './served.js';

const SEED = 33;
const TYPICAL_PEOPLE = 8_000;
const TYPICAL_DAYS = 2;
const AGES = Array.from({ length: 14 }, (_, index) => 20 + 5 * index);
/** Weight between ages: a bell curve of this width, in years. */
const AGE_SD = 3;
const ORDINARY_PEOPLE = 2_500;
const ORDINARY_DAYS = 9;
/** The number of last days compared with what is usual. */
const JUDGED_DAYS = 4;
const NOTABLE_SHARE = 0.9;
/** A group's contribution below this many points is never worth a mention, however rare. */
const GROUP_LEAST = 1;
/** Enough days for a long run; the judged days are apart, since days of one week are alike. */
const USUAL_PEOPLE = 1_500;
const USUAL_DAYS = 60;
const USUAL_JUDGED = [38, 45, 52, 59];
const SHARES_PEOPLE = 24_000;
const SHARES_DAYS = 7;
/** Of attention, memory and reasoning; C_SCORE is computed so in the graph. */
export const COMPOSITE = { attention: 0.4, memory: 0.3, reasoning: 0.3 };
/** Confidence by the widest range, in points; see docs/EXPLAIN.md. */
const WIDTHS = { high: 8, medium: 10 };

/** What a network's scores are explained by: typical days, ranges, limits for notable changes, explained shares. */
export async function explainTable(model: ServedModel): Promise<ExplainTable> {
  const world = new World(SEED);
  const typical = typicalDays(world.simulate(TYPICAL_PEOPLE, TYPICAL_DAYS, { isComplete: true }));
  const setup = { typical, pooling: POOLING, reach: await reachTable(model) };
  const explain = model.explainer(setup);
  const lives = Lives.simulate(world, ORDINARY_PEOPLE, ORDINARY_DAYS);
  await lives.rollOut(model);
  const long = Lives.simulate(world, USUAL_PEOPLE, USUAL_DAYS);
  await long.rollOut(model);
  const people = (count: number): number[] => Array.from({ length: count }, (_, person) => person);
  const lastDays = Array.from({ length: JUDGED_DAYS }, (_, index) => ORDINARY_DAYS - JUDGED_DAYS + index);
  return {
    ...setup,
    notable: {
      lastNights: await limits(explain, people(ORDINARY_PEOPLE), lastDays, (person, day, sessions) =>
        lives.request(person, day, sessions),
      ),
      usual: await limits(explain, people(USUAL_PEOPLE), USUAL_JUDGED, (person, day, sessions) =>
        long.requestWithUsual(person, day, sessions),
      ),
    },
    explained: await shares(model, world),
    widths: WIDTHS,
  };
}

function typicalDays(population: Population): Typical {
  const of = (sex: 'M' | 'F', weightOf: (age: number) => number): number[] =>
    meanDay(population, sex, weightOf);
  const at = (sex: 'M' | 'F'): number[][] =>
    AGES.map((age) => of(sex, (other) => Math.exp(-0.5 * ((other - age) / AGE_SD) ** 2)));
  return { ages: AGES, M: at('M'), F: at('F'), anyAge: { M: of('M', () => 1), F: of('F', () => 1) } };
}

/** Means of what is known, in the units of the catalogue. */
function meanDay(
  { people, days, rows }: Population,
  sex: 'M' | 'F',
  weightOf: (age: number) => number,
): number[] {
  return TYPICAL_FEATURES.map((name) => {
    const feature = featureAt(name);
    const { centre = 0, scale = 1 } = FEATURES[feature] ?? {};
    let sum = 0;
    let total = 0;
    people.forEach((person, index) => {
      if (person.sex !== sex) return;
      const weight = weightOf(person.age);
      for (let day = 0; day < days; day++) {
        const at = (index * days + day) * FEATURE_COUNT + feature;
        const known = weight * (rows[at - 1] ?? 0); // its mask is directly before it
        sum += known * (rows[at] ?? 0);
        total += known;
      }
    });
    return round(centre + (scale * sum) / total, 4);
  });
}

/** By number of sessions: how far nine ordinary days in ten stay from their reference, and what groups add on them. */
async function limits(
  explain: Explain,
  people: readonly number[],
  days: readonly number[],
  requestOf: (person: number, day: number, sessions: number) => PredictionRequest,
): Promise<Limits> {
  const found: Limits = { changes: [], groups: [] };
  for (let sessions = 0; sessions <= PAST_MAX; sessions++) {
    const changes = SCORE_FIELDS.map((): number[] => []);
    const groups = CONTRIBUTORS.map(() => SCORE_FIELDS.map((): number[] => []));
    for (const person of people) {
      for (const day of days) {
        const { scores, floats } = await explain(requestOf(person, day, sessions));
        SCORE_FIELDS.forEach((_, score) => {
          const reference = round(floats[EXPLANATION.reference + score] ?? NaN, 2);
          changes[score]?.push(Math.abs(round(scores[score] ?? NaN, 2) - reference));
          groups.forEach((scoresOf, group) => {
            const at = EXPLANATION.contributors + group * SCORE_FIELDS.length + score;
            scoresOf[score]?.push(Math.abs(floats[at] ?? NaN));
          });
        });
      }
    }
    found.changes.push(changes.map(limitOf));
    found.groups.push(groups.map((scoresOf) => scoresOf.map((points) => Math.max(GROUP_LEAST, limitOf(points))))); // prettier-ignore
  }
  return found;
}

function limitOf(points: readonly number[]): number {
  return round(quantile(points, NOTABLE_SHARE), 2);
}

/** Share of the variance of what happens that each score explains, C_SCORE first; see `explained`. */
async function shares(model: ServedModel, world: World): Promise<ExplainTable['explained']> {
  const people = world.simulate(SHARES_PEOPLE, SHARES_DAYS);
  const scored = await lastDay(model, people);
  const happened = withComposite(lastOutcomes(people.truth, people));
  const expected = withComposite(scored.expected);
  const sharesOf = (scores: readonly Float64Array[]): number[] =>
    withComposite(scores).map((predicted, k) => {
      const [wanted, values] = [expected[k] ?? new Float64Array(), happened[k] ?? new Float64Array()];
      return round(Math.max(0, (variance(wanted) - rms(wanted, predicted) ** 2) / variance(values)), 3);
    });
  return { alone: sharesOf(scored.alone), history: sharesOf(scored.together) };
}

/** C_SCORE before the four scores. */
function withComposite(outcomes: readonly Float64Array[]): Float64Array[] {
  const scores = outcomes.slice(0, SCORE_FIELDS.length - 1);
  const composite = (scores[0] ?? new Float64Array()).map((_, person) =>
    Object.values(COMPOSITE).reduce((sum, weight, k) => sum + weight * (scores[k]?.[person] ?? NaN), 0),
  );
  return [composite, ...scores];
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
