import type { Stretch } from './durations.js';
import type { Field } from './field.js';
import { flattened } from './flatten.js';

/** A record of one stage, as in Apple Health: many make one sleep. @internal */
export interface Piece extends Stretch {
  readonly field: Field;
  readonly eastMs: number | undefined;
  readonly source: string;
}

/** Sleep after a longer pause is a part of its own. */
const PAUSE_MAX_MS = 3_600_000;

/** Groups by device, because the records of devices overlap. @internal */
export function bySource(pieces: readonly Piece[]): Piece[][] {
  const groups = new Map<string, Piece[]>();
  for (const piece of pieces) {
    const group = groups.get(piece.source);
    if (group === undefined) groups.set(piece.source, [piece]);
    else group.push(piece);
  }
  return [...groups.values()];
}

/** The intervals of one sleep, in order. @internal */
export type Group = [first: Stretch, ...others: Stretch[]];

/** The sleeps of the pieces of one source. @internal */
export function groupsOf(pieces: readonly Piece[]): Group[] {
  const groups: Group[] = [];
  for (const stretch of flattened(pieces)) {
    const last = groups.at(-1);
    if (last !== undefined && stretch.from - (last.at(-1)?.to ?? 0) <= PAUSE_MAX_MS) last.push(stretch);
    else groups.push([stretch]);
  }
  return groups;
}

/** The pieces of a sleep: the first to begin, and the last to end. @internal */
export function piecesWithin(
  pieces: readonly Piece[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): { readonly first: Piece | undefined; readonly last: Piece | undefined } {
  const own = pieces.filter(({ from, to }) => from < toMs && to > fromMs);
  const [first] = own.toSorted((a, b) => a.from - b.from);
  const [last] = own.toSorted((a, b) => b.to - a.to);
  return { first, last };
}
