import { FIELDS_OF_A_SESSION, PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { World } from './cohort/population.js';
import { RECORDED_DAYS, recordings } from './cohort/recordings.js';
import { rollOut, scoreDay } from './evaluation/rollout.js';
import { quantile } from './evaluation/statistics.js';
import type { ServedModel } from './served.js';

/** People who are recorded by other devices too. */
const SEED = 31;
const PEOPLE = 40_000;
const LAST = RECORDED_DAYS - 1;
const COVERAGE = 0.8;
/** Sessions that lack this many fields or more share a row: few lack more. */
const MISSING_MOST = 13;

/** How far another recording of the same days moves each score of one request. */
export interface Move {
  readonly sessions: number;
  readonly missing: number;
  /** By score, points. */
  readonly points: readonly number[];
}

/** The last of some days of people, with each number of sessions before it, beside two other recordings of the same days. */
export async function movesOf(model: ServedModel, world: World, count: number, firstId = 0): Promise<Move[]> {
  const made = recordings(world, count, firstId);
  const own = { people: made.people, days: RECORDED_DAYS, rows: made.own };
  const { targets } = await rollOut(model, own);
  const moves: Move[] = [];
  for (let sessions = 0; sessions <= PAST_MAX; sessions++) {
    const sent = await scoreDay(model, own, targets, LAST, sessions);
    for (const rows of made.others) {
      const other = await scoreDay(model, { ...own, rows }, targets, LAST, sessions);
      for (let person = 0; person < count; person++) {
        const at = (scores: Float32Array, score: number): number => scores[person * 7 + score] ?? NaN;
        const points = SCORE_FIELDS.map((_, score) => at(other, score) - at(sent, score));
        moves.push({ sessions, missing: made.missing[person * RECORDED_DAYS + LAST] ?? NaN, points });
      }
    }
  }
  return moves;
}

/** By number of sessions and of missing fields: points below the five scores, then above, between which `COVERAGE` of the moves lie. */
export async function reachTable(model: ServedModel): Promise<number[][][]> {
  const moves = await movesOf(model, new World(SEED), PEOPLE);
  const tail = (1 - COVERAGE) / 2;
  return Array.from({ length: PAST_MAX + 1 }, (_, sessions) =>
    Array.from({ length: FIELDS_OF_A_SESSION.length + 1 }, (_row, missing) => {
      const cell = moves.filter(
        (one) =>
          one.sessions === sessions &&
          Math.min(one.missing, MISSING_MOST) === Math.min(missing, MISSING_MOST),
      );
      const reach = (share: number, sign: number): number[] =>
        SCORE_FIELDS.map((_field, score) => {
          const moved = cell.map(({ points }) => points[score] ?? NaN);
          return Number(Math.max(0, sign * quantile(moved, share)).toFixed(4));
        });
      return [...reach(tail, -1), ...reach(1 - tail, 1)];
    }),
  );
}
