import type { HistoryStorage, Measurement, ScoreRecord } from 'acuity-client';

/** The data quality of a night: the data in each part of the session. */
export interface Quality {
  readonly heart: 'series' | 'average' | 'missing';
  readonly breath: 'series' | 'average' | 'missing';
  readonly sleep: 'stages' | 'sum' | 'missing';
}

/** The page's data about the scores of a night. */
export interface Explained {
  /** Where another watch would have put each score, four times in five. */
  readonly ranges: Readonly<Record<string, readonly [low: number, high: number]>>;
  /**
   * The scores that the day moved more than nine ordinary days in ten do, each with an explanation; largest first.
   */
  readonly notable: readonly { readonly score: string; readonly sentence: string }[];
}

/** A scored night, as the page shows it. */
export interface Night {
  /** ISO 8601 with Z. */
  readonly at: string;
  readonly modelVersion: string;
  readonly scores: ScoreRecord;
  /** The scores without measurements, if these count. */
  readonly unmeasured?: ScoreRecord;
  /** Absent where the service can't explain. */
  readonly quality?: Quality;
  readonly explained?: Explained;
  /** The date of waking, unique for a person. */
  readonly night: string;
  /** How the night was put together, and other remarks. */
  readonly notes: readonly string[];
}

/** Data that arrived and was not scored. */
export interface Unscored {
  /** When it arrived, in ISO 8601. */
  readonly at: string;
  /** A sentence without values. */
  readonly why: string;
}

/** A measurement with its day. */
export type Dated = Measurement & { readonly on: string };

/** A stored measurement. */
export interface Taken {
  readonly measurement: Dated;
  /** Whether the person's history at the service includes it. */
  readonly isSent: boolean;
}

/** Stores histories and nights. They are health data: apply your rules for such data to the database. */
export interface Store extends HistoryStorage {
  keep(person: string, night: Night): Promise<void>;
  /** Stores the reason why an event was not scored. */
  leave(person: string, unscored: Unscored): Promise<void>;
  /** The latest of them, newest first. */
  unscored(person: string, most: number): Promise<readonly Unscored[]>;
  /** The latest nights, oldest first. */
  nights(person: string, nightsMax: number): Promise<readonly Night[]>;
  /** Stores a measurement for the next night; replaces the same score of the same day. */
  measure(person: string, measurement: Dated): Promise<void>;
  /** The latest of them, newest first. */
  measured(person: string, most: number): Promise<readonly Taken[]>;
  /** Marks these as included in the history. */
  sent(person: string, measurements: readonly Dated[]): Promise<void>;
  people(): Promise<readonly string[]>;
  close(): Promise<void>;
}
