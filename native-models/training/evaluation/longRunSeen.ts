import { FEATURE_COUNT, featureAt, FEATURES, TARGET_COUNT } from '#acuity/contract/features.js';
import { HALF_LIFE_NIGHTS, USUAL_NIGHTS_LEAST, USUAL_VALUES_LEAST } from '#acuity/history/longRun.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import { PAST_MAX } from '#rules/fields.js';
import type { Intervention } from '../cohort/intervention.js';
import type { Plan, Population, World } from '../cohort/population.js';
import type { ServedModel } from '../served.js';
import { expectedOf, rolledColumn, SCORES, truthOf } from './context.js';
import { rollOut, type Days, type Rollout, type RolloutOptions } from './rollout.js';
import { fixed, interval, signed, type Section, type Table } from './section.js';
import { bootstrap, explained, mean, meanAbsolute, take } from './statistics.js';

/** The served network's output if the long run is mixed into its past: a trial without training. */

const DECAY = 2 ** (-1 / HALF_LIFE_NIGHTS);
const PEOPLE = 4_000;
const DAYS = 45;
const FOLLOWED = 400;
/** The heart beats faster from the night after so many on, then for so many days; well days follow. */
const USUAL_DAYS = 60;
const ILL_DAYS = 30;
const WELL_DAYS = 10;
const NIGHT_H = 4;
const SHORT_NIGHTS = 5;

/** The share of the long run in what stands in a past session, 0 the newest. */
type Share = (pastIndex: number) => { readonly vitals: number; readonly others: number };

const evenly = (share: number): Share => () => ({ vitals: share, others: share }); // prettier-ignore
const VARIANTS: readonly { readonly name: string; readonly share?: Share }[] = [
  { name: 'served' },
  { name: 'in the place of the oldest session', share: (index) => evenly(index === PAST_MAX - 1 ? 1 : 0)(index) },
  { name: 'a quarter of each session', share: evenly(0.25) },
  { name: 'half of each session', share: evenly(0.5) },
  { name: 'half of heart and breathing alone', share: () => ({ vitals: 0.5, others: 0 }) },
  { name: 'heart and breathing alone, wholly', share: () => ({ vitals: 1, others: 0 }) },
  { name: 'in the place of all five', share: evenly(1) },
]; // prettier-ignore

/** A past session in the network's input: a row, a target, and a presence flag. */
const WIDTH = FEATURE_COUNT + TARGET_COUNT + 1;
/** Which of these says that a value is known. */
const MASKS = Array.from({ length: WIDTH }, (_, index) => {
  const feature = FEATURES[index];
  return feature === undefined ? WIDTH - 1 : featureAt(`${feature.group}_known`);
});
const VITALS = FEATURES.map(({ group }) => /^(hr|rr)_/.test(group));

/**
 * Mixes the long run into past sessions: means with decay of the nights before them, as a history has it. Until that has
 * enough nights, nothing is touched.
 */
function mixing({ people, days, rows }: Days, share: Share): NonNullable<RolloutOptions['alter']> {
  const sums = new Float64Array(people.length * WIDTH);
  const counts = new Float64Array(sums.length);
  let nights = 0;
  const add = (night: number, targets: Float32Array): void => {
    nights++;
    for (let at = 0; at < sums.length; at++) {
      const cell = Math.floor(at / WIDTH) * days + night;
      const index = at % WIDTH;
      const [from, width, first] = index < FEATURE_COUNT ? [rows, FEATURE_COUNT, 0] : [targets, TARGET_COUNT, FEATURE_COUNT]; // prettier-ignore
      const value = index === WIDTH - 1 ? 1 : (from[cell * width + index - first] ?? NaN);
      sums[at] = DECAY * (sums[at] ?? NaN) + value;
      counts[at] = (counts[at] ?? NaN) + value;
    }
  };
  return (day, targets) => {
    if (day > PAST_MAX) add(day - PAST_MAX - 1, targets);
    if (nights < USUAL_NIGHTS_LEAST) return undefined;
    return (inputs, row, of) => {
      for (let pastIndex = 0; pastIndex < PAST_MAX; pastIndex++) {
        const place = row * PAST_MAX + pastIndex;
        const { vitals, others } = share(pastIndex);
        for (let index = 0; index < WIDTH - 1; index++) {
          const mask = of * WIDTH + (MASKS[index] ?? NaN);
          if ((counts[mask] ?? 0) < USUAL_VALUES_LEAST) continue;
          const part = VITALS[index] === true ? vitals : others;
          const [into, at] = index < FEATURE_COUNT ? [inputs.past, place * FEATURE_COUNT + index] : [inputs.targets, place * TARGET_COUNT + index - FEATURE_COUNT]; // prettier-ignore
          into[at] = (1 - part) * (into[at] ?? NaN) + (part * (sums[of * WIDTH + index] ?? NaN)) / (sums[mask] ?? NaN); // prettier-ignore
        }
      }
    };
  };
}

/** People's days scored by each variant, in a closed loop of its own. */
async function rollOuts(model: ServedModel, lives: Days): Promise<Rollout[]> {
  const found: Rollout[] = [];
  for (const { share } of VARIANTS) {
    found.push(await rollOut(model, lives, share === undefined ? {} : { alter: mixing(lives, share) }));
  }
  return found;
}

