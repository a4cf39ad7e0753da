/**
 * What is sent and what comes back, as JSON has it. Written out, since the package stands alone; a test holds these
 * types against the service's schemas.
 */

/** One night and the hour before the moment to score. Leave out unknown values, or give null. */
export interface Session {
  /** Beats per minute over the hour before, oldest first. */
  HR_day_1h?: number[] | null;
  /** Breaths per minute over the hour before; not R-R intervals. */
  RR_day_1h?: number[] | null;
  /** Beats per minute during the night's sleep. */
  HR_night?: number[] | null;
  /** Breaths per minute during the night's sleep. */
  RR_night?: number[] | null;
  /** Another name of `HR_night`; give one of the two. */
  HR_night_imputed?: number[] | null;
  /** Another name of `RR_night`. */
  RR_night_imputed?: number[] | null;
  sleepTimeSeconds?: number | null;
  deepSleepSeconds?: number | null;
  remSleepSeconds?: number | null;
  lightSleepSeconds?: number | null;
  awakeSleepSeconds?: number | null;
  /** Fractions or percent points, one scale for all three. */
  deepPercentage?: number | null;
  remPercentage?: number | null;
  lightPercentage?: number | null;
  age?: number | null;
  height_cm?: number | null;
  weight_kg?: number | null;
  sex?: 'M' | 'F' | null;
}

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
  /** The date on which it was taken, as "2026-11-10"; `night` where it is absent. */
  on?: string | null;
  /** The share of the variance between people's single results that lasts: the retest correlation, 0.05 to 0.99. */
  reliability?: number | null;
}

/** What a test, a questionnaire or a rating found: a percentile among people of that age and sex, or a label. */
export type Measurement =
  | ({ score: 'attention' | 'memory' | 'reasoning' | 'stress'; value: number } & Measured)
  | ({ score: 'valence' | 'arousal'; value: 'Low' | 'High' } & Measured);

export interface PredictionRequestBody {
  current_session: Session;
  /** At most five, oldest first. Beside `history` only where that is empty. */
  past_sessions?: Session[] | null;
  /** The scores of `past_sessions`: same length, same order. */
  past_targets?: ScoreRecord[] | null;
  /** Another name of `past_targets`; give one of the two. */
  past_target?: ScoreRecord[] | null;
  /** The history that the person's last answer gave; empty begins one. The answer then has one to store. */
  history?: string | null;
  /** With `history`: the date on which the person woke, as "2026-11-21". */
  night?: string | null;
  /** With `history` and `night`: what was measured since the last request, at most 64. The history keeps it. */
  measurements?: Measurement[] | null;
  /** Asks for `explanation` beside the scores, where the service can explain. */
  explain?: boolean | null;
}

/** One entry of a 422: where (from "body" on), what, and of which kind. */
export interface Finding {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

type NumericScore = 'C_SCORE' | 'attention' | 'memory' | 'reasoning' | 'stress';

/** The answer to `explain`. */
export interface Explanation {
  /** What today is held against: `usual` from ten nights on in the long run of the history. */
  readonly against: 'typical' | 'last nights' | 'usual';
  readonly quality: {
    readonly confidence: 'high' | 'medium' | 'low';
    readonly sessions: number;
    readonly missing: readonly string[];
    readonly implausible: readonly string[];
    /** Series of an hour that was not spent at rest: left out, and in `missing` as well. */
    readonly not_at_rest: readonly string[];
    readonly series: Readonly<Record<string, { readonly samples: number; readonly used: number }>>;
  };
  readonly scores: Readonly<Record<NumericScore, ExplainedScore>>;
  /** The probability of `High`. */
  readonly labels: { readonly valence: number; readonly arousal: number };
  /** `notable`: the scores to which a group adds more than on nine ordinary days in ten, and more than a point. */
  readonly contributors: readonly ({
    readonly group: string;
    readonly notable: readonly NumericScore[];
  } & Readonly<Record<NumericScore, number>>)[];
}

export interface ExplainedScore {
  readonly reference: number;
  readonly change: number;
  /** How far a day like the last nights lies from `reference`: there where it is what is usual, and there are last nights. */
  readonly recent?: number;
  readonly notable: boolean;
  readonly repeatability: readonly [number, number];
  /** The score less what it is without measurements; there where one of it counts. */
  readonly measured?: number;
  readonly explained: number;
}
