import { FIELDS_OF_A_SESSION, PAST_MAX, SCORE_FIELDS } from '#rules/fields.js';
import type { World } from '../cohort/population.js';
import { Random } from '../cohort/random.js';
import {
  chosenFields,
  ordinaryGaps,
  recordings,
  withhold,
  type RecordingOptions,
} from '../cohort/recordings.js';
import type { ExplainedModel } from '../explained.js';
import type { ServedModel } from '../served.js';
import { rollOut, scoreDay, type Days } from './rollout.js';
import { plot } from './plot.js';
import { demand, fixed, isWithin, type Demand, type Figure, type Table } from './section.js';
import { mean, quantile } from './statistics.js';

/** The part of point 15 on ranges: how often another recording of the same days falls into them. */

const PEOPLE = 10_000;
/** People who each lack an exact number of fields. */
const EXACT_PEOPLE = 1_500;
const DAYS = 7;
const TAKES = 2;
const DAY = DAYS - 1;
/** People outside the trainer's: another range of ids. */
const FIRST_ID = 500_000;
const COVERED: readonly [low: number, high: number] = [0.77, 0.83];
const SESSIONS = [0, 1, 5];
const MISSING = [0, 4, 8];
const ALL_SESSIONS = Array.from({ length: PAST_MAX + 1 }, (_, count) => count);
const ALL_MISSING = Array.from({ length: 14 }, (_, count) => count);
const MISS = 10; // a point beyond a range of 80 % costs 2 / 0.2

/** One score of one request, as sent and as another device would have had it. */
interface Move {
  readonly score: number;
  readonly sessions: number;
  readonly missing: number;
  readonly moved: number;
  readonly below: number;
  readonly above: number;
}

export interface Repeatability {
  readonly demands: readonly Demand[];
  readonly tables: readonly Table[];
  readonly figures: readonly Figure[];
}

export async function repeatability(
  world: World,
  model: ServedModel,
  explained: ExplainedModel,
): Promise<Repeatability> {
  const moves = await movesOf(world, model, explained, { count: PEOPLE, withheld: ordinaryGaps(world.seed) });
  const by = (name: string, chosen: (move: Move) => boolean): Demand[] => {
    const shares = SCORE_FIELDS.map((_, score) =>
      coverage(moves.filter((move) => move.score === score && chosen(move))),
    );
    const all = shares.every((share) => isWithin(share, ...COVERED));
    return [demand(`ranges hold 77 to 83 times in 100, ${name}`, percents(shares), all)];
  };
  const exact: string[][] = [];
  for (const missing of MISSING) {
    const left = await movesOf(world, model, explained, {
      count: EXACT_PEOPLE,
      withheld: exactly(world.seed, missing),
      isComplete: true,
    });
    exact.push([
      `${missing} left out of whole recordings`,
      ...perScore(left, coverage).map((share) => fixed(100 * share, 1)),
    ]);
  }
  return {
    demands: [
      ...by('by score', () => true),
      ...SESSIONS.flatMap((count) => by(`${count} sessions`, ({ sessions }) => sessions === count)),
      ...MISSING.flatMap((count) => by(`${count} fields missing`, ({ missing }) => missing === count)),
    ],
    tables: [
      tableBy(moves, 'past sessions', ALL_SESSIONS, ({ sessions }) => sessions),
      tableBy(moves, 'missing fields', ALL_MISSING, ({ missing }) => missing),
      tableByScore(moves),
      {
        caption: 'Where a caller never sends certain fields of a device that has all: coverage in percent',
        header: ['', ...SCORE_FIELDS],
        rows: exact,
      },
    ],
    figures: [
      figureBy(moves, 'sessions', {
        of: ({ sessions }) => sessions,
        counts: ALL_SESSIONS,
        x: 'past sessions',
      }),
      figureBy(moves, 'missing', { of: ({ missing }) => missing, counts: ALL_MISSING, x: 'missing fields' }),
      coverageFigure(moves),
    ],
  };
}

async function movesOf(
  world: World,
  model: ServedModel,
  explained: ExplainedModel,
  asked: Pick<RecordingOptions, 'count' | 'withheld' | 'isComplete'>,
): Promise<Move[]> {
  const made = recordings(world, { ...asked, days: DAYS, takes: TAKES, firstId: FIRST_ID });
  withhold(made);
  const own: Days = { people: made.people, days: DAYS, rows: made.own };
  const { targets } = await rollOut(model, own);
  const moves: Move[] = [];
  const reaches = new Map<number, Float32Array>();
  for (let sessions = 0; sessions <= PAST_MAX; sessions++) {
    const sent = await scoreDay(model, own, targets, DAY, sessions);
    for (const rows of made.others) {
      const other = await scoreDay(model, { ...own, rows }, targets, DAY, sessions);
      for (let person = 0; person < asked.count; person++) {
        const missing = Math.min(FIELDS_OF_A_SESSION.length, made.missing[person * DAYS + DAY] ?? 0);
        const cell = sessions * 100 + missing;
        const reach = reaches.get(cell) ?? (await explained.reach(sessions, missing)).slice();
        reaches.set(cell, reach);
        SCORE_FIELDS.forEach((_, score) => {
          const at = person * 7 + score;
          const moved = (other[at] ?? NaN) - (sent[at] ?? NaN);
          const [below = NaN, above = NaN] = [reach[score], reach[SCORE_FIELDS.length + score]];
          moves.push({ score, sessions, missing, moved, below, above });
        });
      }
    }
  }
  return moves;
}

