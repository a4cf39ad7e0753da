import { AdapterError } from './adapterError.js';
import type { Field } from './field.js';
import type { Series } from './series.js';
import type { StageDurations } from './sleep.js';

/** The common form that every provider's records are mapped to. */

/** Data that was sent and not used, and why. */
export interface Left {
  /** The field, such as `sleep.data[1]`. */
  readonly what: string;
  readonly why: string;
}

/** What a provider says about one sleep. @internal */
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

/** One of the sleeps that a provider sent; only those that may count are read further. @internal */
export interface SleepRecord {
  readonly field: Field;
  readonly fromMs: number;
  readonly toMs: number;
  /** Offset at the end of the sleep, in milliseconds east of UTC; undefined if the provider does not say. */
  readonly eastMs?: number | undefined;
  /** Its times can't be read, or a field that it needs: those that are not known are NaN. */
  readonly flaw?: AdapterError | undefined;
  /** The provider calls it a nap, */
  readonly isNap?: boolean;
  /** or the main sleep. Most say neither. */
  readonly isMain?: boolean;
  /** Why it is no sleep at all, such as "deleted". */
  readonly unusable?: string | undefined;
  /** When its provider last changed it: of two versions of one sleep the newer counts, */
  readonly changedMs?: number | undefined;
  /** then the final one before one that may still change; one that is still processed counts only alone. */
  readonly state?: 'final' | 'tentative' | 'processing' | undefined;
  /** The device, app or provider that recorded it. */
  readonly source?: string | undefined;
  /** Called at most once. What several records share is not read here, but looked up. */
  readonly read: () => SleepDetails;
}

/** Sleeps, read when it is known how many may be unreadable: beyond that the first error refuses all. @internal */
export type Sleeps = (unreadableMax: number) => readonly SleepRecord[];

/** The sleeps of a provider's records: one that can't be read is flawed, and takes no other along. @internal */
export function sleepRecords<Sent = Field>(
  records: readonly Sent[],
  recordOf: (record: Sent) => SleepRecord,
  fieldOf = (record: Sent) => record as Field,
): Sleeps {
  return (unreadableMax) => {
    let [first, count]: [AdapterError | undefined, number] = [undefined, 0];
    return records.map((record) => {
      const sleep = flawedOr(() => recordOf(record), () => fieldOf(record)); // prettier-ignore
      first ??= sleep.flaw;
      if (sleep.flaw !== undefined && ++count > unreadableMax) throw first ?? sleep.flaw;
      return sleep;
    });
  };
}

function flawedOr(work: () => SleepRecord, field: () => Field): SleepRecord {
  try {
    return work();
  } catch (flaw) {
    if (!(flaw instanceof AdapterError)) throw flaw;
    const read = (): never => {
      throw flaw;
    };
    return { field: field(), fromMs: NaN, toMs: NaN, flaw, read };
  }
}

/** What a provider's answers hold, before a night is chosen. @internal */
export interface Records {
  /** Every sleep; undefined if sleep was not asked for. */
  readonly sleeps: readonly SleepRecord[] | Sleeps | undefined;
  /** Samples besides those of the sleeps: for the hour before, and for the night if its sleep has none. */
  readonly heart?: readonly Series[] | undefined;
  readonly breath?: readonly Series[] | undefined;
  readonly left?: readonly Left[];
  /** What could not be read: it is why, where nothing else can be scored. */
  readonly unread?: readonly AdapterError[];
}
