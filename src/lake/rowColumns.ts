import type { MeasuredColumn } from './measuredColumns.js';
import type { Partition } from './partitions.js';

/** The columns or fields with a row's person and time. */
export interface HistoryColumns {
  readonly person: string;
  readonly order: string;
}

/** What is requested of a row beside its session. */
export interface WantedColumns {
  /** Copied to the output; undefined: those of `USUAL_KEPT` that the input has. */
  readonly keep?: readonly string[] | undefined;
  /** Set if history is used. */
  readonly history?: HistoryColumns | undefined;
  /** Written to no output, so they need not differ from its columns. */
  readonly isRead?: boolean;
}

/** What is needed of an input's rows beside the session. */
export interface RowColumns {
  /** Copied to the output, including a row's person and time unless the path has them. */
  readonly keep: readonly string[];
  readonly history?: HistoryColumns | undefined;
  /** Set if history is used; rows of NDJSON have measurements like requests. */
  readonly measured?: readonly MeasuredColumn[] | undefined;
  /** Constant columns from the file's path that the file lacks. */
  readonly partitions?: readonly Partition[] | undefined;
}

/** The names needed beside the session, kept ones first. */
export function namesBeside({ keep, history, measured = [] }: RowsBeside): string[] {
  const ofHistory = history === undefined ? [] : [history.person, history.order];
  const ofMeasured = measured.flatMap(({ name, reliability }) => [name, reliability ?? name]);
  return [...new Set([...keep, ...ofHistory, ...ofMeasured])];
}

type RowsBeside = Pick<RowColumns, 'keep' | 'history' | 'measured'>;

export const USUAL_KEPT = ['id', 'custom_id'] as const;
