import type { LABEL_FIELDS, MeasuredField, SCORE_FIELDS, TestScore } from '#rules/fields.js';
import type { Adapted } from '#adapters/adapt.js';
import type { Provider } from '#adapters/recording.js';
import type { Session as SessionFields } from '#adapters/session.js';

/** Requests and answers, as they are in JSON. A test compares these types with the service's schemas. */

/** The fields of a night, or a recording of it with age, height, weight and sex beside. */
export interface Session extends SessionFields {
  recording?: Recording | null;
}

/**
 * What a provider answered, unchanged, under the names of docs/ADAPTERS.md: the service finds the night in it.
 * `intervals` is the table of your own.
 */
export interface Recording {
  provider: Provider;
  /** The moment to score; by default the end of the newest night. */
  at?: string | null;
  /** For times without one: an offset ("+01:00") or a name ("Europe/Berlin"). */
  zone?: string | null;
  newest_night_within_hours?: number | null;
  [answer: string]: unknown;
}

/** What the service found in a recording: the night, what it is made of, and what was left out. */
export type ReadRecording = Omit<Adapted, 'session'>;

type NumericScore = (typeof SCORE_FIELDS)[number];
type Label = (typeof LABEL_FIELDS)[number];

/** The seven scores of a session. 50 is typical for the person's age and sex. */
export type ScoreRecord = Record<NumericScore, number> & Record<Label, 'Low' | 'High'>;

interface Measured {
  /** The date of the measurement, such as "2026-11-10"; by default `night`. */
  on?: string | null;
  /** The share of the variance between people's single results that lasts: the retest correlation, 0.05 to 0.99. */
  reliability?: number | null;
}

/**
 * The result of a test, a questionnaire or a rating: a percentile among people of that age and sex, or a label; or the
 * raw result of a test, of which the service makes a percentile.
 */
export type Measurement =
  | ({
      score?: TestScore;
      value?: number;
      test?: string;
      answers?: number[];
      reactions_ms?: number[];
      result?: number;
    } & Measured)
  | ({ score: Label; value: 'Low' | 'High' } & Measured);

/** The percentile that the service made of a raw result. */
export interface MeasuredResult {
  readonly test: string;
  readonly score: TestScore;
  readonly value: number;
  readonly on: string;
}

/** A measurement older than the newest that the history no longer keeps one by one. */
export interface IgnoredMeasurement {
  readonly score: MeasuredField;
  readonly on: string;
}

export interface PredictionRequestBody {
  current_session: Session;
  /** At most five, oldest first. Beside a `history` only if that is empty. */
  past_sessions?: Session[] | null;
  /** The scores of `past_sessions`: same length, same order. */
  past_targets?: ScoreRecord[] | null;
  /** Another name for `past_targets`; give one of the two. */
  past_target?: ScoreRecord[] | null;
  /** The `history` of the person's last answer; an empty one begins a history. The answer then has one to store. */
  history?: string | null;
  /** With `history`: the date on which the person woke, such as "2026-11-21". */
  night?: string | null;
  /** With `history` and `night`: measurements since the last request, at most 64. The history keeps them. */
  measurements?: Measurement[] | null;
  /** Asks for `explanation` beside the scores, if the service can explain. */
  explain?: boolean | null;
}

/** One entry of a 422: place (from "body" on), message, type, and the bound that was passed, if it is one. */
export interface Finding {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
  readonly ctx?: Readonly<Record<string, number>>;
}

/** The answer to `explain`; docs/EXPLAIN.md says what each field means. */
export interface Explanation {
  /** The day with which today is compared: `usual` from ten nights on in the long run of the history. */
  readonly against: 'typical' | 'last nights' | 'usual';
  readonly quality: {
    readonly confidence: 'high' | 'medium' | 'low';
    readonly sessions: number;
    readonly missing: readonly string[];
    readonly implausible: readonly string[];
    readonly not_at_rest: readonly string[];
    readonly series: Readonly<Record<string, { readonly samples: number; readonly used: number }>>;
  };
  readonly scores: Readonly<Record<NumericScore, ExplainedScore>>;
  /** The probability of `High`. */
  readonly labels: Readonly<Record<Label, number>>;
  readonly contributors: readonly ({
    readonly group: string;
    /** The group in words. */
    readonly label: string;
    /** The scores to which the group adds more than on nine ordinary days in ten, and more than a point. */
    readonly notable: readonly NumericScore[];
  } & Readonly<Record<NumericScore, number>>)[];
}

interface ExplainedScore {
  readonly reference: number;
  readonly change: number;
  readonly recent?: number;
  readonly notable: boolean;
  readonly repeatability: readonly [number, number];
  readonly measured?: number;
  readonly explained: number;
  /** All this in two sentences. */
  readonly text: string;
}
