/** The reading of tables: columns of lists and numbers into records. */
import {
  SCALAR_BOUNDS,
  SERIES_FIELDS,
  isHeart,
  samplesMax,
  type SeriesField,
  type SeriesLimits,
  type SESSION_SCALARS,
} from '#rules/fields.js';
import type { BodyProblem } from '../contract/problems.js';
import { LAYOUT } from '../night/layout.js';
import { SCALAR_PLACES, SERIES_PLACES, clearRecords, summaryAt } from '../night/places.js';
import { WasmParser } from './wasmParser.js';
import { isBodyProblem, readersOf, type RequestReader } from './read.js';

/**
 * A column of lists. Row i's is `values[starts[i] … ends[i])`, none if both are equal; each list begins where the one
 * before ends. NaN stands for a null.
 */
export interface SeriesColumn {
  readonly field: SeriesField;
  readonly values: Float32Array | Float64Array | Int32Array;
  readonly starts: ArrayLike<number>;
  readonly ends: ArrayLike<number>;
}

/** A column of numbers, or of the letters M and F. */
export interface ScalarColumn {
  readonly field: (typeof SESSION_SCALARS)[number];
  /** A row's number; 1 for M, −1 for F; NaN if the row has none; Infinity for any other value. */
  readonly values: Float64Array;
}

/** The columns of a part of a table that the contract knows. */
export interface SessionColumns {
  readonly series: readonly SeriesColumn[];
  readonly scalars: readonly ScalarColumn[];
  /**
   * False if the rows can only be read from `bodyOf`: a column has another type, or two columns name one
   * series.
   */
  readonly arePlain: boolean;
  /** Row `row` as a request body in JSON, for the exact path. */
  bodyOf(row: number): Uint8Array;
}

/** Rows of a table, in the form in which the parser leaves requests. */
export interface ReadRows {
  /** Record i is `records[i · RECORD_LENGTH …]`; it is meaningless if the row has a problem. */
  readonly records: Float64Array;
  /** Lengths of each row's series, in the order of `SERIES_PLACES`: row i's are `lengths[i · 4 …]`. */
  readonly lengths: Uint32Array;
  /** By the index of the row. */
  readonly problems: ReadonlyMap<number, BodyProblem>;
}

const { RECORD_LENGTH } = LAYOUT;
const SERIES = SERIES_FIELDS.length;
const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;
/** The parser writes over as many bytes after samples. */
const PADDING_BYTES = 64;
const RECORD_BYTES = RECORD_LENGTH * Float64Array.BYTES_PER_ELEMENT;
/**
 * Most samples of one column that one call summarises, unless a single list may be longer: they fit the
 * caches.
 */
const SAMPLES_PER_CALL = 1 << 17;

const BOUNDS = new Map<ScalarColumn['field'], (typeof SCALAR_BOUNDS)[number]>(
  SCALAR_BOUNDS.map((bounds) => [bounds.field, bounds]),
);

/** Where the parser finds the columns of some rows: offsets in its memory, and views of it. */
interface Offsets {
  readonly records: number;
  readonly starts: number;
  readonly lengths: number;
  readonly marks: number;
  readonly samples: number;
}

/**
 * Reads the rows of tables, a column at a time. Lists go to the parser unchanged, without JSON. A row that
 * may be wrong is written as JSON and read on the exact path, which decides and words the refusal: so a table
 * is refused for exactly the same reasons as a body. For one thread.
 */
export class ColumnReader {
  private readonly parser: WasmParser;
  private readonly readRequest: RequestReader;
  private readonly samplesPerCall: number;

  constructor(private readonly limits: SeriesLimits) {
    this.parser = new WasmParser(limits);
    this.readRequest = readersOf(this.parser, limits).readRequest;
    this.samplesPerCall = Math.max(SAMPLES_PER_CALL, limits.daySamplesMax, limits.nightSamplesMax);
  }

  /** Reads the rows from `first` up to, but not including, `last`. */
  read(columns: SessionColumns, first: number, last: number): ReadRows {
    const rows = last - first;
    const problems = new Map<number, BodyProblem>();
    const records = new Float64Array(rows * RECORD_LENGTH);
    const lengths = new Uint32Array(rows * SERIES);
    const marks = columns.arePlain
      ? this.readPlain(columns, first, { records, lengths })
      : new Uint8Array(rows).fill(1);
    for (let row = marks.indexOf(1); row >= 0; row = marks.indexOf(1, row + 1)) {
      const outcome = this.readRequest(columns.bodyOf(first + row));
      if (isBodyProblem(outcome)) problems.set(row, outcome);
      else {
        records.set(outcome.records, row * RECORD_LENGTH);
        lengths.set(outcome.lengths, row * SERIES);
      }
    }
    return { records, lengths, problems };
  }

