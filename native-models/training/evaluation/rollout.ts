import { FEATURE_COUNT, TARGET_CENTRE, TARGET_COUNT, TARGET_SCALE } from '#acuity/contract/features.js';
import { LABEL_FIELDS, PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import type { ScoreRecord } from '#acuity/contract/request.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import type { Inputs } from '#acuity/worker/session.js';
import { recordOf, type ServedModel } from '../served.js';
import type { Population } from '../cohort/population.js';

/** As much of people’s days as scoring them needs. */
export type Days = Pick<Population, 'people' | 'days' | 'rows'>;

/** Scores of people × days: [people, days, 7], and the same as past targets. */
export interface Rollout {
  readonly scores: Float32Array;
  readonly targets: Float32Array;
}

/** One row for the history graph: a person's day, seen with up to `sessions` of the days before it. */
export interface View {
  readonly person: number;
  readonly day: number;
  readonly sessions: number;
}

export interface RolloutOptions {
  /** Most past sessions; 0 scores each day alone. */
  readonly sessions?: number;
  /** A target to send back for everybody's day instead of its scores. */
  readonly forge?: (day: number) => readonly number[] | undefined;
  /** Past targets from elsewhere: nothing is fed back. */
  readonly targets?: Float32Array;
  /**
   * Called once a day, oldest first, with the targets so far: returns a change of that day's rows, made before they
   * are scored.
   */
  readonly alter?: (day: number, targets: Float32Array) => Alter | undefined;
}

/** Changes row `row` of the inputs, that of `person`. */
export type Alter = (inputs: Inputs, row: number, person: number) => void;

/** Scores day after day and feeds each day's scores to the next, as callers do. */
export async function rollOut(
  model: ServedModel,
  population: Days,
  options: RolloutOptions = {},
): Promise<Rollout> {
  const { days } = population;
  const count = population.people.length;
  const rollout = {
    scores: new Float32Array(count * days * OUTPUT_COLUMNS),
    targets: new Float32Array(count * days * TARGET_COUNT),
  };
  for (let day = 0; day < days; day++) {
    const sessions = Math.min(day, options.sessions ?? PAST_MAX);
    const targets = options.targets ?? rollout.targets;
    const scores = await scoreDay(model, population, targets, day, sessions, options.alter?.(day, targets));
    for (let person = 0; person < count; person++) {
      const cell = person * days + day;
      rollout.scores.set(
        scores.subarray(person * OUTPUT_COLUMNS, (person + 1) * OUTPUT_COLUMNS),
        cell * OUTPUT_COLUMNS,
      );
      writeTarget(recordOf(scores, person * OUTPUT_COLUMNS), rollout.targets, cell * TARGET_COUNT);
      const forged = options.forge?.(day);
      if (forged !== undefined) rollout.targets.set(forged, cell * TARGET_COUNT);
    }
  }
  return rollout;
}

/** A score record on the scale of the rows. */
export function writeTarget(target: ScoreRecord, into: Float32Array, offset: number): void {
  let at = offset;
  for (const field of SCORE_FIELDS) into[at++] = (target[field] - TARGET_CENTRE) / TARGET_SCALE;
  for (const field of LABEL_FIELDS) into[at++] = target[field] === 'High' ? 1 : -1;
}

/** Scores everybody's day `day` with `sessions` sessions before it and the given past targets; [people, 7]. */
export async function scoreDay(
  model: ServedModel,
  population: Days,
  targets: Float32Array,
  day: number,
  sessions: number,
  alter?: Alter,
): Promise<Float32Array> {
  return model.scoreRows(
    sessions > 0 ? 'history' : 'base',
    population.people.length,
    (inputs, row, person) => {
      fill(inputs, row, population, targets, { person, day, sessions });
      alter?.(inputs, row, person);
    },
  );
}

function fill(inputs: Inputs, row: number, population: Days, targets: Float32Array, view: View): void {
  const { rows, days } = population;
  const cell = view.person * days + view.day;
  inputs.session.set(rows.subarray(cell * FEATURE_COUNT, (cell + 1) * FEATURE_COUNT), row * FEATURE_COUNT);
  for (let pastIndex = 0; pastIndex < view.sessions; pastIndex++) {
    const from = cell - 1 - pastIndex;
    const place = row * PAST_MAX + pastIndex;
    inputs.past.set(rows.subarray(from * FEATURE_COUNT, (from + 1) * FEATURE_COUNT), place * FEATURE_COUNT);
    inputs.targets.set(
      targets.subarray(from * TARGET_COUNT, (from + 1) * TARGET_COUNT),
      place * TARGET_COUNT,
    );
    inputs.present[place] = 1;
  }
}

/** What happened, as past targets: the true percentiles and labels. */
export function truthTargets(population: Population): Float32Array {
  const cells = population.people.length * population.days;
  const targets = new Float32Array(cells * TARGET_COUNT);
  for (let cell = 0; cell < cells; cell++) {
    const truth = population.truth.subarray(cell * 6, cell * 6 + 6);
    const composite = 0.4 * (truth[0] ?? 0) + 0.3 * (truth[1] ?? 0) + 0.3 * (truth[2] ?? 0);
    const numbers = [composite, ...truth.subarray(0, 4)].map(
      (score) => (score - TARGET_CENTRE) / TARGET_SCALE,
    );
    const labels = [...truth.subarray(4)].map((label) => (label > 0 ? 1 : -1));
    targets.set([...numbers, ...labels], cell * TARGET_COUNT);
  }
  return targets;
}

/** Column `column` of everybody's day `day`. */
export function columnOf(
  values: Float32Array,
  width: number,
  column: number,
  population: Population,
  day: number,
): Float64Array {
  const { days } = population;
  return Float64Array.from(
    population.people,
    (_, person) => values[(person * days + day) * width + column] ?? NaN,
  );
}
