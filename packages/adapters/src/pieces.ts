import { AdapterError } from './adapterError.js';
import { stretches, type Stretch } from './durations.js';
import type { Field } from './field.js';
import { flattened } from './flatten.js';
import { grouped } from './ordered.js';
import type { SleepRecord } from './records.js';

/** A record of one stage, as in Apple Health: many make one sleep. @internal */
export interface Piece extends Stretch {
  readonly field: Field;
  readonly eastMs: number | undefined;
  readonly source: string;
}

/** More are no mistake of a few records: the first error refuses all. */
const UNREAD_MAX = 500;

/** What can be read of records, and why the others can't. @internal */
export function readEach<Item>(
  records: readonly Field[],
  read: (record: Field) => Item,
): { readonly found: Item[]; readonly unread: AdapterError[] } {
  const [found, unread]: [Item[], AdapterError[]] = [[], []];
  for (const record of records) {
    try {
      found.push(read(record));
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error;
      if (unread.push(error) > UNREAD_MAX) throw unread[0] ?? error;
    }
  }
  return { found, unread };
}

/** Sleep after a longer pause is a part of its own. */
const PAUSE_MAX_MS = 3_600_000;

/**
 * The sleeps of each device, because the records of devices overlap.
 * @param field  the field to name if the stages of a sleep can't be right; without one its first piece
 * @internal
 */
export function sleepsOfPieces(pieces: readonly Piece[], field?: Field): SleepRecord[] {
  return [...grouped(pieces, ({ source }) => source).values()].flatMap((ofSource) => {
    const groups: Piece[][] = [];
    let untilMs = -Infinity;
    for (const piece of ofSource.toSorted((a, b) => a.from - b.from)) {
      if (piece.from - untilMs > PAUSE_MAX_MS) groups.push([piece]);
      else groups.at(-1)?.push(piece);
      untilMs = Math.max(untilMs, piece.to);
    }
    return groups.flatMap((group) => sleepOf(group, field));
  });
}

/** @param pieces  in the order of their beginnings */
function sleepOf(pieces: readonly Piece[], named: Field | undefined): SleepRecord[] {
  const first = pieces.find(({ from, to }) => to > from);
  if (first === undefined) return [];
  const { field, from: fromMs } = first;
  const { to: toMs, eastMs, source } = pieces.reduce((last, piece) => (piece.to > last.to ? piece : last));
  const read = () => stretches(named ?? field, { fromMs, toMs }, flattened(pieces));
  return [{ field, fromMs, toMs, eastMs, source: source === '' ? undefined : source, read }];
}
