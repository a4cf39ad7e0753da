import type { AdapterError } from './adapterError.js';
import { stretches, type Stretch } from './durations.js';
import type { Field } from './field.js';
import { flattened } from './flatten.js';
import { firstFrom, grouped, runsOf } from './ordered.js';
import { checkSpan, readEach, type SleepRecord, type Sleeps } from './records.js';

/** A record of one stage, as in Apple Health, by the meaning of its fields: many make one sleep. @internal */
export interface SentPiece extends Pick<Stretch, 'stage'> {
  readonly from: Field;
  readonly to: Field;
  /** The offset from UTC, where that is not written with its times. */
  readonly eastMs?: number | undefined;
  readonly source?: string | undefined;
}

/** The same with its times read. @internal */
export interface Piece extends Stretch {
  readonly field: Field;
  readonly eastMs: number | undefined;
  readonly source: string | undefined;
}

/** None of a record that is no stage. @throws AdapterError if its times are impossible @internal */
export function pieceOf(field: Field, sent: SentPiece | undefined): Piece[] {
  if (sent === undefined) return [];
  const [from, to] = [sent.from.moment(), sent.to.moment()];
  checkSpan(field, from, to);
  const { stage, source, eastMs = sent.to.eastMs() } = sent;
  return [{ field, stage, from, to, eastMs, source }];
}

/**
 * The sleeps of records of stages; one that can't be read takes no other along.
 * @param sentOf  undefined for a record that is no stage
 * @param sessions  sleeps without stages, beside them: what a device says twice is left out
 * @internal
 */
export function pieceRecords(
  records: readonly Field[] | undefined,
  sentOf: (record: Field) => SentPiece | undefined,
  sessions?: Sleeps,
): Sleeps | undefined {
  if (records === undefined) return sessions;
  return (unreadableMax) => {
    const flaws: SleepRecord[] = [];
    const unread = (flaw: AdapterError, field: Field): Piece[] => {
      flaws.push({ field, fromMs: NaN, toMs: NaN, flaw, isPiece: true, read: () => ({}) });
      return [];
    };
    const read = (record: Field) => pieceOf(record, sentOf(record));
    const pieces = readEach(records, read, unread, unreadableMax).flat();
    const staged = sleepsOfPieces(pieces);
    const bySource = grouped(staged, ({ source }) => source);
    const isOther = (session: SleepRecord) => !isAmong(session, bySource.get(session.source) ?? []);
    return [...staged, ...(sessions?.(unreadableMax).filter(isOther) ?? []), ...flaws];
  };
}

/** Whether one of the sleeps, in order and without overlap, takes half of the session: then it is that sleep's own. */
function isAmong({ fromMs, toMs }: SleepRecord, sleeps: readonly SleepRecord[]): boolean {
  const sleep = sleeps[firstFrom(fromMs, sleeps, (one) => one.toMs)];
  const sharedMs = sleep === undefined ? 0 : Math.min(toMs, sleep.toMs) - Math.max(fromMs, sleep.fromMs);
  return 2 * sharedMs >= toMs - fromMs;
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
    let untilMs = -Infinity;
    const groups = runsOf(ofSource.toSorted((a, b) => a.from - b.from), (run, piece) => {
      untilMs = Math.max(untilMs, run.at(-1)?.to ?? untilMs);
      return piece.from - untilMs <= PAUSE_MAX_MS;
    }); // prettier-ignore
    return groups.map((group) => sleepOf(group, field));
  });
}

/** @param pieces  in the order of their beginnings */
function sleepOf(pieces: readonly [Piece, ...Piece[]], named = pieces[0].field): SleepRecord {
  const [{ field, from: fromMs }] = pieces;
  const { to: toMs, eastMs, source } = pieces.reduce((last, piece) => (piece.to > last.to ? piece : last));
  const read = () => stretches(named, { fromMs, toMs }, flattened(pieces));
  return { field, fromMs, toMs, eastMs, source, read };
}