export async function longRunSeen(
  world: World,
  model: ServedModel,
): Promise<Pick<Section, 'tables' | 'notes'>> {
  const people = world.simulate(PEOPLE, DAYS);
  const rollouts = await rollOuts(model, people);
  return {
    tables: [accuracyTable(people, rollouts), await illnessTable(world, model)],
    notes: [
      'Illness that stays: the network sees the last five nights and not the long run, so a heart that beats faster for good is soon usual to it. Tried without training: the means of the long run, mixed into the past that the served network sees. Where they are half of heart and breathing alone, stress is explained a little better, a faster heart still stands out after thirty days, stress falls less on the first well day but comes back later, and the fifth short night stays as it was. Mixed evenly into sleep and past scores as well, they make the fifth short night too mild.',
      `None of it is served. The network was not trained on such a past, and no other point was judged with it. In the cohort stress never gets used to a faster heart: that is assumed, and “to be expected” rests on it. A device that reads higher would raise stress for as long as an illness. So a network trained with the long run of heart and breathing as one more pooled row has to decide. Where a long run has fewer than ${USUAL_NIGHTS_LEAST} nights, ${touched(rollouts)} scores differ from the served ones; requests with lists have no long run.`,
    ],
  };
}

/** How many scores differ from the served ones on days without what is usual. */
function touched([served, ...others]: readonly Rollout[]): string {
  const early = (_: number, index: number): boolean => Math.floor(index / OUTPUT_COLUMNS) % DAYS < PAST_MAX + USUAL_NIGHTS_LEAST; // prettier-ignore
  const before = served?.scores.filter(early);
  const after = others.flatMap(({ scores }) => Array.from(scores.filter(early), (score, at) => score !== before?.[at])); // prettier-ignore
  return `${after.filter(Boolean).length} of ${after.length}`;
}

function accuracyTable(people: Population, [served, ...others]: readonly Rollout[]): Table {
  const judged = { people, day: DAYS - 1 };
  if (served === undefined) throw new Error('no variant');
  const gain = (rollout: Rollout, k: number): string => {
    const [expected, before, after] = [expectedOf(judged, k), rolledColumn(served, judged, k), rolledColumn(rollout, judged, k)]; // prettier-ignore
    const share = (values: Float64Array, chosen: Int32Array): number => 100 * explained(take(expected, chosen), take(values, chosen)); // prettier-ignore
    return interval(bootstrap(PEOPLE, (chosen) => share(after, chosen) - share(before, chosen)), 2); // prettier-ignore
  };
  const share = (k: number): string => `${fixed(100 * explained(expectedOf(judged, k), rolledColumn(served, judged, k)), 2)} %`; // prettier-ignore
  const error = (rollout: Rollout) => (_: string, k: number) => fixed(meanAbsolute(truthOf(judged, k), rolledColumn(rollout, judged, k)), 2); // prettier-ignore
  return {
    caption: `The long run in the past of the served network, without training: explained share after ${DAYS - 1} nights, ${PEOPLE} people never seen, and by how many percentage points it changes [95 % interval]; beside it the mean absolute error, points`,
    header: ['long run', ...SCORES, ...SCORES.map((name) => `${name}, error`)],
    rows: [served, ...others].map((rollout, index) => [
      VARIANTS[index]?.name ?? '',
      ...SCORES.map((_, k) => (index === 0 ? share(k) : gain(rollout, k))),
      ...SCORES.map(error(rollout)),
    ]),
  };
}

const lasting = (nights: number, what: Intervention) => (day: number): Intervention =>
  day < USUAL_DAYS || day >= USUAL_DAYS + nights ? {} : what; // prettier-ignore
const faster = (bpm: number) => lasting(ILL_DAYS, { addNightHr: bpm, addDayHr: bpm });
/** What is done to people's days, and on which of them since, from 1 on, which score is read. */
const COURSES = [
  { name: '+10 bpm', score: 'stress', intervene: faster(10), at: [1, 5, 10, 30, 31, 35, 40] },
  { name: '+5 bpm', score: 'stress', intervene: faster(5), at: [30] },
  { name: `nights of ${NIGHT_H} h`, score: 'attention', intervene: lasting(SHORT_NIGHTS, { asleepH: NIGHT_H }), at: [1, SHORT_NIGHTS] }, // prettier-ignore
] as const;

async function illnessTable(world: World, model: ServedModel): Promise<Table> {
  const simulate = (plan: Plan): Population =>
    world.simulate(FOLLOWED, USUAL_DAYS + ILL_DAYS + WELL_DAYS, { isComplete: true, parameters: { deviceChange: 0 }, ...plan }); // prettier-ignore
  const plain = simulate({});
  const usually = await rollOuts(model, plain);
  const columns: string[][] = [];
  for (const { name, score, intervene, at } of COURSES) {
    const changed = simulate({ intervene });
    const after = await rollOuts(model, changed);
    const k = SCORES.indexOf(score);
    for (const since of at) {
      const day = USUAL_DAYS + since - 1;
      const when = since > ILL_DAYS ? `well day ${since - ILL_DAYS}` : `day ${since}`;
      const moved = (left: Float64Array, right: Float64Array): string => signed(mean(left) - mean(right), 1);
      const [sick, well] = [
        { people: changed, day },
        { people: plain, day },
      ];
      const said = after.map((one, index) => moved(rolledColumn(one, sick, k), rolledColumn(usually[index] ?? one, well, k))); // prettier-ignore
      columns.push([`${score}, ${name}, ${when}`, ...said, moved(expectedOf(sick, k), expectedOf(well, k))]);
    }
  }
  const [header = [], ...rows] = ['long run', ...VARIANTS.map(({ name }) => name), 'to be expected'].map(
    (name, index) => [name, ...columns.map((column) => column[index] ?? '')],
  );
  return {
    caption: `The same in ${FOLLOWED} people whose heart beats faster for ${ILL_DAYS} days after ${USUAL_DAYS} usual ones, or who sleep ${NIGHT_H} h: mean score less that of the same people unchanged`,
    header,
    rows,
  };
}
