import type { RecordBatch } from 'apache-arrow';
import { MALFORMED, UNPROCESSABLE, type BodyProblem, type Finding } from '../contract/problems.js';
import type { QualifiedRequest } from '../pipeline/quality.js';
import type { GivenMeasurement } from '../records/request.js';
import type { InputNames } from './inputNames.js';
import type { RowColumns } from './rowColumns.js';

/** Why a row has no scores: a status of the service, and the `detail` that it would have answered with. */
export interface RowProblem {
  readonly status: number;
  readonly detail: string | readonly Finding[];
}

/** What the service would have answered to a body that it does not take. */
export function rowProblem(problem: BodyProblem): RowProblem {
  return problem.kind === 'malformed'
    ? { status: MALFORMED.status, detail: `Malformed JSON at byte ${problem.byte}` }
    : { status: UNPROCESSABLE.status, detail: problem.findings };
}

/** Rows that are read together, and written together once all of them are scored. */
export interface Page {
  readonly rows: number;
  /** Of the first row, from 1 on. */
  readonly firstRow: number;
  /** Reads a row, each once and in order; the request holds until the next one is read. */
  read(row: number): QualifiedRequest | BodyProblem | RowProblem;
  /** The kept field `name` of a row that was read, as JSON; undefined where it has none. */
  kept(name: string, row: number): string | undefined;
  /** Who the row is of and when it was, as the input says it; for a row that was read. */
  person(row: number): string | number | bigint | null | undefined;
  moment(row: number): string | number | null | undefined;
  /** What was measured, as the input says it; for the row that was read last. A day of NaN is that of the row's night. */
  measured(row: number): readonly GivenMeasurement[] | RowProblem;
  /** The kept columns as they came, where the input has columns. */
  readonly keptColumns?: RecordBatch | undefined;
  /** Lets go of what only reading needs; when every row was read. */
  close(): void;
}

/** An input that is open: what its beginning says of it, and its rows. */
export interface OpenInput {
  /** Undefined where no row says any. */
  readonly names: InputNames | undefined;
  /** The kept columns without a row, where the input has columns of types: for an output without any. */
  keptColumns?(columns: RowColumns): RecordBatch | undefined;
  /** The rows, once. */
  pages(columns: RowColumns): AsyncGenerator<Page, void, undefined>;
  /** Lets go of an input whose rows are not asked for. */
  close(): Promise<void>;
}

/** Bytes of the input that were read so far are told here. */
export interface ReadProgress {
  bytesRead: number;
}
