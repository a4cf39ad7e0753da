import type { Stretch } from './durations.js';
import type { Field } from './field.js';
import { flattened } from './flatten.js';
import { grouped } from './grouped.js';
import type { Span } from './sleep.js';

/** A record of one stage, as in Apple Health: many make one sleep. @internal */
export interface Piece extends Stretch {
  readonly field: Field;
  readonly eastMs: number | undefined;
  readonly source: string;
}

/** A sleep of pieces. @internal */
export interface Group {
  readonly span: Span;
  /** In order, without overlap. */
  readonly stretches: readonly Stretch[];
  /** The piece that begins first, and the one that ends last. */
  readonly first: Piece;
  readonly last: Piece;
}

/** Sleep after a longer pause is a part of its own. */
const PAUSE_MAX_MS = 3_600_000;

/** The sleeps of each device, because the records of devices overlap. @internal */
export function groupsOf(pieces: readonly Piece[]): Group[] {
  return [...grouped(pieces, ({ source }) => source).values()].flatMap((ofSource) => {
    const groups: Piece[][] = [];
    let untilMs = -Infinity;
    for (const piece of ofSource.toSorted((a, b) => a.from - b.from)) {
      if (piece.from - untilMs > PAUSE_MAX_MS) groups.push([]);
      groups.at(-1)?.push(piece);
      untilMs = Math.max(untilMs, piece.to);
    }
    return groups.flatMap(groupOf);
  });
}

/** @param pieces  in the order of their beginnings */
function groupOf(pieces: readonly Piece[]): Group[] {
  const stretches = flattened(pieces);
  const [first, begin, end] = [pieces[0], stretches[0], stretches.at(-1)];
  if (first === undefined || begin === undefined || end === undefined) return [];
  const last = pieces.reduce((latest, piece) => (piece.to > latest.to ? piece : latest), first);
  return [{ span: { fromMs: begin.from, toMs: end.to }, stretches, first, last }];
}
