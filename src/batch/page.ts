import type { RecordBatch } from 'apache-arrow';
import { MALFORMED, UNPROCESSABLE, type BodyProblem, type Finding } from '../contract/problems.js';
import type { QualifiedRequest } from '../pipeline/quality.js';
import type { GivenMeasurement } from '../records/request.js';
import type { InputNames } from './inputNames.js';
import type { RowColumns } from './rowColumns.js';

/** Why a row has no scores: the status and `detail` that the service would respond with. */
export interface RowProblem {
  readonly status: number;
  readonly detail: string | readonly Finding[];
}

/** The place of a row in a text with a header. */
export interface RowOrigin {
  /** Its first line, from 1 on. */
  readonly line: number;
  /** The names of the header by the session field that they are read as. */
  readonly columns: ReadonlyMap<string, string>;
}

/** The service's response to a body that it refuses. */
export function rowProblem(problem: BodyProblem): RowProblem {
  return problem.kind === 'malformed'
    ? { status: MALFORMED.status, detail: `Malformed JSON at byte ${problem.byte}` }
    : { status: UNPROCESSABLE.status, detail: problem.findings };
}

/** Rows that are read together, and written together once all are scored. */
export interface Page {
  readonly rows: number;
  /** Number of the first row, from 1 on. */
  readonly firstRow: number;
  /** Reads a row, each once and in order; the request is valid until the next one is read. */
  read(row: number): QualifiedRequest | BodyProblem | RowProblem;
  /** The kept field `name` of a row already read, as JSON; undefined if it has none. */
  kept(name: string, row: number): string | undefined;
  /** The person and time of a row already read, as the input has them. */
  person(row: number): string | number | bigint | null | undefined;
  moment(row: number): string | number | null | undefined;
  /** The measurements of the row read last, as the input has them. NaN as the day means the night of the row. */
  measured(row: number): readonly GivenMeasurement[] | RowProblem;
  /** The kept columns unchanged, if the input has columns. */
  readonly keptColumns?: RecordBatch | undefined;
  /** Where a row stands in a text with a header; undefined if the input is none. */
  origin?(row: number): RowOrigin | undefined;
  /** Frees what only reading needs; call it after every row was read. */
  close(): void;
}

/** An open input: its names, read from its beginning, and its rows. */
export interface OpenInput {
  /** Undefined if no row has any. */
  readonly names: InputNames | undefined;
  /** The kept columns without rows, if the input has typed columns: for an output without rows. */
  keptColumns?(columns: RowColumns): RecordBatch | undefined;
  /** The rows, once. */
  pages(columns: RowColumns): AsyncGenerator<Page, void, undefined>;
  /** Closes an input whose rows are not needed. */
  close(): Promise<void>;
}

/** Receives how many bytes of the input were read so far. */
export interface ReadProgress {
  bytesRead: number;
}
