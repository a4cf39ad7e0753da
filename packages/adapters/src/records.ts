import { AdapterError } from './adapterError.js';
import type { Field } from './field.js';
import type { Series } from './series.js';
import type { Span, StageDurations } from './sleep.js';
import { DAY_MS } from './zone.js';

/** The common form that every provider's records are mapped to. */

/** Data that was sent and not used, and why. */
export interface Left {
  /** The field, such as `sleep.data[1]`. */
  readonly what: string;
  readonly why: string;
}

/** @internal */
export function leftOf({ field, sentence }: AdapterError): Left {
  return { what: field, why: sentence };
}

/** A provider's data about one sleep. @internal */
export interface SleepDetails {
  readonly stages?: StageDurations;
  /** Time asleep, without the time awake in between: if the stages are not known. */
  readonly asleepS?: number | undefined;
  /** Time that the device could not measure, or that no stage covers. */
  readonly unmeasuredS?: number | undefined;
  readonly heart?: Series;
  readonly breath?: Series;
  /** Averages of the night, if the provider has no series: each is the one sample. */
  readonly heartAverage?: Field;
  readonly breathAverage?: Field;
  readonly left?: readonly Left[];
}

interface Sleep {
  readonly field: Field;
  /** The provider calls it a nap, */
  readonly isNap?: boolean;
  /** or the main sleep. Most say neither. */
  readonly isMain?: boolean;
  /** Why it is no sleep at all, such as "deleted". */
  readonly unusable?: string | undefined;
  /** The final one of two versions counts; one that is still processed counts only alone. */
  readonly state?: 'final' | 'tentative' | 'processing' | undefined;
  /** The device, app or provider that recorded it. */
  readonly source?: string | undefined;
}

/** One of the sleeps that a provider sent, by the meaning of its fields. @internal */
export interface SentSleep extends Sleep {
  readonly from: Field;
  readonly to: Field;
  /** The offset from UTC at its end, where that is not written with its time. */
  readonly eastMs?: (toMs: number) => number | undefined;
  /** When its provider last changed it: of two versions of one sleep the newer counts, before the final one. */
  readonly changed?: Field;
  /** Data that several sleeps share is not read here, but looked up. */
  readonly read: (span: Span) => SleepDetails;
}

/** A sleep whose times are read; only those that may count are read further. @internal */
export interface SleepRecord extends Sleep, Span {
  /** Offset at the end of the sleep, in milliseconds east of UTC; undefined if the provider does not say. */
  readonly eastMs?: number | undefined;
  /** Its times can't be read, or a field that it needs: those that are not known are NaN. */
  readonly flaw?: AdapterError | undefined;
  /** Only a stage of a sleep can't be read: that is no night by itself. */
  readonly isPiece?: boolean;
  readonly changedMs?: number | undefined;
  /** Called at most once. */
  readonly read: () => SleepDetails;
}

/** Sleeps, read when it is known how many may be unreadable: beyond that the first error refuses all. @internal */
export type Sleeps = (unreadableMax?: number) => readonly SleepRecord[];

/** More unreadable ones are no mistake of a few: each error costs as much as the reading of a night. */
const UNREADABLE_MAX = 200;

/** The result of `work`, or of `otherwise` if data can't be read. @internal */
export function attempt<Made>(work: () => Made, otherwise: (flaw: AdapterError) => Made): Made {
  try {
    return work();
  } catch (error) {
    if (error instanceof AdapterError) return otherwise(error);
    throw error;
  }
}

/** @throws AdapterError if a record can't last from one moment to the other @internal */
export function checkSpan(field: Field, fromMs: number, toMs: number): undefined {
  if (toMs <= fromMs) field.fail('ends before it begins');
  if (toMs - fromMs > DAY_MS) field.fail('is longer than a day');
}

/** The reading of each record, or the result of `otherwise` if it can't be read. @internal */
export function readEach<Read>(
  records: readonly Field[],
  read: (record: Field) => Read,
  otherwise: (flaw: AdapterError, record: Field) => Read,
  unreadableMax = UNREADABLE_MAX,
): Read[] {
  let [first, count]: [AdapterError | undefined, number] = [undefined, 0];
  const unread = (flaw: AdapterError, record: Field) => {
    first ??= flaw;
    if (++count > unreadableMax) throw first;
    return otherwise(flaw, record);
  };
  return records.map((record) => attempt(() => read(record), (flaw) => unread(flaw, record))); // prettier-ignore
}

/**
 * The sleeps of a provider's records: one that can't be read takes no other along.
 * @param timeOf  reads their times
 * @internal
 */
export function sleepRecords(
  records: readonly Field[] | undefined,
  sentOf: (record: Field) => SentSleep,
  timeOf = (field: Field): number => field.moment(),
): Sleeps | undefined {
  const sleepOf = (record: Field): SleepRecord => {
    const { from, to, eastMs, changed, read, ...sleep } = sentOf(record);
    if (sleep.unusable !== undefined) return { ...sleep, fromMs: NaN, toMs: NaN, read: () => ({}) };
    const span = { fromMs: timeOf(from), toMs: timeOf(to) };
    return {
      ...sleep,
      ...span,
      eastMs: eastMs === undefined ? to.eastMs() : eastMs(span.toMs),
      changedMs: changed === undefined || changed.isAbsent ? undefined : timeOf(changed),
      read: () => read(span),
    };
  };
  const flawed = (flaw: AdapterError, field: Field): SleepRecord => {
    const [fromMs, toMs] = (['from', 'to'] as const).map(
      (end) =>
      attempt(() => timeOf(sentOf(field)[end]), () => NaN), // prettier-ignore
    ) as [number, number];
    return { field, fromMs, toMs, flaw, read: () => ({}) };
  };
  return records && ((unreadableMax) => readEach(records, sleepOf, flawed, unreadableMax));
}

/** Everything in a provider's answers, before a night is chosen. @internal */
export interface Records {
  /** Every sleep; undefined if sleep was not asked for. */
  readonly sleeps: Sleeps | undefined;
  /** Samples besides those of the sleeps: for the hour before, and for the night if its sleep has none. */
  readonly heart?: readonly Series[] | undefined;
  readonly breath?: readonly Series[] | undefined;
  readonly left?: readonly Left[];
  /** Says whose they are, if anything does. */
  readonly owner?: Field | undefined;
}