/** Everybody leaves out this many fields, the same ones every day. */
function exactly(seed: number, count: number): RecordingOptions['withheld'] {
  const random = new Random();
  return (id) => {
    random.reseed(seed, id, count, 211);
    return chosenFields(count, random);
  };
}

function coverage(moves: readonly Move[]): number {
  return moves.filter(({ moved, below, above }) => moved >= -below && moved <= above).length / moves.length;
}

function intervalScore(moves: readonly Move[]): number {
  return mean(moves.map(({ moved, below, above }) => below + above + MISS * (Math.max(0, -moved - below) + Math.max(0, moved - above)))); // prettier-ignore
}

const width = (moves: readonly Move[]): number => mean(moves.map(({ below, above }) => below + above));

function perScore(moves: readonly Move[], of: (moves: readonly Move[]) => number): number[] {
  return SCORE_FIELDS.map((_, score) => of(moves.filter((move) => move.score === score)));
}

function percents(shares: readonly number[]): string {
  return SCORE_FIELDS.map((field, score) => `${field} ${fixed(100 * (shares[score] ?? NaN), 1)}`).join(', ');
}

function tableBy(
  moves: readonly Move[],
  what: string,
  counts: readonly number[],
  of: (move: Move) => number,
): Table {
  return {
    caption: `Ranges by ${what}: coverage in percent (mean width in points)`,
    header: [what, 'requests', ...SCORE_FIELDS],
    rows: counts.map((count) => {
      const chosen = moves.filter((move) => of(move) === count);
      const cells = SCORE_FIELDS.map((_, score) => chosen.filter((move) => move.score === score)).map((cell) => `${fixed(100 * coverage(cell), 1)} (${fixed(width(cell), 1)})`); // prettier-ignore
      return [String(count), String(chosen.length / SCORE_FIELDS.length / TAKES), ...cells];
    }),
  };
}

interface Axis {
  readonly of: (move: Move) => number;
  readonly counts: readonly number[];
  readonly x: string;
}

/** `value` of the moves of each score at each count, a line for each score. */
function linesBy(moves: readonly Move[], { of, counts }: Axis, value: (moves: readonly Move[]) => number) {
  return SCORE_FIELDS.map((name, score) => ({
    name,
    points: counts.map((count) => {
      const chosen = moves.filter((move) => move.score === score && of(move) === count);
      return [count, value(chosen)] as const;
    }),
  }));
}

function figureBy(moves: readonly Move[], name: string, axis: Axis): Figure {
  const title = `Width of the ranges by ${axis.x}`;
  const svg = plot({ title, x: axis.x, y: 'width, points', series: linesBy(moves, axis, width) });
  return { file: `repeatability-${name}.svg`, caption: title, svg };
}

function coverageFigure(moves: readonly Move[]): Figure {
  const axis = { of: ({ missing }: Move) => missing, counts: ALL_MISSING, x: 'missing fields' };
  const [low, high] = COVERED;
  const bound = (name: string, share: number) => ({
    name,
    points: ALL_MISSING.map((count) => [count, 100 * share] as const),
    style: 'dashed' as const,
    colour: SCORE_FIELDS.length + 1,
  });
  const series = [
    ...linesBy(moves, axis, (chosen) => 100 * coverage(chosen)),
    bound('least', low),
    bound('most', high),
  ];
  const title = 'How often another recording falls into the range of 80 %';
  const svg = plot({ title, x: axis.x, y: 'percent', series, yRange: [70, 90] });
  return { file: 'repeatability-coverage.svg', caption: title, svg };
}

/** The sharpness of the ranges beside one range for all requests, which knows neither sessions nor missing fields. */
function tableByScore(moves: readonly Move[]): Table {
  const tail = 0.1;
  const plain = (of: readonly Move[]): number => {
    const moved = of.map((move) => move.moved);
    const [low, high] = [quantile(moved, tail), quantile(moved, 1 - tail)];
    return intervalScore(of.map((move) => ({ ...move, below: -low, above: high })));
  };
  const row = (name: string, of: (moves: readonly Move[]) => number): string[] => [name, ...perScore(moves, of).map((value) => fixed(value, 2))]; // prettier-ignore
  const deciles = (sign: number): string[] => {
    const values = perScore(moves, (of) => 100 * coverage(of.filter(({ moved }) => sign * moved >= 0)));
    return [sign < 0 ? 'moves down' : 'moves up', ...values.map((value) => fixed(value, 2))];
  };
  return {
    caption:
      'Sharpness (mean interval score, points; less is better), and coverage in percent of moves down and up',
    header: ['', ...SCORE_FIELDS],
    rows: [row('as served', intervalScore), row('one range for all', plain), deciles(-1), deciles(1)],
  };
}
