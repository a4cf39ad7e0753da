import type { Data, Field } from 'apache-arrow';
import { SERIES_FIELDS } from '#rules/fields.js';
import type { QualifiedRequest } from '../../night/quality.js';
import type { ReadRows } from '../../read/columns.js';
import { LAYOUT } from '../../night/layout.js';
import type { GivenMeasurement } from '../../night/request.js';
import type { RowProblem } from '../errors.js';
import { measuredCells, type InputNames, type MeasuredColumn, type RowColumns } from './names.js';

/** Rows that are read together, and written together once all are scored. */
export interface Page {
  readonly rows: number;
  /** The number of a row in its input, from 1 on. */
  numberOf(row: number): number;
  /** Reads a row, each once and in order; the request is valid until the next one is read. */
  read(row: number): QualifiedRequest | RowProblem;
  /** The kept field `name` of a row already read, as JSON; undefined if it has none. */
  kept(name: string, row: number): string | undefined;
  /** The person and time of a row already read, as the input has them. */
  person(row: number): string | null | undefined;
  moment(row: number): string | number | null | undefined;
  /** The measurements of the row read last, as the input has them. NaN as the day means the night of the row. */
  measured(row: number): readonly GivenMeasurement[] | RowProblem;
  /** The kept columns unchanged, if the input is an Arrow stream. */
  readonly keptColumns?: readonly ArrowColumn[];
  /** Frees what only reading needs; call it after every row was read. */
  close(): void;
}

/** A column of an Arrow stream. */
export interface ArrowColumn {
  readonly field: Field;
  readonly data: Data;
}

/** How kept values come: as they are in NDJSON, or as text that the engine casts to their types. */
export type KeptForm = 'json' | 'text';

/** An open input: its names, read from its beginning, and its rows. */
export interface OpenInput {
  /** Undefined if no row has any. */
  readonly names: InputNames | undefined;
  /** The engine's types of the kept columns, if it reads the input. */
  keptTypes?(columns: RowColumns): readonly string[];
  /** The rows, once. */
  pages(columns: RowColumns, form?: KeptForm): AsyncGenerator<Page, void, undefined>;
  /** Closes an input whose rows are not needed. */
  close(): Promise<void>;
}

/** Columns beside the sessions of a page of a table, in the form that its reader has. */
export interface BesideColumns extends Pick<Page, 'kept' | 'person' | 'moment' | 'numberOf' | 'keptColumns'> {
  /** A measured cell, as `measuredCells` takes it. */
  cell(name: string, row: number): unknown;
}

const { RECORD_LENGTH } = LAYOUT;
const SERIES = SERIES_FIELDS.length;
const NOTHING = new Float64Array(0);
const NONE_GIVEN: readonly GivenMeasurement[] = [];

/** A page of a table, whose rows are read together, column by column; those with a problem among `problems` are refused. */
export function tablePage(
  rows: number,
  read: ReadRows,
  beside: BesideColumns,
  problems: ReadonlyMap<number, RowProblem>,
  measurements: readonly MeasuredColumn[] = [],
): Page {
  const { lengths: allLengths } = read;
  let { records: all } = read;
  const records = new Float64Array(RECORD_LENGTH);
  const lengths = new Uint32Array(SERIES);
  const request: QualifiedRequest = { records, targets: NOTHING, lengths, pastCount: 0 };
  return {
    rows,
    read(row) {
      const problem = problems.get(row);
      if (problem !== undefined) return problem;
      const first = row * RECORD_LENGTH;
      // Creating a view for each row would cost more.
      for (let place = 0; place < RECORD_LENGTH; place++) records[place] = all[first + place] ?? NaN;
      for (let place = 0; place < SERIES; place++) lengths[place] = allLengths[row * SERIES + place] ?? 0;
      return request;
    },
    measured: (row) =>
      measurements.length === 0 ? NONE_GIVEN : measuredCells(measurements, (name) => beside.cell(name, row)),
    close() {
      all = NOTHING;
    },
    ...beside, // first, V8 would give each page a hidden class of its own, and its users be compiled for each again
  };
}
