import type { HistoryEntry, HistoryStorage, ScoreRecord } from 'acuity-client';

/** How good the data of a night was: what each part of the session consists of. */
export interface Quality {
  readonly heart: 'series' | 'average' | 'missing';
  readonly breath: 'series' | 'average' | 'missing';
  readonly sleep: 'stages' | 'sum' | 'missing';
}

/** A scored night, as the page shows it. */
export interface Night {
  /** ISO 8601 with Z. */
  readonly at: string;
  readonly modelVersion: string;
  readonly scores: ScoreRecord;
  readonly quality: Quality;
}

/** Where histories and nights are kept. They are health data: the database is where your rules for such data apply. */
export interface Store extends HistoryStorage {
  keep(person: string, night: Night): Promise<void>;
  /** The latest nights, oldest first. */
  nights(person: string, nightsMax: number): Promise<readonly Night[]>;
  people(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export type { HistoryEntry };
