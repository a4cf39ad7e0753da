import type { StageDurations } from './sleep.js';
import type { Field } from './field.js';

/** The common form that every provider's records are mapped to. */

/** Data that was sent and not used, and why. */
export interface Left {
  /** The field, such as `sleep.data[1]`. */
  readonly what: string;
  readonly why: string;
}

/** One sample of a wearable, at a moment in milliseconds since 1970. @internal */
export interface Sample {
  readonly at: number;
  /** No-readings (null, 0, −1, −2, 255) are left out. */
  readonly value: number | null | undefined;
}

/** A sample that is a reading. @internal */
export interface Reading extends Sample {
  readonly value: number;
}

/** Samples of one signal, and the field to name if they can't be right. @internal */
export interface Series {
  readonly field: Field;
  readonly samples: readonly Sample[];
  /** The device or provider of the samples; without one they fit every sleep. */
  readonly source?: string | undefined;
}

/** What a provider says about one sleep. @internal */
export interface SleepDetails {
  readonly stages?: StageDurations;
  /** Time asleep, without the time awake in between: if the stages are not known. */
  readonly asleepS?: number | undefined;
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
  /** The provider calls it a nap, */
  readonly isNap?: boolean;
  /** or the main sleep. Most say neither. */
  readonly isMain?: boolean;
  /** Why it is no sleep at all, such as "deleted". */
  readonly unusable?: string | undefined;
  /** Of records of the same time the highest counts: the final before the tentative. */
  readonly standing?: number;
  /** The device, app or provider that recorded it. */
  readonly source?: string | undefined;
  readonly read: () => SleepDetails;
}
