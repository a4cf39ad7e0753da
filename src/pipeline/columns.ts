import {
  SCALAR_BOUNDS,
  samplesMax,
  type SeriesField,
  type SeriesLimits,
  type SESSION_SCALARS,
} from '../contract/request.js';
import type { BodyProblem } from '../contract/problems.js';
import { SCALAR_PLACES, type ReadRequest, type WasmParser } from './wasmParser.js';
import type { RequestReader } from './read.js';

/** A column of lists. The list of a row is `values[from(row) … to(row))`. */
export interface SeriesColumn {
  readonly field: SeriesField;
  readonly values: ArrayLike<number> & {
    subarray(from: number, to: number): ArrayLike<number>;
  };
  from(row: number): number;
  /** `from` where the row has no list. */
  to(row: number): number;
}

/** A column of numbers, or of the letters M and F. */
export interface ScalarColumn {
  readonly field: (typeof SESSION_SCALARS)[number];
  /** The number; 1 for M, −1 for F; NaN where the row has none; Infinity where it has what is neither. */
  at(row: number): number;
}

/** The columns of a piece of a table that the contract knows. */
export interface SessionColumns {
  readonly series: readonly SeriesColumn[];
  readonly scalars: readonly ScalarColumn[];
  /** False where only `bodyOf` says what the rows hold: a column of another type, two names of one series. */
  readonly arePlain: boolean;
  /** Row `row` as the body of a request, in JSON: for the exact path. */
  bodyOf(row: number): string;
}

const BOUNDS = new Map<ScalarColumn['field'], (typeof SCALAR_BOUNDS)[number]>(
  SCALAR_BOUNDS.map((bounds) => [bounds.field, bounds]),
);

/**
 * Reads row `row` of a table: its lists go to the parser's samples as they are, without JSON. Whatever is not plainly
 * right is written as JSON and read on the exact path, which decides and words the refusal: so a table is refused what
 * a body is refused. The request holds until the next one is read.
 */
export function readRow(
  columns: SessionColumns,
  row: number,
  { parser, limits, readRequest }: ColumnReading,
): ReadRequest | BodyProblem {
  const isRead = columns.arePlain && readPlain(columns, row, parser, limits);
  return isRead ? parser.written(0, 0) : readRequest(Buffer.from(columns.bodyOf(row)));
}

export interface ColumnReading {
  readonly parser: WasmParser;
  readonly limits: SeriesLimits;
  /** Of the same parser. */
  readonly readRequest: RequestReader;
}

function readPlain(
  { series, scalars }: SessionColumns,
  row: number,
  parser: WasmParser,
  limits: SeriesLimits,
): boolean {
  const { records } = parser.blank(0);
  for (const column of scalars) {
    const value = column.at(row);
    if (Number.isNaN(value)) continue;
    if (!isInBounds(column, value)) return false;
    records[SCALAR_PLACES[column.field]] = value;
  }
  parser.exports.forgetBreathing();
  for (const column of series) {
    const from = column.from(row);
    const length = column.to(row) - from;
    if (length === 0) continue;
    if (length > samplesMax(column.field, limits)) return false;
    parser.samples.set(column.values.subarray(from, from + length));
    if (parser.exports.areFinite(length) === 0) return false;
    parser.summariseSamples(length, column.field, 0);
  }
  return !parser.isDoubtful();
}

function isInBounds({ field }: ScalarColumn, value: number): boolean {
  const bounds = BOUNDS.get(field);
  if (bounds === undefined) return value === 1 || value === -1;
  const { minimum, maximum, isWhole } = bounds;
  return value >= minimum && value <= maximum && (!isWhole || Number.isInteger(value));
}
