import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CONTRIBUTORS, EXPLANATION } from '#acuity/contract/explanation.js';
import { FEATURES, FEATURE_COUNT, featureAt } from '#acuity/contract/features.js';
import { PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { EXPLAIN_TABLE, type Manifest } from '#acuity/model/manifest.js';
import { TYPICAL_FEATURES } from '#acuity/contract/explanation.js';
import type { ExplainTable, Limits, Typical } from '#acuity/model/explainTable.js';
import type { PredictionRequest } from '#acuity/records/request.js';
import { Lives } from './cohort/lives.js';
import { World, type Population } from './cohort/population.js';
import { columnOf, rollOut, scoreDay } from './evaluation/rollout.js';
import { quantile, rms, variance } from './evaluation/statistics.js';
import { ExplainedModel } from './explained.js';
import { ServedModel } from './served.js';

/** Writes `explain.json`: typical values, limits for notable changes, and the explained shares. */

const SEED = 33;
const MANIFEST = 'manifest.json';
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
const COMPOSITE_PEOPLE = 8_000;
const COMPOSITE_DAYS = 7;
/** Of attention, memory and reasoning; C_SCORE is computed so in the graph. */
const COMPOSITE = [0.4, 0.3, 0.3];
/** Confidence by the widest range, in points; see docs/EXPLAIN.md. */
const WIDTHS = { high: 8, medium: 10 };

async function write(graphs: string, explain: string, card: string): Promise<void> {
  const { pooling } = readJson(poolingFile(explain)) as Pick<ExplainTable, 'pooling'>;
  const world = new World(SEED);
  const typical = typicalDays(world.simulate(TYPICAL_PEOPLE, TYPICAL_DAYS, { isComplete: true }));
  const model = await ServedModel.open(graphs);
  const explained = await ExplainedModel.open(model, join(explain, 'explain.onnx'), { typical, pooling });
  const lives = Lives.simulate(world, ORDINARY_PEOPLE, ORDINARY_DAYS);
  await lives.rollOut(model);
  const long = Lives.simulate(world, USUAL_PEOPLE, USUAL_DAYS);
  await long.rollOut(model);
  const people = (count: number): number[] => Array.from({ length: count }, (_, person) => person);
  const lastDays = Array.from({ length: JUDGED_DAYS }, (_, index) => ORDINARY_DAYS - JUDGED_DAYS + index);
  const table: ExplainTable = {
    typical,
    pooling,
    notable: {
      lastNights: await limits(explained, people(ORDINARY_PEOPLE), lastDays, (person, day, sessions) =>
        lives.request(person, day, sessions),
      ),
      usual: await limits(explained, people(USUAL_PEOPLE), USUAL_JUDGED, (person, day, sessions) =>
        long.requestWithUsual(person, day, sessions),
      ),
    },
    explained: await shares(model, world, card),
    widths: WIDTHS,
  };
  writeTable(explain, `${JSON.stringify(table)}\n`);
}

/** The fitting's output; without it, for a bundle that exists already, the table in the bundle. */
function poolingFile(explain: string): string {
  const training = join(explain, 'explain-training.json');
  return existsSync(training) ? training : join(explain, EXPLAIN_TABLE);
}

/** Updates a bundle's manifest for the new table. */
function writeTable(folder: string, text: string): void {
  writeFileSync(join(folder, EXPLAIN_TABLE), text);
  const path = join(folder, MANIFEST);
  if (!existsSync(path)) return;
  const manifest = readJson(path) as Manifest;
  const files = { ...manifest.files, [EXPLAIN_TABLE]: createHash('sha256').update(text).digest('hex') };
  writeFileSync(path, `${JSON.stringify({ ...manifest, files }, null, 2)}\n`);
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
  explained: ExplainedModel,
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
        const { scores, floats } = await explained.explain(requestOf(person, day, sessions));
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

/** Of the four scores from the card's first point; of the composite, which the card's point 15 tells, by the same measure. */
async function shares(model: ServedModel, world: World, card: string): Promise<ExplainTable['explained']> {
  const text = readFileSync(card, 'utf8');
  const rowOf = (name: string): number[] => {
    const line = text.split('\n').find((row) => row.startsWith(`| served, ${name} |`)) ?? '';
    const found = line
      .split('|')
      .slice(2, 6)
      .map((cell) => Math.max(0, Number.parseFloat(cell)));
    if (found.length !== 4 || found.some(Number.isNaN))
      throw new Error(`${card} tells no explained share of ${name}`);
    return found;
  };
  const composite = await compositeShare(model, world);
  return {
    alone: [composite.alone, ...rowOf('no history')].map((value) => round(value, 3)),
    history: [composite.history, ...rowOf('five sessions')].map((value) => round(value, 3)),
  };
}

/** Share of the variance of the composite of three percentiles that C_SCORE explains; see `explained`. */
async function compositeShare(
  model: ServedModel,
  world: World,
): Promise<{ readonly alone: number; readonly history: number }> {
  const people = world.simulate(COMPOSITE_PEOPLE, COMPOSITE_DAYS);
  const rollout = await rollOut(model, people);
  const day = COMPOSITE_DAYS - 1;
  const composite = (values: Float32Array): Float64Array =>
    COMPOSITE.map((weight, k) => columnOf(values, 6, k, people, day).map((value) => weight * value)).reduce(
      (sum, part) => sum.map((value, index) => value + (part[index] ?? NaN)),
    );
  const expected = composite(people.expected);
  const happened = variance(composite(people.truth));
  const share = (predicted: Float64Array): number =>
    Math.max(0, (variance(expected) - rms(expected, predicted) ** 2) / happened);
  const alone = await scoreDay(model, people, rollout.targets, day, 0);
  return {
    alone: share(Float64Array.from(people.people, (_, person) => alone[person * 7] ?? NaN)),
    history: share(columnOf(rollout.scores, 7, 0, people, day)),
  };
}

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

const { values } = parseArgs({
  options: {
    graphs: { type: 'string' },
    explain: { type: 'string' },
    card: { type: 'string', default: 'native-models/acuity-base/MODEL_CARD_APPENDIX.md' },
  },
});
if (values.graphs === undefined || values.explain === undefined) {
  throw new Error('usage: explainTable.js --graphs DIR --explain DIR [--card FILE]');
}
await write(values.graphs, values.explain, values.card);
