import type { NameReading } from './columnNames.js';
import type { MeasuredColumn } from './measuredColumns.js';
import type { Partition } from './partitions.js';

/** The columns or fields that say whose a row is and when it was. */
export interface HistoryColumns {
  readonly person: string;
  readonly order: string;
}

/** What of a row is asked for beside its session. */
export interface WantedColumns {
  /** They go through to the output; undefined for those of `USUAL_KEPT` that the input has. */
  readonly keep?: readonly string[] | undefined;
  /** Where history is asked for. */
  readonly history?: HistoryColumns | undefined;
  readonly names: NameReading;
  /** They go to no output, whose own columns they would have to differ from. */
  readonly isRead?: boolean;
}

/** What of a row of one input is needed beside its session. */
export interface RowColumns {
  /** Go through to the output: whose the row is and when it was as well, where the path does not say it. */
  readonly keep: readonly string[];
  readonly history?: HistoryColumns | undefined;
  /** Where history is asked for; rows of NDJSON have measurements as requests do. */
  readonly measured?: readonly MeasuredColumn[] | undefined;
  /** Columns of one value that the file's path has and the file has not. */
  readonly partitions?: readonly Partition[] | undefined;
  readonly names: NameReading;
}

/** The names of what is needed beside the session, those that are kept first. */
export function namesBeside({ keep, history, measured = [] }: RowsBeside): string[] {
  const ofHistory = history === undefined ? [] : [history.person, history.order];
  const ofMeasured = measured.flatMap(({ name, reliability }) => [name, reliability ?? name]);
  return [...new Set([...keep, ...ofHistory, ...ofMeasured])];
}

type RowsBeside = Pick<RowColumns, 'keep' | 'history' | 'measured'>;

export const USUAL_KEPT = ['id', 'custom_id'] as const;
