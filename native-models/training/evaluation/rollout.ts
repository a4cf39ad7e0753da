import { FEATURE_COUNT, TARGET_CENTRE, TARGET_COUNT, TARGET_SCALE } from '#acuity/contract/features.js';
import { LABEL_FIELDS, PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import { OUTCOME_COUNT } from '../cohort/effects.js';
import type { Population } from '../cohort/population.js';
import { recordOf, type ServedModel } from '../served.js';

/** As much of people’s days as scoring them needs. */
export type Days = Pick<Population, 'people' | 'days' | 'rows'>;

/** Scores of people × days: [people, days, 7], and the same as past targets. */
export interface Rollout {
  readonly scores: Float32Array;
  readonly targets: Float32Array;
}

/** Scores day after day and feeds each day's scores to the next, as callers do. */
export async function rollOut(model: ServedModel, population: Days): Promise<Rollout> {
  const { days } = population;
  const count = population.people.length;
  const scores = new Float32Array(count * days * OUTPUT_COLUMNS);
  const targets = new Float32Array(count * days * TARGET_COUNT);
  for (let day = 0; day < days; day++) {
    const found = await scoreDay(model, population, targets, day, Math.min(day, PAST_MAX));
    for (let person = 0; person < count; person++) {
      const [from, cell] = [person * OUTPUT_COLUMNS, person * days + day];
      scores.set(found.subarray(from, from + OUTPUT_COLUMNS), cell * OUTPUT_COLUMNS);
      writeTarget(found, from, targets, cell * TARGET_COUNT);
    }
  }
  return { scores, targets };
}

/** A row of scores as a caller sends it back, on the scale of the rows. */
function writeTarget(scores: Float32Array, from: number, into: Float32Array, offset: number): void {
  const record = recordOf(scores, from);
  let at = offset;
  for (const field of SCORE_FIELDS) into[at++] = (record[field] - TARGET_CENTRE) / TARGET_SCALE;
  for (const field of LABEL_FIELDS) into[at++] = record[field] === 'High' ? 1 : -1;
}

/** Scores everybody's day `day` with `sessions` sessions before it and the given past targets; [people, 7]. */
export async function scoreDay(
  model: ServedModel,
  { people, days, rows }: Days,
  targets: Float32Array,
  day: number,
  sessions: number,
): Promise<Float32Array> {
  const rowOf = (cell: number) => rows.subarray(cell * FEATURE_COUNT, (cell + 1) * FEATURE_COUNT);
  return model.scoreRows(sessions > 0 ? 'history' : 'base', people.length, (inputs, row, person) => {
    const cell = person * days + day;
    inputs.session.set(rowOf(cell), row * FEATURE_COUNT);
    for (let pastIndex = 0; pastIndex < sessions; pastIndex++) {
      const from = cell - 1 - pastIndex;
      const place = row * PAST_MAX + pastIndex;
      inputs.past.set(rowOf(from), place * FEATURE_COUNT);
      inputs.targets.set(
        targets.subarray(from * TARGET_COUNT, (from + 1) * TARGET_COUNT),
        place * TARGET_COUNT,
      );
      inputs.present[place] = 1;
    }
  });
}

/** Everybody's last day, by outcome: what is said of it without and with the days before it, and what is to be expected. */
export interface LastDay {
  readonly alone: readonly Float64Array[];
  readonly together: readonly Float64Array[];
  readonly expected: readonly Float64Array[];
  readonly targets: Float32Array;
}

export async function lastDay(model: ServedModel, population: Population): Promise<LastDay> {
  const { scores, targets } = await rollOut(model, population);
  const day = population.days - 1;
  return {
    alone: outcomesOf(await scoreDay(model, population, targets, day, 0)),
    together: outcomesOf(dayOf(scores, OUTPUT_COLUMNS, population, day)),
    expected: lastOutcomes(population.expected, population),
    targets,
  };
}

/** The outcomes of rows of scores [people, 7]: attention, memory, reasoning, stress, chances of High valence and arousal. */
export function outcomesOf(scores: Float32Array): Float64Array[] {
  return columns(scores, OUTPUT_COLUMNS, 1);
}

/** Everybody's last day of [people, days, outcomes], by outcome. */
export function lastOutcomes(values: Float32Array, population: Days): Float64Array[] {
  return columns(dayOf(values, OUTCOME_COUNT, population, population.days - 1), OUTCOME_COUNT, 0);
}

/** Everybody's day `day` out of [people, days, width]: [people, width]. */
function dayOf(values: Float32Array, width: number, { people, days }: Days, day: number) {
  const found = new Float32Array(people.length * width);
  for (const person of people.keys()) {
    const from = (person * days + day) * width;
    found.set(values.subarray(from, from + width), person * width);
  }
  return found;
}

/** Columns `first` to `first + 5` of [people, width]. */
function columns(values: Float32Array, width: number, first: number): Float64Array[] {
  return Array.from({ length: OUTCOME_COUNT }, (_, k) =>
    Float64Array.from(
      { length: values.length / width },
      (_row, row) => values[row * width + first + k] ?? NaN,
    ),
  );
}
