import type { Session } from '#adapters/session.js';

/**
 * Requests and answers, as they are in JSON. Written out here because the package stands alone; a test compares
 * these types with the service's schemas.
 */

export type { Session };

/** The seven scores of a session. 50 is typical for the person's age and sex. */
export interface ScoreRecord {
  C_SCORE: number;
  attention: number;
  memory: number;
  reasoning: number;
  stress: number;
  valence: 'Low' | 'High';
  arousal: 'Low' | 'High';
}

interface Measured {
  /** The date of the measurement, such as "2026-11-10"; by default `night`. */
  on?: string | null;
  /** The share of the variance between people's single results that lasts: the retest correlation, 0.05 to 0.99. */
  reliability?: number | null;
}

type TestScore = 'attention' | 'memory' | 'reasoning' | 'stress';

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
  | ({ score: 'valence' | 'arousal'; value: 'Low' | 'High' } & Measured);

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

/** One entry of a 422: place (from "body" on), message and type. */
export interface Finding {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

type NumericScore = 'C_SCORE' | 'attention' | 'memory' | 'reasoning' | 'stress';

/** The answer to `explain`. */
export interface Explanation {
  /** The day with which today is compared: `usual` from ten nights on in the long run of the history. */
  readonly against: 'typical' | 'last nights' | 'usual';
  readonly quality: {
    readonly confidence: 'high' | 'medium' | 'low';
    readonly sessions: number;
    readonly missing: readonly string[];
    readonly implausible: readonly string[];
    /** Series of an hour that was not at rest: left out, and listed in `missing` too. */
    readonly not_at_rest: readonly string[];
    readonly series: Readonly<Record<string, { readonly samples: number; readonly used: number }>>;
  };
  readonly scores: Readonly<Record<NumericScore, ExplainedScore>>;
  /** The probability of `High`. */
  readonly labels: { readonly valence: number; readonly arousal: number };
  /** `notable`: the scores to which a group adds more than on nine ordinary days in ten, and more than a point. */
  readonly contributors: readonly ({
    readonly group: string;
    /** The group in words. */
    readonly label: string;
    readonly notable: readonly NumericScore[];
  } & Readonly<Record<NumericScore, number>>)[];
}

export interface ExplainedScore {
  readonly reference: number;
  readonly change: number;
  /**
   * How far a day like the last nights is from `reference`; present if the reference is a usual day and there are
   * last nights.
   */
  readonly recent?: number;
  readonly notable: boolean;
  readonly repeatability: readonly [number, number];
  /** The score minus the score without measurements; present if one of it counts. */
  readonly measured?: number;
  readonly explained: number;
  /** All this in two sentences. */
  readonly text: string;
}