  /** Fills `records` and `lengths` from the row `first` on. @returns 1 for each row that the exact path must read */
  private readPlain(
    { series, scalars }: SessionColumns,
    first: number,
    { records, lengths }: Pick<ReadRows, 'records' | 'lengths'>,
  ): Uint8Array {
    const rows = records.length / RECORD_LENGTH;
    const { parser } = this;
    const offsets = this.offsetsFor(rows);
    const { buffer } = parser.bytes;
    const read = new Float64Array(buffer, offsets.records, records.length);
    const marks = new Uint8Array(buffer, offsets.marks, rows);
    marks.fill(0);
    clearRecords(read);
    for (const column of scalars) readScalars(column, first, read, marks);
    for (const column of series) this.summarise(column, first, { offsets, marks, lengths });
    parser.exports.markDoubtful(rows, offsets.records, offsets.marks);
    records.set(read);
    return marks.slice();
  }

  /** The parser's memory for this many rows; it does not grow until they are read. */
  private offsetsFor(rows: number): Offsets {
    const bytes =
      rows * (RECORD_BYTES + 2 * SAMPLE_BYTES + 1) + this.samplesPerCall * SAMPLE_BYTES + PADDING_BYTES;
    const records = this.parser.room(bytes);
    const starts = records + rows * RECORD_BYTES;
    const lengths = starts + rows * SAMPLE_BYTES;
    const samples = lengths + rows * SAMPLE_BYTES;
    return {
      records,
      starts,
      lengths,
      samples,
      marks: samples + this.samplesPerCall * SAMPLE_BYTES + PADDING_BYTES,
    };
  }

  /** Summarises a column, as many lists at once as one call takes, and notes their lengths. */
  private summarise(
    { field, values, starts: froms, ends }: SeriesColumn,
    first: number,
    { offsets, marks, lengths: all }: { offsets: Offsets; marks: Uint8Array; lengths: Uint32Array },
  ): void {
    const { exports, bytes } = this.parser;
    const rows = marks.length;
    const starts = new Int32Array(bytes.buffer, offsets.starts, rows);
    const lengths = new Int32Array(bytes.buffer, offsets.lengths, rows);
    const most = samplesMax(field, this.limits);
    const place = SERIES_PLACES[field];
    let end = 0;
    for (let row = 0; row < rows;) {
      const run = row;
      let begin = -1;
      for (; row < rows; row++) {
        const from = froms[first + row] ?? 0;
        const to = ends[first + row] ?? 0;
        // A damaged file may contain any offsets.
        const isSound = to === from || (from >= end && to > from && to - from <= most && to <= values.length);
        if (!isSound) marks[row] = 1;
        const length = isSound ? to - from : 0;
        if (length > 0 && begin < 0) begin = from;
        if (length > 0 && to - begin > this.samplesPerCall) break; // not at the first: one list fits
        if (length > 0) end = to;
        starts[row] = length > 0 ? from - begin : 0;
        lengths[row] = length;
        all[row * SERIES + place] = length;
      }
      if (begin < 0) continue;
      new Float32Array(bytes.buffer, offsets.samples, end - begin).set(values.subarray(begin, end));
      exports.summariseLists(
        row - run,
        offsets.samples,
        offsets.starts + run * SAMPLE_BYTES,
        offsets.lengths + run * SAMPLE_BYTES,
        isHeart(field),
        offsets.records + run * RECORD_BYTES,
        summaryAt(0, field),
        offsets.marks + run,
      );
    }
  }
}

function readScalars(column: ScalarColumn, first: number, records: Float64Array, marks: Uint8Array): void {
  // A sex is 1 or −1.
  const { minimum, maximum, isWhole } = BOUNDS.get(column.field) ?? {
    minimum: -1,
    maximum: 1,
    isWhole: true,
  };
  const isSex = column.field === 'sex';
  let place = SCALAR_PLACES[column.field];
  for (let row = 0; row < marks.length; row++, place += RECORD_LENGTH) {
    const value = column.values[first + row] ?? NaN;
    if (Number.isNaN(value)) continue;
    const isRight =
      value >= minimum &&
      value <= maximum &&
      (!isWhole || Number.isInteger(value)) &&
      !(isSex && value === 0);
    if (isRight) records[place] = value;
    else marks[row] = 1;
  }
}
