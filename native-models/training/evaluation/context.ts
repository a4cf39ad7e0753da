import type { ExplainBundle } from '#acuity/model/bundle.js';
import type { ServedModel } from '../served.js';
import type { Population, World } from '../cohort/population.js';
import { columnOf, rollOut, type Rollout } from './rollout.js';

export const SCORES = ['attention', 'memory', 'reasoning', 'stress'] as const;
export const LABELS = ['valence', 'arousal'] as const;
/** Columns of the model's output and of the cohort's outcomes. */
export const scoreColumn = (k: number): number => 1 + k;

/** What all points share: people never seen in training, scored by each model in turn. */
export interface Context {
  readonly world: World;
  /** Of the served network: graphs, and a manifest where they are bundled. */
  readonly folder: string;
  readonly people: Population;
  /** The day that is judged: the last, with five days of history and more before it. */
  readonly day: number;
  readonly model: ServedModel;
  readonly rollout: Rollout;
  /** Scores of the judged day without history. */
  readonly alone: Float32Array;
  /** Undefined where the model folder has no graph that explains. */
  readonly explain: ExplainBundle | undefined;
  /** Those that are trained on this machine, by name. */
  readonly rivals: ReadonlyMap<string, ServedModel>;
}

export const PEOPLE = 24_000;
export const DAYS = 9;

/** What is to be expected of everybody on the judged day. */
export function expectedOf({ people, day }: Pick<Context, 'people' | 'day'>, k: number): Float64Array {
  return columnOf(people.expected, 6, k, people, day);
}

export function truthOf({ people, day }: Pick<Context, 'people' | 'day'>, k: number): Float64Array {
  return columnOf(people.truth, 6, k, people, day);
}

/** Column k of scores that hold one day: [people, 7]. */
export function dayColumn(scores: Float32Array, k: number): Float64Array {
  return Float64Array.from(
    { length: scores.length / 7 },
    (_, row) => scores[row * 7 + scoreColumn(k)] ?? NaN,
  );
}

/** Column k of the judged day out of a whole rollout. */
export function rolledColumn(
  rollout: Rollout,
  { people, day }: Pick<Context, 'people' | 'day'>,
  k: number,
): Float64Array {
  return columnOf(rollout.scores, 7, scoreColumn(k), people, day);
}

/** The last day of `population` after rolling it out: each outcome's scores over people. */
export async function lastDayScores(model: ServedModel, population: Population): Promise<Float64Array[]> {
  const rollout = await rollOut(model, population);
  const day = population.days - 1;
  return Array.from({ length: 6 }, (_, k) => columnOf(rollout.scores, 7, scoreColumn(k), population, day));
}
