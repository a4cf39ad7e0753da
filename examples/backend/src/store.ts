import type { HistoryStorage, Measurement, ScoreRecord } from 'acuity-client';

/** How good the data of a night was: what each part of the session consists of. */
export interface Quality {
  readonly heart: 'series' | 'average' | 'missing';
  readonly breath: 'series' | 'average' | 'missing';
  readonly sleep: 'stages' | 'sum' | 'missing';
}

/** What the page says of the scores of a night. */
export interface Explained {
  /** Where another watch would have put each score, four times in five. */
  readonly ranges: Readonly<Record<string, readonly [low: number, high: number]>>;
  /** The scores that the day moved more than nine ordinary days in ten do, each with a sentence that says why; the most first. */
  readonly notable: readonly { readonly score: string; readonly sentence: string }[];
}

/** A scored night, as the page shows it. */
export interface Night {
  /** ISO 8601 with Z. */
  readonly at: string;
  readonly modelVersion: string;
  readonly scores: ScoreRecord;
  /** The scores without what was measured, where that counts. */
  readonly unmeasured?: ScoreRecord;
  readonly quality: Quality;
  /** Nights that an older version of this example kept have none. */
  readonly explained?: Explained;
  /** The date of waking: a person has each once. */
  readonly night: string;
  /** What the night was put together of, and what was sent beside it. */
  readonly notes: readonly string[];
}

/** What came and was not scored. */
export interface Unscored {
  /** When it came, in ISO 8601. */
  readonly at: string;
  /** A sentence without a value. */
  readonly why: string;
}

/** What was measured, with its day. */
export type Dated = Measurement & { readonly on: string };

/** What was measured of a person. */
export interface Taken {
  readonly measurement: Dated;
  /** Whether the service has it, in the person's history. */
  readonly isSent: boolean;
}

/** Where histories and nights are kept. They are health data: the database is where your rules for such data apply. */
export interface Store extends HistoryStorage {
  keep(person: string, night: Night): Promise<void>;
  /** Keeps why nothing was scored. */
  leave(person: string, unscored: Unscored): Promise<void>;
  /** The latest of them, newest first. */
  unscored(person: string, most: number): Promise<readonly Unscored[]>;
  /** The latest nights, oldest first. */
  nights(person: string, nightsMax: number): Promise<readonly Night[]>;
  /** Keeps what was measured, for the next night; the same score of the same day replaces. */
  measure(person: string, measurement: Dated): Promise<void>;
  /** The latest of it, newest first. */
  measured(person: string, most: number): Promise<readonly Taken[]>;
  /** Forgets all of it. */
  forgetMeasured(person: string): Promise<void>;
  /** These are in the history now. */
  sent(person: string, measurements: readonly Dated[]): Promise<void>;
  people(): Promise<readonly string[]>;
  close(): Promise<void>;
}
