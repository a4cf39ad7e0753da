import { FIELDS_OF_A_SESSION, PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import { ordinaryGaps, recordings, withhold } from '../cohort/recordings.js';
import type { ExplainedModel } from '../explained.js';
import type { Context } from './context.js';
import { rollOut, scoreDay, type Days } from './rollout.js';
import { demand, fixed, isWithin, type Demand, type Table } from './section.js';
import { mean } from './statistics.js';

/** The part of point 15 on ranges: how often another recording of the same days falls into them. */

const PEOPLE = 10_000;
const DAYS = 7;
const LAST = DAYS - 1;
const TAKES = 2;
/** People outside the trainer's: another range of ids. */
const FIRST_ID = 500_000;
const COVERED: readonly [low: number, high: number] = [0.77, 0.83];
const SESSIONS = [0, 1, 5];
const MISSING = [0, 4, 8];

/** One score of one request, as sent and as another device would have had it. */
interface Move {
  readonly score: number;
  readonly sessions: number;
  readonly missing: number;
  readonly isWithin: boolean;
  readonly width: number;
}

export async function ranges(
  context: Context,
  explained: ExplainedModel,
): Promise<{ readonly demands: readonly Demand[]; readonly table: Table }> {
  const moves = await movesOf(context, explained);
  const groups: [string, Move[]][] = [
    ['all requests', moves],
    ...SESSIONS.map((count): [string, Move[]] => [`${count} sessions`, moves.filter(({ sessions }) => sessions === count)]), // prettier-ignore
    ...MISSING.map((count): [string, Move[]] => [`${count} fields missing`, moves.filter(({ missing }) => missing === count)]), // prettier-ignore
  ];
  const byScore = (of: readonly Move[]) =>
    SCORE_FIELDS.map((_, score) => {
      const chosen = of.filter((move) => move.score === score);
      return { held: chosen.filter((move) => move.isWithin).length / chosen.length, width: mean(chosen.map(({ width }) => width)) }; // prettier-ignore
    });
  const found = groups.map(([name, of]) => ({ name, of: byScore(of) }));
  return {
    demands: found.map(({ name, of }) => {
      const shares = of.map(({ held }) => held);
      return demand(
        `ranges hold 77 to 83 times in 100, ${name}`,
        SCORE_FIELDS.map((field, score) => `${field} ${fixed(100 * (shares[score] ?? NaN), 1)}`).join(', '),
        shares.every((share) => isWithin(share, ...COVERED)),
      );
    }),
    table: {
      caption: 'Mean width of the ranges, points',
      header: ['', ...SCORE_FIELDS],
      rows: found.map(({ name, of }) => [name, ...of.map(({ width }) => fixed(width, 1))]),
    },
  };
}

async function movesOf({ world, model }: Context, explained: ExplainedModel): Promise<Move[]> {
  const made = recordings(world, {
    count: PEOPLE,
    withheld: ordinaryGaps(world.seed),
    days: DAYS,
    takes: TAKES,
    firstId: FIRST_ID,
  });
  withhold(made);
  const own: Days = { people: made.people, days: DAYS, rows: made.own };
  const { targets } = await rollOut(model, own);
  const moves: Move[] = [];
  const reaches = new Map<number, Float32Array>();
  for (let sessions = 0; sessions <= PAST_MAX; sessions++) {
    const sent = await scoreDay(model, own, targets, LAST, sessions);
    for (const rows of made.others) {
      const other = await scoreDay(model, { ...own, rows }, targets, LAST, sessions);
      for (let person = 0; person < PEOPLE; person++) {
        const missing = Math.min(FIELDS_OF_A_SESSION.length, made.missing[person * DAYS + LAST] ?? 0);
        const cell = sessions * 100 + missing;
        const reach = reaches.get(cell) ?? (await explained.reach(sessions, missing)).slice();
        reaches.set(cell, reach);
        for (const score of SCORE_FIELDS.keys()) {
          const moved = (other[person * 7 + score] ?? NaN) - (sent[person * 7 + score] ?? NaN);
          const [below = NaN, above = NaN] = [reach[score], reach[SCORE_FIELDS.length + score]];
          moves.push({ score, sessions, missing, isWithin: moved >= -below && moved <= above, width: below + above }); // prettier-ignore
        }
      }
    }
  }
  return moves;
}
