/** The options of a run over a lake: how its rows are found and read, and how scores are written. */
import type { HistoryColumns } from './input/names.js';
import type { Late } from './score/personOrder.js';
import type { PageSink } from './score/scorePages.js';

export const FORMATS = ['ndjson', 'csv', 'arrow', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

/** How rows are found and read: the same for every command that reads a lake. */
export interface LakeOptions {
  /** Files, folders, patterns and addresses; empty for standard input, or with `sql`. */
  readonly files: readonly string[];
  /** A SELECT that makes the rows. */
  readonly sql?: string | undefined;
  /** The rows of all inputs come by person and time. */
  readonly sort?: boolean | undefined;
  /** Most memory that the engine takes before it writes to the disk, in bytes; by default a quarter of the machine's. */
  readonly memory?: number | undefined;
  /** Names or paths of the engine's extensions that are on this machine. */
  readonly extension?: readonly string[] | undefined;
  /** The encoding of CSV; UTF-8 if absent. */
  readonly encoding?: string | undefined;
  /** The zone whose dates are the nights of times with a zone. */
  readonly zone?: string | undefined;
  /** The format of inputs whose name does not say it. */
  readonly format?: Format | undefined;
  /** Most people with histories in memory. */
  readonly peopleMax: number;
}

export interface ScoreOptions extends LakeOptions {
  /** Fields or columns copied to the output; undefined for the usual ones that are present. */
  readonly keep?: readonly string[] | undefined;
  /** Whether each row is explained. */
  readonly explain?: boolean;
  /** The columns with a row's person and time, if history is used. */
  readonly history?: HistoryColumns | undefined;
  readonly late: Late;
  readonly state?: string | undefined;
  readonly to?: Format | undefined;
  readonly outDir?: string | undefined;
  /** Whether finished inputs are scored too. */
  readonly again?: boolean | undefined;
  /** Whether bad rows that a former run told are left at that. */
  readonly acceptBad?: boolean | undefined;
  /** Standard input holds many tables, each with only its own past. */
  readonly tables?: boolean;
  /** Receives the scored pages: then no file is written or searched for, and standard output is unused. */
  readonly into?: PageSink;
}
