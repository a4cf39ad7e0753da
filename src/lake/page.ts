import type { DuckDBDataChunk, DuckDBType } from '@duckdb/node-api';
import type { RecordBatch } from 'apache-arrow';
import type { BodyProblem } from '../contract/problems.js';
import type { QualifiedRequest } from '../pipeline/quality.js';
import type { GivenMeasurement } from '../records/request.js';
import type { InputNames } from './inputNames.js';
import type { RowColumns } from './rowColumns.js';
import type { RowProblem } from './rowProblem.js';

/** The kept columns with their types, as the library that read them holds them. */
export type KeptColumns =
  | { readonly of: 'arrow'; readonly batch: RecordBatch }
  | {
      readonly of: 'engine';
      readonly types: readonly DuckDBType[];
      readonly chunk: DuckDBDataChunk | undefined;
    };

/** Rows that are read together, and written together once all are scored. */
export interface Page {
  readonly rows: number;
  /** The number of a row in its input, from 1 on. */
  numberOf(row: number): number;
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
  readonly keptColumns?: KeptColumns | undefined;
  /** The header's names by the session field that they are read as, if the input has a header. */
  readonly header?: ReadonlyMap<string, string> | undefined;
  /** Frees what only reading needs; call it after every row was read. */
  close(): void;
}

/** An open input: its names, read from its beginning, and its rows. */
export interface OpenInput {
  /** Undefined if no row has any. */
  readonly names: InputNames | undefined;
  /** The kept columns without rows, if the input has typed columns: for an output without rows. */
  keptColumns?(columns: RowColumns): KeptColumns | undefined;
  /** The rows, once. */
  pages(columns: RowColumns): AsyncGenerator<Page, void, undefined>;
  /** Closes an input whose rows are not needed. */
  close(): Promise<void>;
}

/** Receives how many bytes of the input were read so far. */
export interface ReadProgress {
  bytesRead: number;
}
